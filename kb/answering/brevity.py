"""A long answer made shorter where its parts are known: whole sentences, items and rows go, from the end.

The renderer could only cut text. What was left out is offered by the note "shortened".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kb.answer import is_block
from kb.answering.draft import DraftSentence


def brief(sentences: Sequence[DraftSentence], *, limit: int) -> tuple[tuple[DraftSentence, ...], bool]:
    """As many sentences as fit `limit` characters, and whether any was left out. Never none of them."""
    kept: list[DraftSentence] = []
    left = limit
    for sentence in sentences:
        left -= len(sentence.text) + 1
        if left < 0:
            break
        kept.append(sentence)
    if len(kept) == len(sentences):
        return tuple(sentences), False
    while kept and kept[-1].text.rstrip("*_ ").endswith(":"):
        kept.pop()  # it announces what is not there
    return tuple(kept) or (_cut(sentences[0], limit),), True


def _cut(sentence: DraftSentence, limit: int) -> DraftSentence:
    """One piece that is too long by itself: a fence or a table loses lines, prose its last words."""
    text = sentence.text
    if not is_block(text):
        return replace(sentence, text=f"{text[:limit].rsplit(maxsplit=1)[0]} …")
    lines: list[str] = []
    for line in text.split("\n"):
        if sum(len(one) + 1 for one in lines) + len(line) > limit and lines:
            break
        lines.append(line[:limit])
    fenced = text.lstrip().startswith("```")
    return replace(sentence, text="\n".join([*lines, "```"] if fenced else lines))
