"""One generation of the index on a Qdrant server: a collection, by its own name or by the alias of the live one."""

from __future__ import annotations

from collections import abc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from qdrant_client import models

from kb.calibration import Calibration
from kb.errors import IndexMismatchError, IndexUnavailableError
from kb.index.fields import DENSE, LANGUAGE, LEXICAL, PAGE_ID, PAGE_URL, REVISION, TITLE
from kb.index.payload import (
    INVENTORY_FIELDS,
    PAGE_FIELDS,
    addresses_of,
    calibration_from_fields,
    calibration_to_fields,
    from_payload,
    indexed_from,
    inventory_of,
    manifest_from_fields,
    pages_of,
    revisions_of,
    stored_from,
)
from kb.index.port import (
    Candidate,
    Choose,
    IndexCounts,
    IndexedChunk,
    IndexManifest,
    PageAddress,
    PageHeld,
    PagesWanted,
    QueryVectors,
    StoredPassage,
)
from kb.index.server.calls import asked
from kb.index.server.page_versions import LEDGER_ID, Flux
from kb.index.server.points import are_spots, is_page, is_readable, is_wanted, versions
from kb.index.server.search import MOST, Hidden, are_found, found_by, query_requests
from kb.index.server.words import ServerWords
from kb.index.server.writes import Writes
from kb.index.word_counts import PUBLIC
from kb.models import Audience, Chunk, Page

READINGS = 8
"""How often something is read until no page of it was replaced meanwhile. The second time nearly always does."""
AT_ONCE = 256
"""Passages of one answer that has their vectors: some megabytes."""

COUNTED_AT_ONCE = 128
"""Passages whose words are counted together: reading them holds the loop for some 10 ms."""

_T = TypeVar("_T")


