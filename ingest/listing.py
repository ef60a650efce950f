"""What a source lists beside what the live index holds of it, and what follows from that."""

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
    """What a source listed and what the live index holds of it: page path -> revision, both."""

    source: Source
    refs: Mapping[str, PageRef]
    indexed: Mapping[str, str]

    @property
    def deleted(self) -> list[str]:
        """Indexed paths that are gone for sure: under a folder that could not be listed, those alone that the source
        leaves out on purpose.
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
        """Why the rest of `deleted` is not to be removed unless somebody insists."""
        lost = len(self.deleted) - len(self.withdrawn)
        new = sum(ref.revision is not None and path not in self.indexed for path, ref in self.refs.items())
        return source_loss(
            self.source.name, lost=lost, indexed=len(self.indexed), listed=len(self.refs), new=new
        )

    @property
    def acl_changed(self) -> list[str]:
        """Indexed paths that were put in under an audience wider than, or other than, the source's present one."""
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
    """`revisions`: page id -> revision of the live index. Pages that were forgotten by hand count as not listed.

    Raises:
        SourceUnavailableError: the source cannot be listed, for whatever reason, or lists nothing any more
        and nobody insists.
    """
    with as_source_failure(source.name):
        return await _listing(source, revisions, forgotten, force=force)


async def _listing(
    source: Source, revisions: Mapping[str, str], forgotten: Collection[str], *, force: bool
) -> Listing:
    refs = {ref.path: ref async for ref in source.discover()}
    indexed = indexed_of(source, revisions)
    wanted = {path: ref for path, ref in refs.items() if page_id(source.name, path) not in forgotten}
    listing = Listing(source=source, refs=wanted, indexed=indexed)
    doubt = (
        listing.loss
    )  # asks the source about every page that it does not list any more, as `withdraws` may break
    if doubt and not refs and not force:
        raise SourceUnavailableError(f"{doubt}: {advice(source.name)}")
    return listing


def indexed_of(source: Source, revisions: Mapping[str, str]) -> dict[str, str]:
    """Page path -> revision of what the live index holds of a source."""
    parted = ((*source_and_path(page), revision) for page, revision in revisions.items())
    return {path: revision for name, path, revision in parted if name == source.name}


def ids_of(listing: Listing, paths: Iterable[str]) -> list[str]:
    return [page_id(listing.source.name, path) for path in paths]
