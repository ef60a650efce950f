"""The vector index on a Qdrant server: collections `NAME-gN` behind the alias `NAME`.

Several bots may share a server: all of them search the alias, and a swap moves it in one request.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from qdrant_client import AsyncQdrantClient

from kb.calibration import Calibration
from kb.errors import IndexMismatchError, IndexUnavailableError
from kb.index.payload import calibration_from_fields, manifest_from_fields
from kb.index.port import (
    Candidate,
    Choose,
    IndexedChunk,
    IndexManifest,
    QueryVectors,
)
from kb.index.server.calls import WRITE_FOR_S
from kb.index.server.collection import Collection
from kb.index.server.generations import ServerGenerations
from kb.index.server.layout import Layout
from kb.index.server.rebuild import ServerCopy, ServerPrevious, ServerRebuild
from kb.index.server.words import ServerWords
from kb.index.word_counts import WordCounts
from kb.models import Audience

logger = logging.getLogger(__name__)
_Other = TypeVar("_Other", bound=ServerRebuild)

SEEN_FOR_S = 60.0
"""Seconds for which the live collection's manifest and calibration are cached. Another bot's swap is noticed at once by
a search, its calibration after that.
"""
PINNED_TRIES = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class _Live:
    """The live collection as it was at `at`."""

    collection: str
    manifest: IndexManifest
    calibration: Calibration | None
    at: float


class ServerIndex(Collection):
    """A `VectorIndex` behind the alias `collection`. The caller owns the client's settings; `close` closes it.

    `manifest` is what a first write to an empty index builds with; without one, `begin_rebuild` is the way to fill it.
    """

    def __init__(
        self,
        client: AsyncQdrantClient,
        collection: str,
        *,
        manifest: IndexManifest | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        retry_s: float = WRITE_FOR_S,
        layout: Layout = Layout(),
    ) -> None:
        super().__init__(client, collection, retry_s=retry_s)
        self._layout = layout
        self._generations = ServerGenerations(client, collection, retry_s=retry_s, layout=layout)
        self._new_manifest = manifest
        self._seen_live = False
        self._monotonic = monotonic
        self._seen: _Live | None = None
        self._counted_of = 0

    async def search(
        self,
        queries: Sequence[QueryVectors],
        *,
        audience: Audience,
        limit: int,
        anchor_pages: Sequence[str] = (),
        made_with: str | None = None,
        choose: Choose | None = None,
    ) -> list[Candidate]:
        """Searches the live collection by its own name, and asks meanwhile whether it still is the live one.

        Another bot may move the alias at any moment: between a look at the manifest and a search, and amid one.
        """
        if not queries or not await self._exists():
            return []
        for _ in range(PINNED_TRIES):
            known = await self._known()
            if made_with not in (None, known.manifest.embedder):
                raise IndexMismatchError(
                    f"the index was made with {known.manifest.embedder}, not with {made_with}"
                )
            found, live = await asyncio.gather(
                self._search(known.collection, queries, audience, limit, anchor_pages, choose),
                self._generations.live(),
                return_exceptions=True,
            )
            if isinstance(live, BaseException):
                raise live
            if self._generations.name_of(live) != known.collection:
                self._seen = None
                continue
            if isinstance(found, BaseException):
                raise found
            return found
        raise IndexUnavailableError(f"the index {self._name!r} is swapped faster than it can be searched")

    async def _known(self) -> _Live:
        """Returns the live collection as it was seen within the last `SEEN_FOR_S`."""
        seen, now = self._seen, self._monotonic()
        if seen is None or now - seen.at > SEEN_FOR_S:
            live = await self._generations.live()
            if not live:
                raise IndexUnavailableError(f"the alias {self._name!r} is gone from the server")
            fields = await self._beside(live)._metadata()
            seen = _Live(
                collection=self._generations.name_of(live),
                manifest=manifest_from_fields(fields),
                calibration=calibration_from_fields(fields),
                at=now,
            )
            self._seen = seen
        return seen

    async def calibration(self) -> Calibration | None:
        return (await self._known()).calibration if await self._exists() else None

    async def calibrate(self, calibration: Calibration) -> None:
        if live := await self._generations.live():
            await self._beside(live).calibrate(calibration)
            self._seen = None

    async def replace_pages(self, pages: Mapping[str, Sequence[IndexedChunk]]) -> None:
        if not await self._exists():
            await self._create_first()
        await super().replace_pages(pages)

    async def delete_pages(self, page_ids: Sequence[str]) -> None:
        if await self._exists():
            await super().delete_pages(page_ids)

    async def manifest(self) -> IndexManifest | None:  # type: ignore[override]  # an alias may not exist yet
        return await super().manifest() if await self._exists() else None

    async def begin_rebuild(self, manifest: IndexManifest) -> ServerRebuild:
        live = await self._generations.live(patient=True)
        for number in await self._generations.all():
            if number > live:
                await self.drop(number)
        number = await self._create(manifest)
        return self._other(ServerRebuild, number)

    async def open_previous(self) -> ServerPrevious | None:
        live = await self._generations.live()
        number = max((number for number in await self._generations.all() if number < live), default=None)
        if number is None:
            return None
        return self._other(ServerPrevious, number)

    async def begin_copy(self, label: str, manifest: IndexManifest) -> ServerCopy:
        for number, held in (await self._generations.copies()).items():
            if held == label:
                copy = self._other(ServerCopy, number)
                if await copy.manifest() == manifest:
                    await self._have_indexes(self._generations.name_of(number))
                    return copy
                await self.drop(number)
        return self._other(ServerCopy, await self._create(manifest, copy_of=label))

    async def others(self, labels: abc.Collection[str]) -> Sequence[str]:
        copies = await self._generations.copies()
        return [
            self._generations.name_of(number)
            for number in await self._generations.all()
            if copies.get(number) not in labels
        ]

    @property
    def words(self) -> WordCounts:
        return self._counted.counts if self._counted is not None else WordCounts()

    async def count_words(self) -> None:
        if await self._exists():
            words = await self._words()
            live = self._beside(self._counted_of)
            await words.refresh(live._public, live._public_passages)

    async def _words(self) -> ServerWords:
        """Returns the word counts of the live collection, which another bot may have swapped."""
        live = await self._generations.live(patient=True)
        if self._counted is None or live != self._counted_of:
            name = self._generations.name_of(live)
            self._counted_of = live
            self._counted = ServerWords(self._client, name, retry_s=self._write_for_s, layout=self._layout)
        return self._counted

    async def settle(self) -> None:
        if await self._exists():
            await super().settle()

    async def close(self) -> None:
        await self._client.close()

    async def _exists(self) -> bool:
        """Asks the server until the alias was seen once: a collection that vanishes later is an outage."""
        if not self._seen_live:
            self._seen_live = await self._generations.live() > 0
        return self._seen_live

    async def _create(self, manifest: IndexManifest, *, copy_of: str | None = None) -> int:
        number = await self._generations.create(manifest, copy_of=copy_of)
        await self._have_indexes(self._generations.name_of(number))
        return number

    async def _create_first(self) -> None:
        if self._new_manifest is None:
            raise IndexMismatchError(f"the index {self._name!r} is empty: reindex in full")
        await self.promote(await self._create(self._new_manifest))

    async def promote(self, number: int) -> None:
        await self._generations.swap(number)
        self._seen_live, self._seen = True, None
        logger.info("index.swapped", extra={"generation": number})
        await self._generations.drop_old(number)

    async def drop(self, number: int) -> None:
        await self._generations.drop(number)

    def _beside(self, number: int) -> Collection:
        """Opens a generation by its own name, since the alias may move meanwhile."""
        return Collection(self._client, self._generations.name_of(number), retry_s=self._write_for_s)

    def _other(self, kind: type[_Other], number: int) -> _Other:
        name = self._generations.name_of(number)
        return kind(self, number, client=self._client, name=name, retry_s=self._write_for_s)
