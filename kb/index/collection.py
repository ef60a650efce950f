"""One generation of the index on a Qdrant server: a collection, by its own name or by the alias of the live one."""

from __future__ import annotations

import time
from collections import abc
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import grpc
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException

from kb.calibration import Calibration
from kb.errors import IndexMismatchError, IndexUnavailableError
from kb.index.payload import (
    DENSE,
    LANGUAGE,
    LEXICAL,
    NAMES,
    PAGE_FIELDS,
    PAGE_ID,
    PAGE_URL,
    REPLACED_NAMES,
    REVISION,
    SERIES,
    TITLE,
    addresses_of,
    calibration_from_fields,
    calibration_to_fields,
    candidates,
    from_payload,
    manifest_from_fields,
    pages_of,
    revisions_of,
)
from kb.index.port import (
    Candidate,
    IndexCounts,
    IndexedChunk,
    IndexManifest,
    PageAddress,
    PagesWanted,
    QueryVectors,
    StoredPassage,
)
from kb.index.server_points import (
    delete,
    is_page,
    is_readable,
    is_spot,
    newest,
    point_of,
    rows,
    sparse,
    stored,
)
from kb.models import Audience, Chunk, Page

SCROLL_PAGE = 2000
ALL = 1_000_000
"""More facet values than any knowledge base has pages."""


