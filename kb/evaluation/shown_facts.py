"""Which facts a reader of an answer sees, and which were found for it, whatever their case and emphasis."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.answer import Answer
from kb.models import Hit

_EMPHASIS = re.compile(r"[*`~]|(?<!\w)_+|_+(?!\w)|\\(?=[^\w\s])")
"""Marks of Markdown, but for underscores inside a name. A star that stands for itself goes from both sides alike."""


def facts_shown(answer: Answer, facts: Sequence[Sequence[str]]) -> tuple[bool, ...]:
    """Tells of each fact whether one of its wordings is in the answer or its quotes.

    What the answer leaves open is no fact that it shows.
    """
    quoted = [block for quote in answer.quotes for block in quote.blocks]
    text = plain("\n\n".join(filter(None, (answer.text, *quoted))))
    return tuple(any(plain(wording) in text for wording in wordings) for wordings in facts)


def facts_found(hits: Sequence[Hit], facts: Sequence[Sequence[str]]) -> tuple[int | None, ...]:
    """Returns of each fact the rank, from 1, of the best passage that holds one of its wordings; None without one.

    A passage is taken as a model reads it.
    """
    passages = [plain(hit.chunk.embedded_text) for hit in hits]

    def rank_of(wordings: Sequence[str]) -> int | None:
        wanted = [plain(wording) for wording in wordings]
        holding = (
            rank for rank, text in enumerate(passages, 1) if any(wording in text for wording in wanted)
        )
        return next(holding, None)

    return tuple(rank_of(wordings) for wordings in facts)


def plain(text: str) -> str:
    """Returns the text without emphasis, in small letters, with one blank between words and straight apostrophes."""
    return " ".join(_EMPHASIS.sub("", text).replace("\u2019", "'").split()).casefold()
