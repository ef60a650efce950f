"""Where a page comes from and who may read it there, as its id and its revision in the index tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ingest.errors import PageError
from ingest.sources.port import RawPage, Source, fingerprint
from kb.models import EVERYONE


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """The name and audience of a page's source, which go with the page to a worker on another machine."""

    name: str
    audience: tuple[str, ...]

    @classmethod
    def of(cls, source: Source) -> Origin:
        return cls(name=source.name, audience=source.audience)


def page_id(source: str, path: str) -> str:
    """Builds an id that survives edits and tells its source and path, so no state beside the index is needed."""
    return f"{source}:{path}"


def source_and_path(page: str) -> tuple[str, str]:
    """Splits a page id."""
    source, _, path = page.partition(":")
    return source, path


def index_revision(revision: str, audience: Sequence[str]) -> str:
    """Builds the revision under which a page is indexed. Its end tells who could read its source at that time."""
    return f"{revision}.{access_mark(audience)}"


def access_mark(audience: Sequence[str]) -> str:
    return "open" if EVERYONE in audience else fingerprint(mark.encode() for mark in audience)


def effective_audience(origin: Origin, raw: RawPage, declared: tuple[str, ...] | None) -> tuple[str, ...]:
    """Returns who may read a page: restricted by its source, by its place there, and by its author (`declared`).

    Raises:
        PageError: nobody is left.
    """
    return _restricted(_restricted(origin.audience, raw.audience), declared)


def _restricted(source: tuple[str, ...], page: tuple[str, ...] | None) -> tuple[str, ...]:
    """Restricts a source's audience to a page's own. A page never widens it."""
    if page is None or EVERYONE in page:
        return source
    if EVERYONE in source:
        return page
    both = tuple(mark for mark in page if mark in source)
    if not both:
        raise PageError(
            f"its audience ({', '.join(page)}) has no channel in common with its source's ({', '.join(source)})",
            withdraw=True,
        )
    return both
