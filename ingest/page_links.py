"""What a page says of other pages, by path: the addresses that it means."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from posixpath import join, normpath
from urllib.parse import unquote

from ingest.parsers.markup.markdown import SUFFIXES
from ingest.pipeline import PreparedPage
from ingest.sources.port import Source
from kb.addresses import split_address


def linked(page: PreparedPage, source: Source, known: Collection[str]) -> PreparedPage:
    """The page with addresses in the place of the paths by which it names others. `known`: what the source lists."""
    linked_page = page.page
    if not linked_page.superseded_by and not linked_page.replaces:
        return page

    def address(written: str) -> str:
        return _successor(written, linked_page.path, source, known)

    linked_page = replace(
        linked_page,
        superseded_by=linked_page.superseded_by and address(linked_page.superseded_by),
        replaces=tuple(dict.fromkeys(map(address, linked_page.replaces))),
    )
    chunks = tuple(replace(chunk, page=linked_page) for chunk in page.chunks)
    return replace(page, page=linked_page, chunks=chunks)


def _successor(written: str, path: str, source: Source, known: Collection[str]) -> str:
    """The address of the page that the author names by path; anything else (a URL, a title) stays as written."""
    if split_address(written).scheme:
        return written
    target = unquote(split_address(written).path)
    folder = path.rpartition("/")[0]
    for base in (folder, ""):
        found = normpath(join(base, target.lstrip("/")))
        for candidate in (found, *(f"{found}{suffix}" for suffix in SUFFIXES)):
            if candidate in known:
                return source.url_of(candidate)
    return written
