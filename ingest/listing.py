"""What a source lists beside what the live index holds of it, and what follows from that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ingest.pipeline import access_mark, index_revision, page_id
from ingest.sources.port import PageRef, Source
from kb.models import EVERYONE


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """What a source listed and what the live index holds of it: page path -> revision, both."""

    source: Source
    refs: Mapping[str, PageRef]
    indexed: Mapping[str, str]

    @property
    def vanished(self) -> list[str]:
        """Indexed paths that are gone for sure: not those under a folder that could not be listed."""
        unlisted = tuple(path for path in self.refs if path.endswith("/"))
        return [path for path in self.indexed if path not in self.refs and not path.startswith(unlisted)]

    @property
    def exposed(self) -> list[str]:
        """Indexed paths that were put in under an audience wider than, or other than, the source's present one."""
        if EVERYONE in self.source.audience:
            return []
        mark = access_mark(self.source)
        return [path for path, revision in self.indexed.items() if revision.rpartition(".")[2] != mark]

    def is_unchanged(self, ref: PageRef) -> bool:
        return ref.revision is not None and self.indexed.get(ref.path) == index_revision(
            ref.revision, self.source
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """A page to be indexed."""

    listing: Listing
    ref: PageRef


def is_at_or_under(path: str, ref_path: str) -> bool:
    return path == ref_path or (ref_path.endswith("/") and path.startswith(ref_path))


def ids_of(listing: Listing, paths: Iterable[str]) -> list[str]:
    return [page_id(listing.source.name, path) for path in paths]
