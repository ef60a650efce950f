"""The live index as a sync sees it, and what stands in for one that cannot be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from kb.index.port import PageAddress
from kb.models import Page


class LivePages(Protocol):
    """The part of `kb.index.port.VectorIndex` that is compared with the sources."""

    async def revisions(self) -> Mapping[str, str]: ...
    async def addresses(self) -> Sequence[PageAddress]: ...
    async def every_page(self) -> Sequence[Page]: ...
    async def delete_pages(self, page_ids: Sequence[str]) -> None: ...


class NoPages:
    """Stands for a damaged index, which nobody reads until another is swapped in."""

    async def revisions(self) -> Mapping[str, str]:
        return {}

    async def addresses(self) -> Sequence[PageAddress]:
        return ()

    async def every_page(self) -> Sequence[Page]:
        return ()

    async def delete_pages(self, page_ids: Sequence[str]) -> None:
        """Does nothing: an index that cannot be read has no pages to delete."""
