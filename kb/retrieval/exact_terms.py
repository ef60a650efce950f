"""Puts passages first that hold required terms exactly: "Day 6" is not Day 7, however similar the passages are.

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
"""Compiled patterns that are cached: a question's terms are searched in each of its passages."""


def put_holding_first(hits: Sequence[Hit], terms: Sequence[str]) -> list[Hit]:
    """Puts hits that hold every term before the others and keeps the order otherwise."""
    holding = [hit for hit in hits if holds(hit.chunk, terms)]
    return [*holding, *(hit for hit in hits if not holds(hit.chunk, terms))] if holding else list(hits)


def holds(chunk: Chunk, terms: Sequence[str]) -> bool:
    """Whether title, headings and text hold all terms; only a single letter is case-sensitive ("Phase A").

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
    """Matches "Days 5-7", "Day 5 to 7"; the plural may have another ending ("Woche", "Wochen")."""
    return re.compile(
        (
            rf"(?<!\w){re.escape(unit)}\w{{0,2}} (?P<first>\d{{1,4}}) "
            rf"?(?:-|–|—|to|until|t/m|tot|bis|à|a) ?(?P<last>\d{{1,4}})(?!\w)"
        ),
        re.IGNORECASE,
    )
