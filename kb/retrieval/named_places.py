"""Leaves out the page of another place, where a question names the place of one of two pages with the same title. Pure.

`offices/ghent/parking.md` and `offices/zwolle/parking.md` differ in one part of their paths, and each has a name there.
"What is the gate code in Zwolle?" is not answered by Ghent's page, nor do the two disagree. A question that names both
places, or none, is about both; and where one of the pages has no name of its own ("leave.md" beside "leave-old.md") it
may be about either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations

from kb.models import Hit, Page
from kb.pages.versions import VERSION
from kb.text.wording import content_stems, plain

_ENDING = re.compile(r"(?:\.[a-z]{1,6}\d?)+$", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.-]\d+)*(?![\w.]*\w)")
_ACRONYM = re.compile(r"\b[A-Z]{2,4}\b")
_SHORT = re.compile(r"\b[^\W\d_]{2,4}\b")


def keep_named_places(hits: Sequence[Hit], query: str) -> list[Hit]:
    """Returns the hits in their order, without those of places that the question does not mean."""
    alike: dict[str, dict[str, Page]] = {}
    for page in (hit.chunk.page for hit in hits):
        alike.setdefault(" ".join(page.title.casefold().split()), {})[page.id] = page
    asked = _words(query) | {found.casefold() for found in _ACRONYM.findall(query)}
    left_out = {
        other.id
        for pages in alike.values()
        for page, other in permutations(pages.values(), 2)
        if _is_named_alone(page, other, asked)
    }
    return [hit for hit in hits if hit.chunk.page.id not in left_out]


def _is_named_alone(page: Page, other: Page, asked: frozenset[str]) -> bool:
    """Tells whether a question names the place of `page`, and not that of `other`."""
    mine, theirs = _parts(page), _parts(other)
    if page.source != other.source or len(mine) != len(theirs):
        return False
    differing = [pair for pair in zip(mine, theirs, strict=True) if pair[0] != pair[1]]
    if len(differing) != 1:
        return False
    own, its = map(_name_words, differing[0])
    own, its = own - its, its - own
    return bool(own & asked and its) and not its & asked


def _parts(page: Page) -> list[str]:
    return _ENDING.sub("", page.path.casefold()).split("/")


@lru_cache(maxsize=4096)
def _name_words(name: str) -> frozenset[str]:
    spaced = re.sub(r"[_\-]+", " ", name)
    return _words(spaced) | frozenset(_SHORT.findall(spaced))


def _words(text: str) -> frozenset[str]:
    """Returns what can be the name of a place: words that carry meaning, numbers, and versions as "v2"."""
    versions = (next(filter(None, found.groups())) for found in VERSION.finditer(text))
    return frozenset(
        (*content_stems(plain(text)), *_NUMBER.findall(text), *(f"v{version}" for version in versions))
    )
