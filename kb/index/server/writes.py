"""Writes into one collection of a Qdrant server: in requests that it takes, and so that readers meet whole pages."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from qdrant_client import AsyncQdrantClient, models

from kb.index.fields import KEYWORD_FIELDS, POSITION
from kb.index.port import IndexedChunk
from kb.index.server.calls import READ_FOR_S, WRITE_FOR_S, asked
from kb.index.server.page_versions import GRACE_S, LEDGER_ID, WRITTEN, Flux
from kb.index.server.points import is_page, is_version_of, point_of

_T = TypeVar("_T")

POINTS = 256
"""Points of one request; strict mode may take no more than some hundreds."""
BYTES = 8 * 1024 * 1024
"""Bytes of one request, by estimate. The server takes 32 MB unless it is configured otherwise."""
NUMBER_BYTES = 24
"""Most that one number of a vector takes as JSON."""
INTEGER_FIELDS = (POSITION, WRITTEN)


class Writes:
    """A collection by its own name, or by the alias of the live one. One
    process writes at a time: see `ingest.sync.lock`.

    `searched`: whether anybody reads it while it is written. `retry_s`: for how long writes are tried again;
    reads that a question may wait for are so for `READ_FOR_S` at most.
    """

    def __init__(
        self, client: AsyncQdrantClient, name: str, *, searched: bool = True, retry_s: float = WRITE_FOR_S
    ) -> None:
        self._client = client
        self._name = name
        self._searched = searched
        self._write_for_s = retry_s
        self._read_for_s = min(READ_FOR_S, retry_s) if searched else retry_s
        self._writing = asyncio.Lock()
        self._begun: set[int] = set()
        self._indexed = False
        self._flipped_at = 0.0

    async def replace_pages(self, pages: Mapping[str, Sequence[IndexedChunk]]) -> None:
        if not pages:
            return
        version = time.time_ns()
        points = [point_of(page_id, chunk, version) for page_id, chunks in pages.items() for chunk in chunks]
        async with self._writing:
            if self._searched:
                await self._replace_beside(version, list(pages), points)
            else:
                await self._put(points)
                await self._delete("writing pages", is_version_of(list(pages), other_than=version))

    async def delete_pages(self, page_ids: Sequence[str]) -> None:
        if page_ids:
            await self._delete("deleting pages", models.Filter(must=[is_page(page_ids)]))

    async def settle(self) -> None:
        """Clears up what the last writes left for readers that were under way."""
        if self._flipped_at:
            await asyncio.sleep(max(0.0, self._flipped_at + GRACE_S - time.time()))
            async with self._writing:
                await self._clear(await self._read_flux(for_s=self._write_for_s))
            self._flipped_at = 0.0

    async def _replace_beside(
        self, version: int, pages: Sequence[str], points: Sequence[models.PointStruct]
    ) -> None:
        """Takes the steps of `kb.index.server.page_versions`."""
        if not self._indexed:
            await self._have_indexes(self._name)
            self._indexed = True
        flux = await self._clear(await self._read_flux(for_s=self._write_for_s))
        flux = flux.begun(version, pages, at=time.time())
        self._begun.add(version)
        await self._keep(flux)
        await self._put(points)
        await self._keep(flux.whole(version, at=time.time()))
        self._begun.discard(version)
        self._flipped_at = time.time()

    async def _clear(self, flux: Flux) -> Flux:
        over = flux.over(at=time.time(), begun_here=self._begun)
        if not over:
            return flux
        clearing = flux.clearing(time.time_ns())
        await self._keep(clearing)
        for write in over:
            await self._delete("clearing up", clearing.obsolete(write))
        rest = clearing.without(over)
        await self._keep(rest)
        self._begun.clear()
        return rest

    async def _put(self, points: Sequence[models.PointStruct]) -> None:
        for request in in_requests(points):
            put = partial(self._client.upsert, self._name, request, wait=True)
            await self._write("writing pages", put)

    async def _delete(self, doing: str, matching: models.Filter) -> None:
        gone = models.FilterSelector(filter=matching)
        await self._write(doing, lambda: self._client.delete(self._name, gone, wait=True))

    async def _keep(self, flux: Flux) -> None:
        point = models.PointStruct(id=LEDGER_ID, vector={}, payload=flux.model_dump(mode="json"))
        await self._write("writing pages", lambda: self._client.upsert(self._name, [point], wait=True))

    async def _read_flux(self, collection: str | None = None, *, for_s: float | None = None) -> Flux:
        found = await asked(
            "asking what is being replaced",
            lambda: self._client.retrieve(collection or self._name, [LEDGER_ID], with_payload=True),
            for_s=self._read_for_s if for_s is None else for_s,
        )
        return Flux.model_validate(found[0].payload) if found else Flux()

    async def _have_indexes(self, collection: str) -> None:
        """Creates missing payload indexes: strict mode refuses filters without, and earlier versions made fewer."""
        kinds = dict.fromkeys(KEYWORD_FIELDS, models.PayloadSchemaType.KEYWORD)
        kinds |= dict.fromkeys(INTEGER_FIELDS, models.PayloadSchemaType.INTEGER)
        described = await self._write("reading the schema", lambda: self._client.get_collection(collection))
        for field, kind in kinds.items():
            if field not in described.payload_schema:
                make = partial(self._client.create_payload_index, collection, field, kind, wait=True)
                await self._write(f"indexing {field}", make)

    async def _read(self, doing: str, call: Callable[[], Awaitable[_T]]) -> _T:
        return await asked(doing, call, for_s=self._read_for_s)

    async def _write(self, doing: str, call: Callable[[], Awaitable[_T]]) -> _T:
        """Runs a call that may be carried out twice, with retries."""
        return await asked(doing, call, for_s=self._write_for_s)


def in_requests(points: Sequence[models.PointStruct]) -> Iterator[list[models.PointStruct]]:
    """Splits points into requests of at most `POINTS` points and `BYTES` bytes."""
    some: list[models.PointStruct] = []
    size = 0
    for point in points:
        more = size_of(point)
        if some and (len(some) >= POINTS or size + more > BYTES):
            yield some
            some, size = [], 0
        some.append(point)
        size += more
    if some:
        yield some


def size_of(point: models.PointStruct) -> int:
    """Estimates a point's size as JSON in bytes, rather too many than too few."""
    vectors: Any = point.vector
    numbers = sum(
        len(vector.indices) * 2 if isinstance(vector, models.SparseVector) else len(vector)
        for vector in vectors.values()
    )
    return numbers * NUMBER_BYTES + len(json.dumps(point.payload)) + 200
