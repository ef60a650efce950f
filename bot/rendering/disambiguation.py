"""Disambiguates pages with one title: "Parking (Ghent)" beside "Parking (Zwolle)"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kb.answer import Answer, Citation
from kb.models import Page
from kb.pages.labels import page_labels


def disambiguated(answer: Answer) -> Answer:
    """Returns the answer with a place behind the titles that two of its shown pages share; as it is where none do."""
    shown = _shown(answer)
    called = page_labels(shown.values())
    if all(called[page.id] == page.title for page in shown.values()):
        return answer
    names = {page.url: called[page.id] for page in shown.values()}
    return replace(
        answer,
        citations=tuple(_cited(citation, called) for citation in answer.citations),
        quotes=tuple(replace(quote, citation=_cited(quote.citation, called)) for quote in answer.quotes),
        warnings=tuple(replace(warning, page=_titled(warning.page, called)) for warning in answer.warnings),
        nearest=tuple(replace(page, title=names.get(page.url, page.title)) for page in answer.nearest),
    )


def _shown(answer: Answer) -> Mapping[str, Page]:
    """Returns the pages that the message names, by id. A nearest page is known by its address alone."""
    near = {page.url for page in answer.nearest}
    pages = [
        *(citation.chunk.page for citation in answer.citations),
        *(quote.citation.chunk.page for quote in answer.quotes),
        *(warning.page for warning in answer.warnings),
        *(hit.chunk.page for hit in answer.trace.hits if hit.chunk.page.url in near),
    ]
    return {page.id: page for page in pages}


def _cited(citation: Citation, called: Mapping[str, str]) -> Citation:
    return replace(citation, chunk=replace(citation.chunk, page=_titled(citation.chunk.page, called)))


def _titled(page: Page, called: Mapping[str, str]) -> Page:
    return replace(page, title=called[page.id])
