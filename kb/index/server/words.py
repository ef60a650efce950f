"""The counts of words of one collection on a Qdrant server, in a collection of its own beside it.

A process that writes marks them as being changed (`begin`), counts along, and publishes them when they are complete
(`publish`); every other process reads them. One process writes at a time, except where a page is forgotten by hand
meanwhile: a process that finds another's mark in place of its own knows that the counts miss something, and says so
(`doubt`). Then, or where a writer died, the words are counted anew.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

from pydantic import BaseModel, ConfigDict
from qdrant_client import AsyncQdrantClient, models

from kb.errors import IndexMismatchError
from kb.index.payload import words_from
from kb.index.port import IndexedChunk
from kb.index.server.calls import asked
from kb.index.server.layout import Layout
from kb.index.word_counts import PassageWords, WordCounts

logger = logging.getLogger(__name__)

STATE_ID = 0
PART_BYTES = 2 * 1024 * 1024
"""Bytes of one point, before base64. Some 10 MB in all at a million words."""
ABANDONED_S = 900.0
"""Seconds without a sign of life after which the process that was changing the counts is taken for dead."""
ALIVE_S = 60.0

Records = Callable[[], AsyncIterator[Sequence[models.Record]]]
"""Every public passage of the collection, with payload and lexical vector, some at a time."""
RecordsOf = Callable[[Sequence[str]], AsyncIterator[Sequence[models.Record]]]
"""Those of these pages."""
_T = TypeVar("_T")


class State(BaseModel):
    """Which contents count, and who is changing them. Nobody, and no contents: they are to be counted anew."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str = ""
    first: int = 0
    parts: int = 0
    writer: str = ""
    since: float = 0.0
    """Seconds since 1970 at the writer's last sign of life."""
    doubted: bool = False
    """Whether somebody wrote beside the writer."""

    @property
    def ids(self) -> list[int]:
        return list(range(self.first, self.first + self.parts))

    def is_lost(self, *, at: float) -> bool:
        """Whether nobody has complete counts, or will have."""
        return at - self.since > ABANDONED_S if self.writer else not self.name


