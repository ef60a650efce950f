"""Where a page comes from and who may read it there, as its id and its revision in the index tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ingest.errors import PageError
from ingest.sources.port import RawPage, Source, fingerprint
from kb.models import EVERYONE


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """What of its source a page takes along."""

    name: str
    audience: tuple[str, ...]

    @classmethod
    def of(cls, source: Source) -> Origin:
        return cls(name=source.name, audience=source.audience)


def page_id(source: str, path: str) -> str:
    """Stable over edits, and says by itself which source and which path it is: no state beside the index is needed."""
    return f"{source}:{path}"


def source_and_path(page: str) -> tuple[str, str]:
    """The two parts of a page id."""
    source, _, path = page.partition(":")
    return source, path


def index_revision(revision: str, audience: Sequence[str]) -> str:
    """The revision under which a page is indexed. Its end tells who could read its source at that time."""
    return f"{revision}.{access_mark(audience)}"


def access_mark(audience: Sequence[str]) -> str:
    return "open" if EVERYONE in audience else fingerprint(mark.encode() for mark in audience)


def narrowed(origin: Origin, raw: RawPage, own: tuple[str, ...] | None) -> tuple[str, ...]:
    """Who may read a page: by its source, by its place there, and as its author says (`own`).

    Raises:
        PageError: nobody is left.
    """
    return _narrowed(_narrowed(origin.audience, raw.audience), own)


def _narrowed(source: tuple[str, ...], page: tuple[str, ...] | None) -> tuple[str, ...]:
    """A page may narrow its source's audience, never widen it."""
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
