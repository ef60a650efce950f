"""A drafted sentence with what it cites, and a sentence that the check has removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Reason = Literal[
    "number",
    "date",
    "weekday",
    "name",
    "quote",
    "link",
    "uncited",
    "lead-in",
    "contradicted",
    "not there",
]
"""The last two are the judge's; a lead-in goes when everything that it leads in has gone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftSentence:
    """A sentence, list item, table row or fence, and the passages that it is said to rest on.

    `hits` are 0-based indices into the evidence, each once. `quotes` has one entry for each of them, in the same
    order: the words of the passage that carry the sentence, to the letter, or "" where the whole passage is meant.
    """

    text: str
    hits: tuple[int, ...] = ()
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Removed:
    text: str
    reason: Reason
