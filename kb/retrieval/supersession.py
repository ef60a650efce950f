"""Puts the newer page in the place of the one it replaced, before anything is quoted.

A page is replaced when it names its successor, when another page of its source says that it replaces it, or when both
say which version they are and one is later. The successor is looked up in the index where the search did not bring it,
as far as the asker may read it: a page that they may not see replaces nothing for them. A question that names the old
page by what only that one is called ("the rate in 2024", "v1") gets the old page, with its warning.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from kb.index.port import PagesWanted
from kb.models import Audience, Hit, Page, Successor
from kb.pages.versions import as_name, is_later, names_of, series_of

LOOKED_AT = 20
"""Hits whose successors are looked up; later ones never reach an answer."""
PASSAGES = 3
"""Passages of a successor that are put in the place of the replaced page's."""
GENERATIONS = 5
"""Successors of successors that are followed: more is a mistake in the pages."""

_NUMBERS = re.compile(r"\d[\d.]*\d|\d")

HitsOf = Callable[[Sequence[str]], Awaitable[Sequence[Hit]]]


class PageFinder(Protocol):
    """`kb.index.port.VectorIndex`, as this uses it."""

    async def pages(self, wanted: PagesWanted, *, audience: Audience) -> Sequence[Page]: ...


async def replace_superseded(
    hits: Sequence[Hit], query: str, *, finder: PageFinder, audience: Audience, hits_of: HitsOf
) -> list[Hit]:
    """Returns the hits with passages of replaced pages gone and their successors' in their place, in the same order.

    `hits_of` searches the given pages for the question, best first; it is asked only for those that no hit is of.

    Raises:
        IndexUnavailableError: the index does not answer.
    """
    considered = [hit.chunk.page for hit in hits[:LOOKED_AT]]
    successors = await find_successors(considered, finder=finder, audience=audience)
    if not successors:
        return list(hits)
    gone = {old for old, new in successors.items() if not _asks_for_old(query, old, new, considered)}
    found_pages = {hit.chunk.page.id for hit in hits}
    missing = dict.fromkeys(successors[old].id for old in gone if successors[old].id not in found_pages)
    brought = await hits_of(list(missing)) if missing else ()
    return _replaced([*hits, *brought], len(hits), successors, gone)


async def find_successors(
    pages: Iterable[Page], *, finder: PageFinder, audience: Audience
) -> dict[str, Successor]:
    """Maps a page's id to the page at the end of its line of successors. Circles replace nothing."""
    pages_by_id = {page.id: page for page in pages}
    asked: set[str] = set()
    for _ in range(GENERATIONS):
        fresh = [page for page in pages_by_id.values() if page.id not in asked]
        if not fresh:
            break
        asked.update(page.id for page in fresh)
        for page in await finder.pages(_wanted(fresh), audience=audience):
            pages_by_id.setdefault(page.id, page)
    direct = {
        page.id: found
        for page in pages_by_id.values()
        if (found := _successor_of(page, pages_by_id.values()))
    }
    return {page: last for page in direct if (last := _last(page, direct)) is not None}


def _wanted(pages: Sequence[Page]) -> PagesWanted:
    return PagesWanted(
        named=tuple({as_name(page.superseded_by) for page in pages if page.superseded_by}),
        replacing=tuple({name for page in pages for name in names_of(page)}),
        series=tuple({series for page in pages if (series := series_of(page))}),
    )


def _successor_of(page: Page, others: Collection[Page]) -> Successor | None:
    declared = [other for other in others if page.superseded_by and _is_called(other, page.superseded_by)]
    claiming = [other for other in others if other.source == page.source and _replaces(other, page)]
    for found in (declared, claiming):
        candidates = sorted(
            (other for other in found if other.id != page.id),
            key=lambda other: (other.source != page.source, other.language != page.language, other.id),
        )
        if candidates:
            return Successor(id=candidates[0].id, title=candidates[0].title, url=candidates[0].url)
    later = [other for other in others if is_later(other, page)]
    if not later:
        return None
    latest = max(later, key=lambda other: [int(part) for part in (other.version or "0").split(".")])
    return Successor(id=latest.id, title=latest.title, url=latest.url, version=latest.version)


def _is_called(page: Page, written: str) -> bool:
    return as_name(written) in names_of(page)


def _replaces(page: Page, other: Page) -> bool:
    replaced = {as_name(name) for name in page.replaces}
    return bool(replaced) and not replaced.isdisjoint(names_of(other))


def _last(page: str, direct: Mapping[str, Successor]) -> Successor | None:
    seen = {page}
    found = direct[page]
    while found.id in direct:
        if found.id in seen:
            return None
        seen.add(found.id)
        found = direct[found.id]
    return None if found.id in seen else found


def _asks_for_old(query: str, old: str, new: Successor, pages: Iterable[Page]) -> bool:
    """Whether the question names the old page by a number (a year, a version) that the new one does not have."""
    page = next((page for page in pages if page.id == old), None)
    if page is None:
        return False
    of_old = {*_NUMBERS.findall(page.title), page.version}
    of_new = {*_NUMBERS.findall(new.title), new.version}
    return not set(_NUMBERS.findall(query)).isdisjoint(of_old - of_new)


def _replaced(
    hits: Sequence[Hit], found: int, successors: Mapping[str, Successor], gone: Collection[str]
) -> list[Hit]:
    """Puts successors in the place of pages that are gone. `hits` after the first `found` are of successors."""
    of_page: dict[str, list[Hit]] = {}
    for hit in hits:
        of_page.setdefault(hit.chunk.page.id, []).append(hit)
    placed: set[str] = set()
    result: list[Hit] = []
    for hit in hits[:found]:
        page = hit.chunk.page.id
        if hit.chunk.id in placed:
            continue
        if page not in gone:
            placed.add(hit.chunk.id)
            result.append(_knowing(hit, successors.get(page)))
            continue
        for passage in of_page.get(successors[page].id, ())[:PASSAGES]:
            if passage.chunk.id not in placed:  # the newer passage stands where the older one stood
                placed.add(passage.chunk.id)
                result.append(replace(passage, scores=replace(passage.scores, final=hit.scores.final)))
    return result


def _knowing(hit: Hit, successor: Successor | None) -> Hit:
    if successor is None:
        return hit
    page = replace(hit.chunk.page, successor=successor)
    return replace(hit, chunk=replace(hit.chunk, page=page))
