"""Terms that a passage must hold as they are: "Day 6" is not Day 7, however alike the two passages are otherwise.

An embedder hardly tells one number from another, and the words of a thread outvote the one that counts. So where a rule
knows which step of a series is meant, the passages that hold it go first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from kb.models import Chunk, Hit

_MARKUP = re.compile(r"[*_`]+")
_SPACE = re.compile(r"[\s\u00a0]+")

REMEMBERED = 256
"""Patterns that are kept. A question's terms are held against each of its passages; people ask for ever new ones."""


def put_holding_first(hits: Sequence[Hit], terms: Sequence[str]) -> list[Hit]:
    """The hits that hold every term before the others, each group in its order; as they are where none holds all."""
    holding = [hit for hit in hits if holds(hit.chunk, terms)]
    return [*holding, *(hit for hit in hits if not holds(hit.chunk, terms))] if holding else list(hits)


def holds(chunk: Chunk, terms: Sequence[str]) -> bool:
    """Whether title, headings and text hold all terms, in any case but
    that of a single letter ("Phase A", "a phase a ...").

    A range counts ("Days 5 to 7" holds "Day 6").
    """
    text = _SPACE.sub(" ", _MARKUP.sub("", chunk.embedded_text))
    return all(_plain(term).search(text) or _in_range(term, text) for term in terms)


@lru_cache(maxsize=REMEMBERED)
def _plain(term: str) -> re.Pattern[str]:
    head, space, tail = term.rpartition(" ")
    last = f"(?-i:{re.escape(tail.upper())})" if len(tail) == 1 and tail.isalpha() else re.escape(tail)
    return re.compile(rf"(?<!\w){re.escape(head + space)}{last}(?!\w|[.,]\d)", re.IGNORECASE)


def _in_range(term: str, text: str) -> bool:
    unit, _, number = term.rpartition(" ")
    if not unit or not number.isdecimal():
        return False
    ends = _range(unit).finditer(text)
    return any(int(match["first"]) <= int(number) <= int(match["last"]) for match in ends)


@lru_cache(maxsize=REMEMBERED)
def _range(unit: str) -> re.Pattern[str]:
    """ "Days 5-7", "Day 5 to 7"; the plural may have another ending ("Woche", "Wochen")."""
    return re.compile(
        (
            rf"(?<!\w){re.escape(unit)}\w{{0,2}} (?P<first>\d{{1,4}}) "
            rf"?(?:-|–|—|to|until|t/m|tot|bis|à|a) ?(?P<last>\d{{1,4}})(?!\w)"
        ),
        re.IGNORECASE,
    )