class Collection(Writes):
    """Reads and writes of one generation, by its own name or by the alias of the live one."""

    _flux: Flux | None = None
    """The ledger as it was last seen."""
    _counted: ServerWords | None = None

    async def _exists(self) -> bool:
        """Whether there is a collection. An index that nothing was put into yet has none, and reads as empty."""
        return True

    async def replace_pages(self, pages: Mapping[str, Sequence[IndexedChunk]]) -> None:
        if pages:
            came = [indexed for chunks in pages.values() for indexed in chunks]
            async with (await self._words()).changing(list(pages), self._public, came):
                await super().replace_pages(pages)

    async def delete_pages(self, page_ids: Sequence[str]) -> None:
        if page_ids:
            words = await self._words()
            async with words.changing(page_ids, self._public):
                await super().delete_pages(page_ids)
            if self._searched:  # what went may be private now: it leaves the counts of every bot
                await words.publish()

    async def settle(self) -> None:
        await super().settle()
        await (await self._words()).publish()

    async def _words(self) -> ServerWords:
        if self._counted is None:
            self._counted = ServerWords(self._client, self._name, retry_s=self._write_for_s)
        return self._counted

    def _public(self, of_pages: Sequence[str] | None = None) -> AsyncIterator[Sequence[models.Record]]:
        """Yields the passages that everyone may read, with what their words are counted by."""
        chosen = [is_page(of_pages)] if of_pages is not None else []
        scope = models.Filter(must=[*is_readable(PUBLIC), *chosen])
        return self._batches(True, scope, vectors=[LEXICAL], at_once=COUNTED_AT_ONCE, patient=True)

    async def _public_passages(self) -> int:
        hidden = (await self._read_flux()).hidden()
        counted = models.Filter(must=[*is_readable(PUBLIC)], must_not=[*hidden])
        found = await self._read(
            "counting", lambda: self._client.count(self._name, count_filter=counted, exact=True)
        )
        return found.count

    async def revisions(self) -> Mapping[str, str]:
        return revisions_of([record.payload async for record in self._records([PAGE_ID, REVISION])])

    async def inventory(self) -> Mapping[str, PageHeld]:
        found = self._batches(INVENTORY_FIELDS, None, patient=True)
        return inventory_of([record.payload async for records in found for record in records])

    async def stored(self, page_ids: Sequence[str]) -> Sequence[IndexedChunk]:
        wanted = models.Filter(must=[is_page(page_ids)])
        kinds = [DENSE, LEXICAL]
        found = self._batches(True, wanted, vectors=kinds, at_once=AT_ONCE, patient=True)
        return [indexed_from(record.payload, record.vector) async for records in found for record in records]

    async def addresses(self) -> Sequence[PageAddress]:
        return addresses_of([record.payload async for record in self._records([PAGE_ID, PAGE_URL, TITLE])])

    async def every_page(self) -> Sequence[Page]:
        return pages_of([record.payload async for record in self._records(PAGE_FIELDS)])

    async def counts(self) -> IndexCounts:
        if not await self._exists():
            return IndexCounts(pages=0, chunks=0)
        hidden = (await self._read_flux()).hidden()
        counted = models.Filter(must_not=[models.HasIdCondition(has_id=[LEDGER_ID]), *hidden])
        chunks = await self._read(
            "counting", lambda: self._client.count(self._name, count_filter=counted, exact=True)
        )
        pages = await self._values(PAGE_ID, models.Filter(must_not=[*hidden]))
        if len(pages) == MOST:  # there are more than one request may name
            pages = {str((record.payload or {})[PAGE_ID]): 1 async for record in self._records([PAGE_ID])}
        return IndexCounts(pages=len(pages), chunks=chunks.count)

    async def pages(self, wanted: PagesWanted, *, audience: Audience) -> Sequence[Page]:
        if wanted.nothing:
            return []
        found = await self._all_of(must=[*is_readable(audience)], should=[*is_wanted(wanted)])
        return [from_payload(record.payload).page for record in found]

    async def languages(self) -> Sequence[str]:
        if not await self._exists():
            return []
        hidden = (await self._read_flux()).hidden()
        counts = await self._values(LANGUAGE, models.Filter(must_not=[*hidden]))
        return sorted(counts, key=lambda language: (-counts[language], language))

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
        if made_with is not None:
            await self._check_make(made_with)
        return await self._search(self._name, queries, audience, limit, anchor_pages, choose)

    async def _search(
        self,
        collection: str,
        queries: Sequence[QueryVectors],
        audience: Audience,
        limit: int,
        anchor_pages: Sequence[str],
        choose: Choose | None,
    ) -> list[Candidate]:
        """Scores, then reads what is chosen, between two looks at the ledger, so that neither meets half a page."""

        async def found(hidden: Hidden) -> tuple[list[Candidate], abc.Set[int]]:
            requests = query_requests(queries, audience, limit, anchor_pages, hidden)
            responses = await self._read(
                "searching", lambda: self._client.query_batch_points(collection, requests)
            )
            everything = found_by(queries, responses)
            chosen = everything.rows(choose)
            records = await self._chosen(
                collection, are_found(everything, chosen, audience, hidden), len(chosen)
            )
            payloads = {record.id: record.payload or {} for record in records}
            return everything.candidates(chosen, payloads), versions(records)

        return await self._whole(found, collection)

    async def _chosen(self, collection: str, scope: models.Filter, count: int) -> Sequence[models.Record]:
        if not count:
            return []
        records, _ = await self._read(
            "reading passages",
            lambda: self._client.scroll(collection, scroll_filter=scope, limit=count, with_payload=True),
        )
        return records

    async def manifest(self) -> IndexManifest:
        return manifest_from_fields(await self._metadata())

    async def calibration(self) -> Calibration | None:
        return calibration_from_fields(await self._metadata())

    async def calibrate(self, calibration: Calibration) -> None:
        fields = calibration_to_fields(calibration)
        await self._write(
            "keeping what was measured", lambda: self._client.update_collection(self._name, metadata=fields)
        )

    async def sample(self, limit: int) -> Sequence[StoredPassage]:
        """Returns the first passages by point id, which is a hash of the passage's id: they are from all over."""
        taken: list[StoredPassage] = []
        async for records in self._batches(True, None, vectors=[DENSE], at_once=min(limit, MOST)):
            taken += [stored_from(record.payload, record.vector) for record in records]
            if len(taken) >= limit:
                break
        return taken[:limit]

    async def _metadata(self) -> Mapping[str, Any] | None:
        described = await self._read("reading the manifest", lambda: self._client.get_collection(self._name))
        return described.config.metadata

    async def _check_make(self, made_with: str) -> None:
        manifest = await self.manifest()
        if manifest.embedder != made_with:
            raise IndexMismatchError(f"the index was made with {manifest.embedder}, not with {made_with}")

    async def readable(self, page_ids: Iterable[str], *, audience: Audience) -> frozenset[str]:
        wanted = list(page_ids)

        async def found(hidden: Hidden) -> tuple[set[str], abc.Set[int]]:
            readable: set[str] = set()
            for first in range(0, len(wanted), MOST):
                some = is_page(wanted[first : first + MOST])
                scope = models.Filter(must=[*is_readable(audience), some], must_not=[*hidden])
                readable |= (await self._values(PAGE_ID, scope)).keys()
            return readable, frozenset()

        return frozenset(await self._whole(found)) if wanted and await self._exists() else frozenset()

    async def neighbours(
        self, spots: Mapping[str, abc.Collection[int]], *, audience: Audience
    ) -> Sequence[Chunk]:
        wanted = are_spots(spots)
        if not wanted:
            return []
        found = await self._all_of(must=[*is_readable(audience)], should=[*wanted])
        return [from_payload(record.payload) for record in found]

    async def passages(
        self, *, audience: Audience, of_pages: Sequence[str] | None = None
    ) -> AsyncIterator[Sequence[Chunk]]:
        if of_pages is not None and not of_pages:
            return
        chosen = [is_page(of_pages)] if of_pages is not None else []
        async for records in self._batches(True, models.Filter(must=[*is_readable(audience), *chosen])):
            yield [from_payload(record.payload) for record in records]

    async def _whole(
        self,
        read: Callable[[Hidden], Awaitable[tuple[_T, abc.Set[int]]]],
        collection: str | None = None,
    ) -> _T:
        """Returns what `read` finds, with versions, at a moment when no page of it was half replaced.

        At first the ledger is believed as it was last seen; where it changed, it is read anew.
        """
        known, fresh = self._flux, False
        for _ in range(READINGS):
            if known is None:
                known, fresh = await self._read_flux(collection), True
            found, met = await read(known.hidden())
            self._flux = now = await self._read_flux(collection)
            if now == known or (fresh and known.still_whole(now, met)):
                return found
            known, fresh = now, True
        raise IndexUnavailableError(f"pages of {self._name!r} are replaced faster than they can be read")

    async def _all_of(self, *, must: list[Any], should: list[Any]) -> list[models.Record]:
        if not await self._exists():
            return []

        async def found(hidden: Hidden) -> tuple[list[models.Record], abc.Set[int]]:
            scope = models.Filter(must=must, should=should, must_not=[*hidden])
            records = [record async for batch in self._pages_of(True, scope) for record in batch]
            return records, versions(records)

        return await self._whole(found)

    async def _values(self, field: str, scope: models.Filter) -> dict[str, int]:
        """Counts the points of each value, for the `MOST` most frequent values. The engine also lists values without
        points, with 0.
        """
        found = await self._read(
            "counting values",
            lambda: self._client.facet(self._name, field, facet_filter=scope, limit=MOST, exact=True),
        )
        return {str(hit.value): hit.count for hit in found.hits if hit.count}

    async def _records(self, fields: list[str]) -> AsyncIterator[models.Record]:
        async for records in self._batches(fields, None):
            for record in records:
                yield record

    async def _batches(
        self,
        fields: list[str] | bool,
        scope: models.Filter | None,
        *,
        vectors: list[str] | bool = False,
        at_once: int = MOST,
        patient: bool = False,
    ) -> AsyncIterator[Sequence[models.Record]]:
        """Yields all that counts when it begins: a page that is replaced meanwhile may come in two versions, or in one.

        `patient`: no question waits for it, so that it is tried again for as long as a write is.
        """
        if not await self._exists():
            return
        for_s = self._write_for_s if patient else self._read_for_s
        hidden = (await self._read_flux(for_s=for_s)).hidden()
        counted = scope or models.Filter()
        counted = counted.model_copy(
            update={"must_not": [models.HasIdCondition(has_id=[LEDGER_ID]), *hidden]}
        )
        async for records in self._pages_of(fields, counted, vectors=vectors, at_once=at_once, for_s=for_s):
            yield records

    async def _pages_of(
        self,
        fields: list[str] | bool,
        scope: models.Filter,
        *,
        vectors: list[str] | bool = False,
        at_once: int = MOST,
        for_s: float | None = None,
    ) -> AsyncIterator[Sequence[models.Record]]:
        offset: Any = None
        while True:
            listing = partial(
                self._client.scroll,
                self._name,
                scroll_filter=scope,
                limit=at_once,
                offset=offset,
                with_payload=fields,
                with_vectors=vectors,
            )
            within = self._read_for_s if for_s is None else for_s
            records, offset = await asked("listing passages", listing, for_s=within)
            yield records
            if offset is None:
                return