class ServerWords:
    """The word counts of the collection `name`, which may have none yet."""

    def __init__(
        self, client: AsyncQdrantClient, name: str, *, retry_s: float, layout: Layout = Layout()
    ) -> None:
        self._client = client
        self._of, self._name = name, words_of(name)
        self._retry_s = retry_s
        self._layout = layout
        self._exists = False
        self.counts = WordCounts()
        self._have = ""
        """The contents that `counts` are, or were before this process began to write."""
        self._are_whole = False
        """Whether, while this process writes, `counts` are those of all passages."""
        self._writer = ""
        """This process's mark while it changes them."""
        self._alive_at = 0.0
        self._written: set[str] | None = None
        """The pages that there may be, where this process fills the collection; else nobody knows."""
        self._busy = asyncio.Lock()
        self._waiting = 0
        """Writes that wait for counting to end."""

    @asynccontextmanager
    async def changing(
        self, pages: Sequence[str], held: RecordsOf, came: Sequence[IndexedChunk] = ()
    ) -> AsyncIterator[None]:
        """Counts what one write changes, which replaces these pages by `came`. `held` lists passages of pages."""
        self._waiting += 1
        try:
            await self._busy.acquire()
        finally:
            self._waiting -= 1
        try:
            await self._begin()
            written = pages if self._written is None else [page for page in pages if page in self._written]
            taken = await self._read(partial(held, written)) if self._are_whole and written else []
            if self._written is not None:
                self._written.update(pages)
            try:
                yield
            except BaseException:
                self._are_whole = False
                raise
            if self._are_whole:
                await asyncio.to_thread(self._change, taken, came)
        finally:
            self._busy.release()

    async def publish(self) -> None:
        """Publishes the complete counts for everybody."""
        async with self._busy:
            if self._writer:
                await self._publish()

    async def refresh(self, records: Records, passages: Callable[[], Awaitable[int]]) -> None:
        """Brings `counts` up to what was published, or counts anew. `passages`: how many `records` should list."""
        async with self._busy:
            if self._writer:
                return  # they are up to date here
            state = await self._state()
            if state is None or state.is_lost(at=time.time()):
                await self._count_for_all(records, passages)
            elif state.name == self._have or await self._take(state):
                return
            elif state.name or not self.counts.passages:
                await self._count_for_itself(records, state)

    async def _begin(self) -> None:
        """Marks the counts as being changed here, and makes sure that they are complete here if they are anywhere."""
        if self._writer:
            await self._say_alive()
            return
        state = await self._state()
        if state is None:
            self._are_whole = await self._is_new()
            if self._are_whole:
                self.counts, self._written = WordCounts(), set()
            await self._make()
        else:
            at_rest = bool(state.name) and not state.writer
            self._are_whole = at_rest and (state.name == self._have or await self._take(state))
        self._writer, self._alive_at = uuid4().hex, time.time()
        await self._keep(
            (state or State()).model_copy(update={"writer": self._writer, "since": self._alive_at})
        )

    async def _publish(self) -> None:
        mine, self._writer, self._written = self._writer, "", None
        packed = await asyncio.to_thread(self.counts.to_bytes) if self._are_whole else b""
        sound = self._are_whole and self.counts.is_sound
        name, first = uuid4().hex, time.time_ns()
        parts = (
            [packed[start : start + PART_BYTES] for start in range(0, len(packed), PART_BYTES)]
            if sound
            else []
        )
        for index, part in enumerate(parts):
            await self._put(first + index, {"of": name, "data": base64.b64encode(part).decode()})
        new, now = State(name=name, first=first, parts=len(parts)), await self._state() or State()
        if now.writer == mine and sound and not now.doubted:
            await self._keep(new)
            self._have, obsolete = name, now.ids
        else:
            self._have, obsolete = "", new.ids
            lost = State() if now.writer == mine else now.model_copy(update={"name": "", "doubted": True})
            await self._keep(lost)
            logger.warning("words.not_kept", extra={"collection": self._name, "sound": sound})
        if obsolete:
            gone = models.PointIdsList(points=list[Any](obsolete))
            await self._call(lambda: self._client.delete(self._name, gone, wait=True))

    async def _count_for_all(self, records: Records, passages: Callable[[], Awaitable[int]]) -> None:
        if await self._state() is None:
            await self._make()
        self._writer, self._are_whole, self._alive_at = uuid4().hex, False, time.time()
        await self._keep(State(writer=self._writer, since=self._alive_at))
        try:
            self._are_whole = await self._count(records) and await passages() == self.counts.passages
        finally:
            await self._publish()

    async def _count_for_itself(self, records: Records, state: State) -> None:
        """Counts alone, where another writer has published nothing yet, or published counts of another version."""
        if await self._count(records) and await self._state() == state:
            self._have = state.name

    async def _count(self, records: Records) -> bool:
        """Counts anew; returns False if a write interrupted it.

        The passages come in the order of their ids, which are hashes: the first ones are typical of all.
        """
        counts = self.counts = WordCounts()
        self._have = ""
        async for batch in records():
            counts.change(came=await asyncio.to_thread(_words, batch))
            if self._waiting:
                return False
            if self._writer:
                await self._say_alive()
        return True

    async def _say_alive(self) -> None:
        if time.time() - self._alive_at > ALIVE_S:
            self._alive_at = time.time()
            state = await self._state()
            if state is not None and state.writer == self._writer:
                await self._keep(state.model_copy(update={"since": self._alive_at}))

    async def _read(self, gone: Records) -> list[PassageWords | None]:
        try:
            return [words async for batch in gone() for words in await asyncio.to_thread(_words, batch)]
        except IndexMismatchError:  # another version wrote them: nobody knows what they added
            self._are_whole = False
            return []

    def _change(self, gone: Sequence[PassageWords | None], came: Sequence[IndexedChunk]) -> None:
        self.counts.change(
            gone=gone, came=[PassageWords.of(indexed.chunk, indexed.lexical.indices) for indexed in came]
        )

    async def _take(self, state: State) -> bool:
        """Reads these contents; False if they were just replaced, or are of another version."""
        ids = list[Any](state.ids)
        found = (
            await self._call(lambda: self._client.retrieve(self._name, ids, with_payload=True)) if ids else []
        )
        parts = {record.id: record.payload or {} for record in found}
        if not ids or any(parts.get(part, {}).get("of") != state.name for part in ids):
            return False
        packed = b"".join(base64.b64decode(parts[part]["data"]) for part in ids)
        counts = await asyncio.to_thread(WordCounts.from_bytes, packed)
        if counts is None:
            return False
        self.counts, self._have = counts, state.name
        return True

    async def _state(self) -> State | None:
        """Reads the state; None where nothing was ever counted."""
        if not self._exists:
            described = await self._call(self._client.get_collections)
            self._exists = any(collection.name == self._name for collection in described.collections)
        if not self._exists:
            return None
        found = await self._call(lambda: self._client.retrieve(self._name, [STATE_ID], with_payload=True))
        return State.model_validate(found[0].payload) if found else None

    async def _is_new(self) -> bool:
        """Whether the passages' collection is empty: then there is nothing to count."""
        held = await self._call(lambda: self._client.count(self._of, exact=True))
        return held.count == 0

    async def _make(self) -> None:
        if not self._exists:
            layout = self._layout
            await asked(
                f"creating collection {self._name}",
                lambda: self._client.create_collection(
                    self._name,
                    vectors_config={},
                    shard_number=1,
                    replication_factor=layout.replication_factor,
                    write_consistency_factor=layout.write_consistency_factor,
                ),
                for_s=0,  # a retry would find it there already
            )
            self._exists = True

    async def _keep(self, state: State) -> None:
        await self._put(STATE_ID, state.model_dump(mode="json"))

    async def _put(self, number: int, payload: dict[str, Any]) -> None:
        point = models.PointStruct(id=number, vector={}, payload=payload)
        await self._call(lambda: self._client.upsert(self._name, [point], wait=True))

    async def _call(self, call: Callable[[], Awaitable[_T]]) -> _T:
        return await asked("keeping the counts of words", call, for_s=self._retry_s)


def words_of(collection: str) -> str:
    return f"{collection}-words"


def _words(records: Sequence[models.Record]) -> list[PassageWords | None]:
    return [words_from(record.payload, record.vector) for record in records]