class Collection:
    """Reads and writes of one generation, by its own name or by the alias of the live one."""

    def __init__(self, client: AsyncQdrantClient, name: str) -> None:
        self._client = client
        self._name = name

    async def replace_pages(self, pages: Mapping[str, Sequence[IndexedChunk]]) -> None:
        if not pages:
            return
        written = time.time_ns()
        points = [point_of(page_id, chunk, written) for page_id, chunks in pages.items() for chunk in chunks]
        stale = models.Filter(
            must=[is_page(list(pages))],
            must_not=[models.HasIdCondition(has_id=[point.id for point in points])] if points else None,
        )
        operations: list[Any] = [delete(stale)]
        if points:
            # New passages go in before old ones go out: a reader never meets a page without passages. One that
            # comes in between meets both, and `_newest` leaves the old ones out.
            operations.insert(0, models.UpsertOperation(upsert=models.PointsList(points=points)))
        with translated("writing pages"):
            await self._client.batch_update_points(self._name, operations, wait=True)

    async def delete_pages(self, page_ids: Sequence[str]) -> None:
        if not page_ids:
            return
        gone = models.FilterSelector(filter=models.Filter(must=[is_page(page_ids)]))
        with translated("deleting pages"):
            await self._client.delete(self._name, gone, wait=True)

    async def revisions(self) -> Mapping[str, str]:
        return revisions_of([record.payload async for record in self._records([PAGE_ID, REVISION])])

    async def addresses(self) -> Sequence[PageAddress]:
        return addresses_of([record.payload async for record in self._records([PAGE_ID, PAGE_URL, TITLE])])

    async def every_page(self) -> Sequence[Page]:
        return pages_of([record.payload async for record in self._records(PAGE_FIELDS)])

    async def counts(self) -> IndexCounts:
        with translated("counting"):
            chunks = await self._client.count(self._name, exact=True)
            pages = await self._values(PAGE_ID)
        return IndexCounts(pages=len(pages), chunks=chunks.count)

    async def pages(self, wanted: PagesWanted, *, audience: Audience) -> Sequence[Page]:
        if wanted.nothing:
            return []
        asked = ((NAMES, wanted.named), (REPLACED_NAMES, wanted.replacing), (SERIES, wanted.series))
        fitting: list[Any] = [
            models.FieldCondition(key=field, match=models.MatchAny(any=list(names)))
            for field, names in asked
            if names
        ]
        scope = models.Filter(must=[*is_readable(audience)], should=fitting)
        return [
            from_payload(record.payload).page
            async for records in self._batches(True, scope)
            for record in records
        ]

    async def languages(self) -> Sequence[str]:
        with translated("counting languages"):
            counts = await self._values(LANGUAGE)
        return sorted(counts, key=lambda language: (-counts[language], language))

    async def search(
        self,
        queries: Sequence[QueryVectors],
        *,
        audience: Audience,
        limit: int,
        anchor_pages: Sequence[str] = (),
        made_with: str | None = None,
    ) -> list[Candidate]:
        if made_with is not None:
            await self._check_make(made_with)
        return await self._search(self._name, queries, audience, limit, anchor_pages)

    async def _search(
        self,
        collection: str,
        queries: Sequence[QueryVectors],
        audience: Audience,
        limit: int,
        anchor_pages: Sequence[str],
    ) -> list[Candidate]:
        readable = is_readable(audience)
        scopes = [models.Filter(must=[*readable])]
        if anchor_pages:
            scopes.append(models.Filter(must=[*readable, is_page(anchor_pages)]))
        wordings: list[tuple[str, Any]] = [(DENSE, list(query.dense)) for query in queries]
        terms: list[tuple[str, Any]] = [
            (LEXICAL, sparse(query.lexical)) for query in queries if query.lexical.indices
        ]
        legs = [
            models.Prefetch(query=vector, using=using, filter=scope, limit=limit)
            for using, vector in (*wordings, *terms)
            for scope in scopes
        ]
        requests = [
            models.QueryRequest(
                prefetch=legs,
                query=vector,
                using=using,
                filter=scopes[0],
                limit=limit * len(legs),
                with_payload=at == 0,
            )
            for at, (using, vector) in enumerate((*wordings, *terms))
        ]
        with translated("searching"):
            responses = await self._client.query_batch_points(collection, requests)
        first, *others = [rows(response.points) for response in responses]
        results = iter([newest(first), *others])
        return candidates(
            [next(results) for _ in queries],
            [next(results) if query.lexical.indices else [] for query in queries],
        )

    async def manifest(self) -> IndexManifest:
        return manifest_from_fields(await self._metadata())

    async def calibration(self) -> Calibration | None:
        return calibration_from_fields(await self._metadata())

    async def calibrate(self, calibration: Calibration) -> None:
        with translated("keeping what was measured"):
            await self._client.update_collection(self._name, metadata=calibration_to_fields(calibration))

    async def sample(self, limit: int) -> Sequence[StoredPassage]:
        """The engine lists by point id, which is a hash of the passage's id: the first ones are from all over."""
        with translated("taking a sample"):
            records, _ = await self._client.scroll(
                self._name, limit=limit, with_payload=True, with_vectors=[DENSE]
            )
        return [stored(record) for record in newest(records)]

    async def _metadata(self) -> Mapping[str, Any] | None:
        with translated("reading the manifest"):
            described = await self._client.get_collection(self._name)
        return described.config.metadata

    async def _check_make(self, made_with: str) -> None:
        manifest = await self.manifest()
        if manifest.embedder != made_with:
            raise IndexMismatchError(f"the index was made with {manifest.embedder}, not with {made_with}")

    async def readable(self, page_ids: Iterable[str], *, audience: Audience) -> frozenset[str]:
        pages = list(page_ids)
        if not pages:
            return frozenset()
        asked = models.Filter(must=[*is_readable(audience), is_page(pages)])
        with translated("asking which pages may be read"):
            return frozenset(await self._values(PAGE_ID, asked))

    async def neighbours(
        self, spots: Mapping[str, abc.Collection[int]], *, audience: Audience
    ) -> Sequence[Chunk]:
        wanted: list[Any] = [is_spot(page_id, positions) for page_id, positions in spots.items() if positions]
        if not wanted:
            return []
        asked = models.Filter(must=[*is_readable(audience)], should=wanted)
        found = [record async for records in self._batches(True, asked) for record in records]
        return [from_payload(record.payload) for record in newest(found)]

    async def _values(self, field: str, scope: models.Filter | None = None) -> dict[str, int]:
        """How many points each value has. The engine goes on listing a value whose points are deleted, with 0."""
        found = await self._client.facet(self._name, field, facet_filter=scope, limit=ALL, exact=True)
        return {str(hit.value): hit.count for hit in found.hits if hit.count}

    async def passages(
        self, *, audience: Audience, of_pages: Sequence[str] | None = None
    ) -> AsyncIterator[Sequence[Chunk]]:
        if of_pages is not None and not of_pages:
            return
        chosen = [is_page(of_pages)] if of_pages is not None else []
        async for records in self._batches(True, models.Filter(must=[*is_readable(audience), *chosen])):
            yield [from_payload(record.payload) for record in newest(records)]

    async def _records(self, fields: list[str]) -> AsyncIterator[models.Record]:
        async for records in self._batches(fields, None):
            for record in records:
                yield record

    async def _batches(
        self, fields: list[str] | bool, scope: models.Filter | None
    ) -> AsyncIterator[Sequence[models.Record]]:
        offset: Any = None
        while True:
            with translated("listing passages"):
                records, offset = await self._client.scroll(
                    self._name, scroll_filter=scope, limit=SCROLL_PAGE, offset=offset, with_payload=fields
                )
            yield records
            if offset is None:
                return


@contextmanager
def translated(doing: str) -> Iterator[None]:
    try:
        yield
    except (ApiException, QdrantException, grpc.RpcError, OSError) as error:
        raise IndexUnavailableError(f"Qdrant failed while {doing}: {error}") from error
