"""Finds what a long message asks: a pasted letter and then "which form do I need for that?".

An embedder reads a few hundred words, so a question behind them would not be searched for. The message itself stays one
of the queries.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice

from kb.models import Rewrite
from kb.text.lexicon import Lexicon, words_of
from kb.text.phrases import asks_something, is_empty_reference

LONG = 600
"""Characters. Shorter messages are read whole by every bundled embedder."""
MOST = 300
"""Characters of what is taken for the question."""

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


def asked_at_the_end(message: str, lexicon: Lexicon) -> str | None:
    """Returns the last of a long message's sentences that ask, at most two; None for a short message or without any."""
    return _asked(message, lexicon) if len(message) > LONG else None


def read_of_earlier(message: str, lexicon: Lexicon) -> str:
    """Returns what is read of an earlier message: a short one whole; of a long one what its end asks, else its end."""
    if len(message) <= LONG:
        return message
    end = message[-LONG:]
    end = end.partition(" ")[2] or end  # the first word is cut
    return _asked(end, lexicon) or end


def _asked(text: str, lexicon: Lexicon) -> str | None:
    sentences = [sentence.strip() for sentence in _SENTENCE.findall(text)]
    questions = list(islice((sentence for sentence in reversed(sentences) if _asks(sentence, lexicon)), 2))[
        ::-1
    ]
    while questions and len(" ".join(questions)) > MOST:
        questions = questions[1:]
    return " ".join(questions) or None


def _asks(sentence: str, lexicon: Lexicon) -> bool:
    asks = sentence.endswith("?") or (len(words_of(sentence)) > 3 and asks_something(sentence))
    return asks and bool(lexicon.content_of(sentence)) and not is_empty_reference(sentence, lexicon.language)


def of_long_message(rewrite: Rewrite) -> Rewrite:
    """Marks the rewrite of what a long message asks: it is searched for in the place of the message."""
    return replace(
        rewrite,
        needs_rewrite=True,
        method="heuristic",
        clarify=False,
        reasoning="; ".join(filter(None, ("asked at the end of a long message", rewrite.reasoning))),
        confidence=rewrite.confidence if rewrite.needs_rewrite else max(rewrite.confidence, 0.9),
    )
