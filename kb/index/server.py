"""The vector index on a Qdrant server: collections `NAME-gN` behind the alias `NAME`.

Several bots may share a server: all of them search the alias, and a swap moves it in one request.
"""

from __future__ import annotations

import logging
import re
from collections import abc
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any

from qdrant_client import AsyncQdrantClient, models

from kb.errors import IndexMismatchError, IndexUnavailableError
from kb.index.collection import Collection, translated
from kb.index.payload import DENSE, KEYWORD_FIELDS, LEXICAL, manifest_from_fields, manifest_to_fields
from kb.index.port import (
    Candidate,
    IndexCounts,
    IndexedChunk,
    IndexManifest,
    PageAddress,
    PagesWanted,
    QueryVectors,
)
from kb.models import Audience, Chunk, Page

logger = logging.getLogger(__name__)


class ServerIndex(Collection):
    """A `VectorIndex` behind the alias `collection`. The caller owns the client's settings; `close` closes it.

    `manifest` is what a first write to an empty index builds with. Without one such a write is refused, and
    `begin_rebuild` is the way to fill the index.
    """

    def __init__(
        self, client: AsyncQdrantClient, collection: str, *, manifest: IndexManifest | None = None
    ) -> None:
        super().__init__(client, collection)
        self._new_manifest = manifest
        self._seen_live = False

    async def search(
        self,
        queries: Sequence[QueryVectors],
        *,
        audience: Audience,
        limit: int,
        anchor_pages: Sequence[str] = (),
    ) -> list[Candidate]:
        if not queries or not await self._is_live():
            return []
        return await super().search(queries, audience=audience, limit=limit, anchor_pages=anchor_pages)

    async def replace_pages(self, pages: Mapping[str, Sequence[IndexedChunk]]) -> None:
        if not await self._is_live():
            await self._create_first()
        await super().replace_pages(pages)

    async def delete_pages(self, page_ids: Sequence[str]) -> None:
        if await self._is_live():
            await super().delete_pages(page_ids)

    async def revisions(self) -> Mapping[str, str]:
        return await super().revisions() if await self._is_live() else {}

    async def counts(self) -> IndexCounts:
        return await super().counts() if await self._is_live() else IndexCounts(pages=0, chunks=0)

    async def addresses(self) -> Sequence[PageAddress]:
        return await super().addresses() if await self._is_live() else []

    async def pages(self, wanted: PagesWanted, *, audience: Audience) -> Sequence[Page]:
        return await super().pages(wanted, audience=audience) if await self._is_live() else []

    async def languages(self) -> Sequence[str]:
        return await super().languages() if await self._is_live() else []

    async def readable(self, page_ids: Iterable[str], *, audience: Audience) -> frozenset[str]:
        return await super().readable(page_ids, audience=audience) if await self._is_live() else frozenset()

    async def neighbours(
        self, spots: Mapping[str, abc.Collection[int]], *, audience: Audience
    ) -> Sequence[Chunk]:
        return await super().neighbours(spots, audience=audience) if await self._is_live() else []

    async def passages(self, *, audience: Audience) -> AsyncIterator[Sequence[Chunk]]:
        if await self._is_live():
            async for batch in super().passages(audience=audience):
                yield batch

    async def manifest(self) -> IndexManifest | None:
        if not await self._is_live():
            return None
        with translated("reading the manifest"):
            described = await self._client.get_collection(self._name)
        return manifest_from_fields(described.config.metadata)

    async def begin_rebuild(self, manifest: IndexManifest) -> ServerRebuild:
        live = await self._live_generation()
        for number in await self._generations():
            if number > live:
                await self._drop(number)
        return ServerRebuild(self, await self._create(manifest))

    async def open_previous(self) -> ServerPrevious | None:
        live = await self._live_generation()
        number = max((one for one in await self._generations() if one < live), default=None)
        return None if number is None else ServerPrevious(self, number)

    async def close(self) -> None:
        await self._client.close()

    async def _is_live(self) -> bool:
        """Asks the server until the alias was seen once: a collection that vanishes later is an outage."""
        if not self._seen_live:
            self._seen_live = await self._live_generation() > 0
        return self._seen_live

    async def _live_generation(self) -> int:
        """0 where the alias does not exist."""
        with translated("asking which collection is live"):
            described = await self._client.get_aliases()
        for alias in described.aliases:
            if alias.alias_name == self._name:
                return self._number(alias.collection_name)
        return 0

    async def _generations(self) -> list[int]:
        with translated("listing collections"):
            described = await self._client.get_collections()
        return sorted(number for one in described.collections if (number := self._number(one.name)))

    def _number(self, collection: str) -> int:
        match = re.fullmatch(re.escape(self._name) + r"-g(\d+)", collection)
        return int(match[1]) if match else 0

    async def _create(self, manifest: IndexManifest) -> int:
        number = max(await self._generations(), default=0) + 1
        name = self._collection_name(number)
        with translated(f"creating collection {name}"):
            await self._client.create_collection(
                name,
                vectors_config={
                    DENSE: models.VectorParams(size=manifest.dimension, distance=models.Distance.COSINE)
                },
                sparse_vectors_config={LEXICAL: models.SparseVectorParams(modifier=models.Modifier.IDF)},
                metadata=manifest_to_fields(manifest),
            )
            for field in KEYWORD_FIELDS:
                await self._client.create_payload_index(
                    name, field, models.PayloadSchemaType.KEYWORD, wait=True
                )
        return number

    async def _create_first(self) -> None:
        if self._new_manifest is None:
            raise IndexMismatchError(f"the index {self._name!r} is empty: reindex in full")
        await self._promote(await self._create(self._new_manifest))

    async def _promote(self, number: int) -> None:
        live = await self._live_generation()
        move: list[Any] = [
            models.CreateAliasOperation(
                create_alias=models.CreateAlias(
                    collection_name=self._collection_name(number), alias_name=self._name
                )
            )
        ]
        if live:
            move.insert(
                0, models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=self._name))
            )
        with translated("swapping"):
            await self._client.update_collection_aliases(move)
        self._seen_live = True
        logger.info("index.swapped", extra={"generation": number})
        for older in [one for one in await self._generations() if one < number][:-1]:
            await self._drop(older)

    async def _drop(self, number: int) -> None:
        with translated("dropping a collection"):
            await self._client.delete_collection(self._collection_name(number))

    def _collection_name(self, number: int) -> str:
        return f"{self._name}-g{number}"


class ServerRebuild(Collection):
    """A collection beside the live one. Over after `swap` or `discard`."""

    def __init__(self, index: ServerIndex, number: int) -> None:
        super().__init__(index._client, index._collection_name(number))
        self._index = index
        self._number = number
        self._over = False

    async def swap(self) -> None:
        if self._over:
            raise IndexUnavailableError("this rebuild is over: it was swapped in or dropped")
        await self._index._promote(self._number)
        self._over = True

    async def discard(self) -> None:
        """Fine after a swap or another discard: then there is nothing to drop."""
        if not self._over:
            self._over = True
            await self._index._drop(self._number)


class ServerPrevious(ServerRebuild):
    """The collection that was live before. A `discard` leaves it where it is."""

    async def manifest(self) -> IndexManifest:
        with translated("reading the manifest"):
            described = await self._client.get_collection(self._name)
        return manifest_from_fields(described.config.metadata)

    async def discard(self) -> None:
        self._over = True
