"""Understands a message by what people wrote above it.

    asks nothing by itself ("do you know?", "^^", nothing)  -> the question above it is what is asked
    leans on what is above ("and for part-timers?")         -> the people's messages are turns of the thread, to be read
    asks by itself                                          -> as it stands

People's messages are turns with `said_by` and without an answer. They are data like any page: what they say to do is
something that somebody said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kb.models import Turn
from kb.text.lexicon import lexicons, starts_with_phrase, words_of
from kb.text.phrases import asks_something, named_in, points_above, talk_languages

_COUNTED = re.compile(r"(?<!\S)\+\d+\b")
"""The "+1" of somebody who agrees."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Understood:
    """`pointed`: the text is somebody else's question that the message pointed at."""

    text: str
    turns: Sequence[Turn]
    pointed: bool = False


def understood(text: str, turns: Sequence[Turn]) -> Understood:
    """Returns the question of a message that comes after `turns` (oldest first). Pure.

    Only what people wrote since our last answer can be pointed at: before it stands what was answered.
    """
    since = _since_our_answer(turns)
    names = {turn.said_by for turn in since if turn.said_by}
    if not since or not points_above(text, names=names):
        return Understood(text=text, turns=turns)
    named = named_in(text, names)
    meant = _meant([turn for turn in since if turn.said_by in named]) if named else None
    meant = meant or _meant(since)
    index = next(index for index, turn in enumerate(turns) if turn is meant)
    return Understood(text=meant.question, turns=turns[:index], pointed=True)


def is_telling(text: str) -> bool:
    """Whether a person's message says something about a subject; thanks, remarks and pointing do not."""
    words = words_of(_COUNTED.sub(" ", text))
    if not words or talk_languages(text) or points_above(text):
        return False
    return not any(
        starts_with_phrase(words, lexicon.small_talk.acknowledgements) == len(words) for lexicon in lexicons()
    )


def leading(turns: Sequence[Turn]) -> list[Turn]:
    """Returns the turns from which the rules take the subject: ours, and people's questions.

    What people merely state leads only where nobody asked anything. Without people's messages: the same turns.
    """
    asked = [turn for turn in turns if turn.said_by is None or asks_something(turn.question)]
    return asked or list(turns)


def _since_our_answer(turns: Sequence[Turn]) -> Sequence[Turn]:
    ours = [index for index, turn in enumerate(turns) if turn.said_by is None and turn.outcome != "chat"]
    return [turn for turn in turns[ours[-1] + 1 if ours else 0 :] if turn.said_by is not None]


def _meant(turns: Sequence[Turn]) -> Turn:
    """Returns the last turn that asks something, else the last."""
    asking = [turn for turn in turns if asks_something(turn.question)]
    return (asking or turns)[-1]
