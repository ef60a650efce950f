"""Compares what a source lists with what the live index holds of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ingest.errors import SourceUnavailableError
from ingest.faults import as_source_failure
from ingest.origin import access_mark, index_revision, page_id, source_and_path
from ingest.sources.port import PageRef, Source
from ingest.swap_checks import advice, source_loss
from kb.models import EVERYONE


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """`refs`: the listed pages, by path. `indexed`: the revisions in the live index, by path."""

    source: Source
    refs: Mapping[str, PageRef]
    indexed: Mapping[str, str]

    @property
    def deleted(self) -> list[str]:
        """Indexed paths that are certainly gone. In a folder that could not be listed, these are only the paths that
        the source leaves out on purpose.
        """
        unlisted = tuple(path for path in self.refs if path.endswith("/"))
        return [
            path
            for path in self.indexed
            if path not in self.refs and (not path.startswith(unlisted) or self.source.withdraws(path))
        ]

    @property
    def withdrawn(self) -> list[str]:
        """Those of `deleted` that the source leaves out on purpose."""
        return [path for path in self.deleted if self.source.withdraws(path)]

    @property
    def loss(self) -> str | None:
        """Why the rest of `deleted` must not be removed unless somebody insists."""
        lost = len(self.deleted) - len(self.withdrawn)
        new = sum(ref.revision is not None and path not in self.indexed for path, ref in self.refs.items())
        return source_loss(
            self.source.name, lost=lost, indexed=len(self.indexed), listed=len(self.refs), new=new
        )

    @property
    def acl_changed(self) -> list[str]:
        """Indexed paths whose revision has an audience wider than, or other than, the source's present one."""
        if EVERYONE in self.source.audience:
            return []
        mark = access_mark(self.source.audience)
        return [path for path, revision in self.indexed.items() if revision.rpartition(".")[2] != mark]

    def is_unchanged(self, ref: PageRef) -> bool:
        return ref.revision is not None and self.indexed.get(ref.path) == index_revision(
            ref.revision, self.source.audience
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """A page to be indexed."""

    listing: Listing
    ref: PageRef


async def listing_of(
    source: Source, revisions: Mapping[str, str], forgotten: Collection[str], *, force: bool
) -> Listing:
    """Lists a source. Pages that were forgotten by hand count as not listed.

    Args:
        revisions: the live index's revisions, by page id.

    Raises:
        SourceUnavailableError: the source cannot be listed, for whatever reason, or lists nothing any more
        and nobody insists.
    """
    with as_source_failure(source.name):
        refs = {ref.path: ref async for ref in source.discover()}
        wanted = {path: ref for path, ref in refs.items() if page_id(source.name, path) not in forgotten}
        listing = Listing(source=source, refs=wanted, indexed=indexed_of(source, revisions))
        # Asks `withdraws` about every page that the source no longer lists, so that it fails here if it fails at all.
        loss = listing.loss
        if loss and not refs and not force:
            raise SourceUnavailableError(f"{loss}: {advice(source.name)}")
        return listing


def indexed_of(source: Source, revisions: Mapping[str, str]) -> dict[str, str]:
    """Returns the live index's revisions of a source's pages, by path."""
    located = ((*source_and_path(page), revision) for page, revision in revisions.items())
    return {path: revision for name, path, revision in located if name == source.name}


def ids_of(listing: Listing, paths: Iterable[str]) -> list[str]:
    return [page_id(listing.source.name, path) for path in paths]
