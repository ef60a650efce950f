"""Which kinds of turn a labelled turn belongs to. Pure.

    all         every labelled turn
    first       the first of its conversation
    follow_up   a later one whose gold rewrite has other words than the question
    stays       a later one that shares a gold document with the turn right before
    returns     one that shares none with the turn before, but one with an earlier turn
    shifts      one that shares none with any turn before

Every later labelled turn is one of the last three.
"""

from __future__ import annotations

import re
from typing import Literal

from kb.evaluation.datasets import Conversation, DataSet, LabelledTurn

Slice = Literal["all", "first", "follow_up", "stays", "returns", "shifts"]
SLICES: tuple[Slice, ...] = ("all", "first", "follow_up", "stays", "shifts", "returns")

_BETWEEN_WORDS = re.compile(r"\W+")


def slices_of(data: DataSet, conversation: Conversation, turn: LabelledTurn) -> frozenset[Slice]:
    """Returns the slices of a turn; none for a turn that nobody labelled."""
    if not turn.relevant:
        return frozenset()
    if turn.number == 1:
        return frozenset({"all", "first"})
    found: set[Slice] = {"all", _movement(data, conversation, turn)}
    if same_words(turn.question) != same_words(turn.gold_rewrite):
        found.add("follow_up")
    return frozenset(found)


def same_words(text: str) -> str:
    """Returns a text without what a rewrite may change and still say the same: case, punctuation, spaces."""
    return _BETWEEN_WORDS.sub(" ", text.casefold()).strip()


def _movement(data: DataSet, conversation: Conversation, turn: LabelledTurn) -> Slice:
    documents = _documents(data, turn)
    *earlier, before = conversation.turns[: turn.number - 1]
    if documents & _documents(data, before):
        return "stays"
    return (
        "returns" if any(documents & _documents(data, turn_before) for turn_before in earlier) else "shifts"
    )


def _documents(data: DataSet, turn: LabelledTurn) -> set[str]:
    return {data.page_of[passage] for passage in turn.relevant}
