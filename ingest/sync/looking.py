"""Looks first at the pages that changed: what is limited now leaves the live index before anything else may fail.

A sync can end at any page, at the embedder, at a full disk. What its author limited meanwhile must not
stay public until one succeeds, so who may read each changed page is found out before the first is
embedded. Nothing is read twice: what was read is kept for the rest of the sync, as far as memory allows.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from ingest.errors import PageError
from ingest.faults import as_page_failure
from ingest.front_matter.page_fields import split_front_matter
from ingest.listing import Listing, Work, ids_of
from ingest.origin import Origin, effective_audience, page_id
from ingest.page import ParsedPage
from ingest.parsers.formats import kind_of
from ingest.parsers.text import decoded
from ingest.pipeline import PagePipeline
from ingest.sources.port import RawPage
from ingest.swap_checks import source_loss
from ingest.sync.live import LivePages
from kb.models import EVERYONE

logger = logging.getLogger(__name__)

_HEADED = frozenset({"md", "markdown", "mdx", "erb", "html", "htm", "xhtml", "txt", "text", "rst", "org"})
"""Kinds that may tell their readers above their text, which is read here where no parser can be had."""
KEPT_BYTES = 64 << 20
"""Bytes of pages' content that a sync keeps from the first look. The rest is read again in its turn."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """`parsed`: None where the page was not read yet; `failure`: why it cannot be."""

    raw: RawPage
    parsed: ParsedPage | None = None
    failure: PageError | None = None


class FirstLook:
    """The first look of one sweep; keeps what it read for the rest of it."""

    def __init__(self, *, pipeline: PagePipeline, live: LivePages) -> None:
        self._pipeline = pipeline
        self._live = live
        self._seen: dict[str, Seen] = {}
        self._unreachable: dict[str, PageError] = {}
        self._bytes = 0
        self._audiences: Mapping[str, tuple[str, ...]] | None = None

    async def withdraw(self, listing: Listing) -> None:
        """Takes out of the live index what changed and may be read by fewer now, or by nobody.

        Empty pages go as far as `PageOutcomes.judge_emptied` believes them: many may be a disk that lost them.
        """
        empty = [
            ref.path
            for ref in listing.refs.values()
            if ref.path in listing.indexed
            and not listing.is_unchanged(ref)
            and await self._finds_empty(Work(listing=listing, ref=ref))
        ]
        indexed = len(listing.indexed)
        if source_loss(listing.source.name, lost=len(empty), indexed=indexed, listed=indexed) is None:
            await self._live.delete_pages(ids_of(listing, empty))

    def take(self, item: Work) -> Seen | None:
        """Returns what the first look read of a page, once.

        Raises:
            PageError: its source could not read it then; nothing is asked twice in a sync.
        """
        failure = self._unreachable.pop(_id(item), None)
        if failure is not None:
            raise failure
        seen = self._seen.pop(_id(item), None)
        if seen is not None:
            self._bytes -= len(seen.raw.content)
        return seen

    async def admits_fewer(self, page: str, audience: tuple[str, ...]) -> bool:
        """Tells whether somebody who may read the page in the live index may no longer."""
        if EVERYONE in audience:
            return False
        if self._audiences is None:
            self._audiences = {page.id: page.audience for page in await self._live.every_page()}
        return not set(self._audiences.get(page, ())) <= set(audience)

    async def _finds_empty(self, item: Work) -> bool:
        """Withdraws a page that says so. Returns True for an empty one, which cannot be judged by itself."""
        source, page = item.listing.source, _id(item)
        try:
            raw = await self._fetched(item)
            if not raw.content.strip():
                self._keep(page, Seen(raw=raw))
                return True
            audience = await self._audience(raw, Origin.of(source), page)
        except PageError as error:
            if error.withdraw:
                await self._live.delete_pages([page])
            return False
        if await self.admits_fewer(page, audience):
            logger.info("page.withdrawn", extra={"source": source.name, "path": item.ref.path})
            await self._live.delete_pages([page])
        return False

    async def _fetched(self, item: Work) -> RawPage:
        source = item.listing.source
        try:
            with as_page_failure(source.name, item.ref.path):
                return await source.fetch(item.ref)
        except PageError as error:
            self._unreachable[_id(item)] = error
            raise

    async def _audience(self, raw: RawPage, origin: Origin, page: str) -> tuple[str, ...]:
        """Returns who may read a page, by its place and by itself.

        Of a page that cannot be parsed only its front matter counts.
        """
        try:
            parsed = await self._pipeline.read(raw, origin)
        except PageError as error:
            self._keep(page, Seen(raw=raw, failure=error))
            if error.withdraw or kind_of(raw.file_name or raw.path, raw.media_type) not in _HEADED:
                raise
            with as_page_failure(origin.name, raw.path):
                front, _ = await asyncio.to_thread(lambda: split_front_matter(decoded(raw.content)))
            return effective_audience(origin, raw, front.audience)
        self._keep(page, Seen(raw=raw, parsed=parsed))
        return effective_audience(origin, raw, parsed.front.audience)

    def _keep(self, page: str, seen: Seen) -> None:
        if self._bytes + len(seen.raw.content) <= KEPT_BYTES:
            self._bytes += len(seen.raw.content)
            self._seen[page] = seen


def _id(item: Work) -> str:
    return page_id(item.listing.source.name, item.ref.path)
