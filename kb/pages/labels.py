"""Labels a page beside others: its title, and in brackets what tells it from pages of the same title. Pure.

"Parking (Ghent)" stands beside "Parking (Zwolle)", and alone it is "Parking".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from kb.addresses import split_address
from kb.answer import Citation
from kb.models import Page
from kb.pages.places import fitted, parts_of, raw_parts_of

_Parts = Callable[[Page], Sequence[str]]


def labels(citations: Iterable[Citation]) -> Mapping[int, str]:
    """Maps a citation's number to its page's title, with the place where another cited page has the same title."""
    cited = {citation.n: citation.chunk.page for citation in citations}
    called = page_labels(cited.values())
    return {n: called[page.id] for n, page in cited.items()}


def page_labels(pages: Iterable[Page]) -> Mapping[str, str]:
    """Maps a page's id to a label that tells the page from the others."""
    alike: dict[str, dict[str, Page]] = {}
    for page in pages:
        alike.setdefault(" ".join(page.title.split()).casefold(), {})[page.id] = page
    return {
        page_id: f"{group[page_id].title} ({label})" if label else group[page_id].title
        for group in alike.values()
        for page_id, label in _told_apart(list(group.values())).items()
    }


def _told_apart(pages: Sequence[Page]) -> Mapping[str, str]:
    """Maps a page's id to what only it has: by the first way that tells all pages apart, else by the best."""
    best = {page.id: "" for page in pages}
    if len(pages) == 1:
        return best
    for parts in _WAYS:
        labels = _own(pages, parts)
        if len(set(labels.values())) > len(set(best.values())):
            best = labels
        if len(set(best.values())) == len(pages):
            break
    return best


def _own(pages: Sequence[Page], parts_of_page: _Parts) -> dict[str, str]:
    parts = {page.id: tuple(parts_of_page(page)) for page in pages}
    shared = set.intersection(*(set(own) for own in parts.values()))
    return {page_id: fitted([part for part in own if part not in shared]) for page_id, own in parts.items()}


_WAYS: tuple[_Parts, ...] = (
    lambda page: parts_of(page.path, page.title, page.language),
    lambda page: (page.version,) if page.version else (),
    lambda page: (page.source,),
    lambda page: raw_parts_of(page.path),
    lambda page: tuple(filter(None, (split_address(page.url).hostname,))),
)
"""Ways to tell pages apart, the most readable first."""
