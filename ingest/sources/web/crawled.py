"""What a visit brought, and which of its pages are one page under many addresses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field

from ingest.sources.web.memory import VisitMemory
from ingest.sources.web.pages import says_about_the_same
from ingest.sources.web.scope import spelling

_MOST_TO_ONE = 3
"""If more pages than these lead to one, they have not moved there: they are gone, or hidden for now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A page that was read. `text`: a mark of its words, without where its links lead."""

    address: str
    path: str
    revision: str
    size: int
    text: str
    canonical: str | None
    """The path of the address that it calls its proper one, where that is another of this source."""


@dataclass(kw_only=True, slots=True)
class Crawled:
    """`failures`: path -> why the page could not be read; `closed`: those of them that are not for everybody any more.
    `left_out`: paths that are not listed on purpose: hidden, another spelling of a listed page, moved to one.
    `incomplete`: why pages may be missing from the listing.
    """

    pages: dict[str, Found] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)
    incomplete: str | None = None


async def settle(result: Crawled, moved: MutableMapping[str, str], memory: VisitMemory) -> None:
    """Drops the pages that are others in another spelling, and tells which missing ones are elsewhere in the listing.

    `moved`: path -> the path that it redirects to.
    """
    for path, proper in _merged(result.pages, await _agreeing(result.pages, memory)).items():
        del result.pages[path]
        result.left_out.add(path)
        moved.update({start: proper for start, end in moved.items() if end == path})
    came: dict[str, set[str]] = defaultdict(set)
    for path, target in moved.items():
        if target in result.pages and path not in result.pages:
            came[target].add(path)
    for target, paths in came.items():
        others = {path for path in paths if spelling(path) != spelling(target)}
        result.left_out |= paths if len(others) <= _MOST_TO_ONE else paths - others
    for path in set(result.pages) & set(result.failures):
        del result.failures[path]


async def _agreeing(pages: Mapping[str, Found], memory: VisitMemory) -> list[tuple[str, str]]:
    """Lists (path, proper path) of the pages whose proper address is another page that says about the same."""
    agreeing = []
    for path, found in pages.items():
        proper = pages.get(found.canonical) if found.canonical else None
        if proper is not None and proper.canonical is None:
            visit, other = await memory.page(path), await memory.page(proper.path)
            if visit and other and says_about_the_same(visit.document, other.document):
                agreeing.append((path, proper.path))
    return agreeing


def _merged(pages: Mapping[str, Found], agreeing: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Returns path -> the path of the page that it is: for those that are another page in another spelling.

    `agreeing`: (path, proper path) of pages that name another as their proper address and say about the same.
    """
    proper = dict(agreeing)
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path, found in pages.items():
        if path not in proper:
            alike[spelling(path), found.text].append(path)
    same = {path: min(paths, key=_plainness) for paths in alike.values() for path in paths}
    gone = {path: kept for path, kept in same.items() if path != kept}
    return gone | {path: gone.get(named, named) for path, named in proper.items()}


def _plainness(path: str) -> tuple[bool, int, bool, str]:
    return "?" in path, len(path), path != path.casefold(), path
