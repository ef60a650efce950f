"""A Qdrant server as it is in production: it refuses, restarts, applies
writes point by point, and several bots read it.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from types import SimpleNamespace

import pytest
from qdrant_client import AsyncQdrantClient, models

from kb.errors import IndexUnavailableError, SettingsError
from kb.index.port import IndexCounts, IndexedChunk, IndexManifest, PagesWanted, QueryVectors, SparseVector
from kb.index.server import calls, writes
from kb.index.server.index import ServerIndex
from kb.index.server.page_versions import LEDGER_ID
from kb.index.server.writes import BYTES
from kb.models import EVERYONE, Audience, Chunk, Page
from tests.fakes.qdrant_server import LARGEST, Failure, QdrantServer

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

MANIFEST = IndexManifest(embedder="tiny", dimension=4, chunker="v1")
EVERYBODY = Audience()
QUERY = QueryVectors(dense=[1.0, 0.0, 0.0, 0.0], lexical=SparseVector(indices=(1,), values=(1.0,)))
VERSIONS = ("r0 of 12", "r1 of 20", "r2 of 6", "r3 of 15")
STRICT = models.StrictModeConfig(
    enabled=True, max_query_limit=1000, unindexed_filtering_retrieve=False, upsert_max_batchsize=500
)


def a_version(page_id: str, revision: str, passages: int, *, words: int = 0) -> dict[str, list[IndexedChunk]]:
    """Every passage says which version it is of, and of how many."""
    page = Page(
        id=page_id, source="handbook", path=f"{page_id}.md", title=page_id, url=f"https://kb.example/{page_id}",
        language="en", revision=revision, audience=(EVERYONE,),
    )  # fmt: skip
    return {
        page_id: [
            IndexedChunk(
                chunk=Chunk(
                    id=f"{page_id}#{at}", page=page, position=at, url=page.url,
                    text=f"{revision} of {passages} " + "word " * words,
                ),
                dense=[1.0, 0.1 * (at % 7), 0.0, 0.0],
                lexical=SparseVector(indices=(1,), values=(1.0,)),
            )
            for at in range(passages)
        ]
    }  # fmt: skip


@pytest.fixture
async def server() -> AsyncIterator[QdrantServer]:
    server = QdrantServer()
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def index(server: QdrantServer) -> AsyncIterator[ServerIndex]:
    index = ServerIndex(a_client(server), "kb", manifest=MANIFEST)
    yield index
    await index.close()


def a_client(server: QdrantServer, *, timeout: int = 60, key: str | None = None) -> AsyncQdrantClient:
    return AsyncQdrantClient(url=server.url, timeout=timeout, check_compatibility=False, api_key=key)


async def texts(index: ServerIndex, *pages: str, limit: int = 500) -> list[str]:
    hits = await index.search([QUERY], audience=EVERYBODY, limit=limit, anchor_pages=pages)
    return [hit.chunk.text.strip() for hit in hits]


@pytest.fixture
def pauses_pass_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is waited before the next try is added to the clock, and nobody's search needs what was replaced."""
    waited = 0.0

    async def wait(seconds: float) -> None:
        nonlocal waited
        waited += seconds
        await asyncio.sleep(0)

    monkeypatch.setattr(calls, "asyncio", SimpleNamespace(sleep=wait))
    monkeypatch.setattr(calls, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + waited))
    monkeypatch.setattr(writes, "GRACE_S", 0.0)


class TestLargePages:
    @pytest.mark.parametrize("sections", [2000, pytest.param(6000, marks=pytest.mark.series)])
    async def test_a_page_of_thousands_of_sections_goes_out_in_requests_that_the_server_takes(
        self, server: QdrantServer, sections: int
    ) -> None:
        wide = IndexManifest(embedder="wide", dimension=384, chunker="v1")
        index = ServerIndex(a_client(server, timeout=60), "kb")
        rebuild = await index.begin_rebuild(wide)
        numbers = random.Random(3)
        (chunks,) = a_version("long", "r1", sections, words=120).values()
        dense = [numbers.random() for _ in range(384)]
        await rebuild.replace_pages(
            {"long": [IndexedChunk(chunk=one.chunk, dense=dense, lexical=one.lexical) for one in chunks]}
        )
        assert await rebuild.counts() == IndexCounts(pages=1, chunks=sections)
        assert server.largest_seen < BYTES < LARGEST
        await index.close()

    async def test_what_one_request_cannot_hold_is_refused_by_the_server_itself(
        self, server: QdrantServer
    ) -> None:
        """So that the test above can fail."""
        client = a_client(server, timeout=60)
        await client.create_collection("raw", vectors_config={})
        heavy = [models.PointStruct(id=at, vector={}, payload={"text": "x" * 2**20}) for at in range(33)]
        with pytest.raises(Exception, match="larger than allowed"):
            await client.upsert("raw", heavy)
        await client.close()


class TestReplacing:
    async def test_searches_meet_a_page_whole_at_every_point_that_is_written(
        self, server: QdrantServer
    ) -> None:
        """Another bot looks amid each write: by what it knew before, and as one that has just started."""
        index, other = (ServerIndex(a_client(server, timeout=100), "kb", manifest=MANIFEST) for _ in range(2))
        await index.replace_pages(a_version("page", "r0", 12) | a_version("still", "r0", 2))
        met: list[tuple[list[str], set[str]]] = []
        written = 0

        async def look() -> None:
            nonlocal written
            written += 1
            if written % 5 == 0:
                for one in (other, ServerIndex(other._client, "kb")):
                    found = sorted(await texts(one))
                    near = await one.neighbours({"page": range(30)}, audience=EVERYBODY)
                    met.append((found, {chunk.page.revision for chunk in near}))

        server.between = look
        for revision, passages in (("r1", 20), ("r2", 6), ("r3", 15)):
            await index.replace_pages(a_version("page", revision, passages))
        await index.settle()
        whole = [sorted([*["r0 of 2"] * 2, *[text] * int(text.split()[2])]) for text in VERSIONS]
        assert all(found in whole and len(near) == 1 for found, near in met)
        assert {found[-1] for found, _ in met} >= {"r1 of 20", "r2 of 6"}
        assert await index.counts() == IndexCounts(pages=2, chunks=17)
        await index.close()
        await other.close()

    @pytest.mark.series
    async def test_searches_that_run_beside_a_busy_writer_end_and_are_whole(
        self, server: QdrantServer, index: ServerIndex
    ) -> None:
        readers = [ServerIndex(a_client(server, timeout=60), "kb") for _ in range(3)]
        await index.replace_pages(a_version("page", "r0", 30))
        done = asyncio.Event()

        async def searches(one: ServerIndex) -> int:
            times = 0
            while not done.is_set():
                found = await texts(one, "page")
                assert len(set(found)) == 1
                assert len(found) == int(found[0].split()[2])
                times += 1
            return times

        looking = [asyncio.create_task(searches(one)) for one in readers]
        for number in range(1, 4):
            await index.replace_pages(a_version("page", f"r{number}", 20 + number % 20))
        done.set()
        assert min(await asyncio.gather(*looking)) > 0
        for one in readers:
            await one.close()

    async def test_what_a_killed_write_left_is_met_by_nobody_and_goes_with_the_next_one(
        self, server: QdrantServer, index: ServerIndex
    ) -> None:
        await index.replace_pages(a_version("page", "r0", 5))
        killed = asyncio.create_task(index.replace_pages(a_version("page", "r1", 300)))
        points = 0

        async def kill() -> None:
            nonlocal points
            points += 1
            if points == 100:
                killed.cancel()

        server.between = kill
        with pytest.raises(asyncio.CancelledError):
            await killed
        other = ServerIndex(a_client(server), "kb")
        assert set(await texts(other)) == {"r0 of 5"}
        assert await other.counts() == IndexCounts(pages=1, chunks=5)
        assert await other.revisions() == {"page": "r0"}

        await index.replace_pages(a_version("page", "r2", 3))
        await index.settle()
        assert set(await texts(other)) == {"r2 of 3"}
        assert await raw_points(server) == 3 + 1
        await other.close()

    async def test_a_page_that_is_limited_is_hidden_from_the_next_search_on_whoever_asks(
        self, server: QdrantServer, index: ServerIndex
    ) -> None:
        other = ServerIndex(a_client(server), "kb")
        await index.replace_pages(a_version("page", "r0", 3))
        assert len(await texts(other)) == 3
        ((page_id, chunks),) = a_version("page", "r1", 3).items()
        limited = [
            IndexedChunk(
                chunk=Chunk(
                    id=one.chunk.id, position=one.chunk.position, text="limited", url="https://kb.example",
                    page=Page(**{**vars_of(one.chunk.page), "audience": ("#leads",)}),
                ),
                dense=one.dense,
                lexical=one.lexical,
            )
            for one in chunks
        ]  # fmt: skip
        await index.replace_pages({page_id: limited})
        assert await texts(other) == []
        assert await other.readable(["page"], audience=EVERYBODY) == frozenset()
        assert await other.neighbours({"page": [0, 1]}, audience=EVERYBODY) == []
        assert await other.pages(PagesWanted(named=("page",)), audience=EVERYBODY) == []
        assert [batch async for batch in other.passages(audience=EVERYBODY) if batch] == []
        await other.close()

    async def test_a_collection_of_an_earlier_version_is_read_and_its_pages_are_replaced(
        self, server: QdrantServer, index: ServerIndex
    ) -> None:
        await index.replace_pages(a_version("page", "r0", 3) | a_version("other", "r0", 1))
        await index.settle()
        client = a_client(server)
        await client.delete("kb", models.PointIdsList(points=[LEDGER_ID]))
        records, _ = await client.scroll("kb", limit=10, with_payload=True, with_vectors=True)
        for record in records:  # ids of the position alone, no version
            payload = {name: value for name, value in (record.payload or {}).items() if name != "written"}
            await client.delete("kb", models.PointIdsList(points=[record.id]))
            await client.upsert(
                "kb", [models.PointStruct(id=int(record.id) // 3, vector=record.vector, payload=payload)]
            )
        assert sorted(await texts(index)) == ["r0 of 1", *["r0 of 3"] * 3]
        await index.replace_pages(a_version("page", "r1", 2))
        assert sorted(await texts(index)) == ["r0 of 1", *["r1 of 2"] * 2]
        await index.settle()
        assert await index.counts() == IndexCounts(pages=2, chunks=3)
        await client.close()


class TestTryingAgain:
    async def test_a_server_that_restarts_amid_a_write_costs_a_pause(
        self, server: QdrantServer, index: ServerIndex
    ) -> None:
        await index.replace_pages(a_version("page", "r0", 3))
        await server.stop()
        writing = asyncio.create_task(index.replace_pages(a_version("page", "r1", 600)))
        await asyncio.sleep(0.5)
        assert not writing.done()
        await server.start()
        await writing
        assert set(await texts(index)) == {"r1 of 600"}

    @pytest.mark.usefixtures("pauses_pass_at_once")
    @pytest.mark.parametrize(
        "failure",
        [
            Failure(status=429, times=3),
            Failure(status=429, headers={"Retry-After": "1"}),
            Failure(status=500, times=2),
            Failure(status=503, times=2),
            Failure(status=500, after=True, times=2),
        ],
        ids=["429", "429 with a time", "500", "503", "an answer that got lost"],
    )
    @pytest.mark.parametrize("path", ["/points", "/delete", "/aliases"])
    async def test_what_passes_is_waited_for_and_nothing_is_there_twice(
        self, server: QdrantServer, index: ServerIndex, failure: Failure, path: str
    ) -> None:
        await index.replace_pages(a_version("page", "r0", 3))
        server.failures = [Failure(**{**vars_of(failure), "path": path})]
        rebuild = await index.begin_rebuild(MANIFEST) if path == "/aliases" else index
        await rebuild.replace_pages(a_version("page", "r1", 4))
        await rebuild.delete_pages(["gone"])
        if rebuild is not index:
            await rebuild.swap()
        assert server.failures[0].times == 0
        assert await texts(index) == ["r1 of 4"] * 4
        await index.settle()
        assert await index.counts() == IndexCounts(pages=1, chunks=4)

    @pytest.mark.usefixtures("pauses_pass_at_once")
    @pytest.mark.parametrize("path", ["/points", "/points/scroll", "/points/delete"])
    async def test_what_a_write_reads_has_the_patience_of_a_write(
        self, server: QdrantServer, index: ServerIndex, path: str
    ) -> None:
        """A question waits a second for a server that is away; a sync of hours does not end after one."""
        await index.replace_pages(a_version("page", "r0", 3))
        for writing in (
            lambda: index.replace_pages(a_version("page", "r1", 4)),
            lambda: index.delete_pages(["page"]),
            lambda: index.stored(["page"]),
            index.inventory,
        ):
            server.failures = [Failure(status=429, headers={"Retry-After": "2"}, path=path)]
            await writing()

    @pytest.mark.usefixtures("pauses_pass_at_once")
    async def test_the_limit_holds_and_is_said(self, server: QdrantServer) -> None:
        index = ServerIndex(a_client(server), "kb", manifest=MANIFEST, retry_s=1.6)
        await index.replace_pages(a_version("page", "r0", 1))
        server.failures = [Failure(status=503, times=1000, text="shard 0 is being transferred")]
        with pytest.raises(
            IndexUnavailableError, match=r"tried for [12] s: it answers 503: shard 0 is being transferred$"
        ):
            await index.replace_pages(a_version("page", "r1", 1))
        await index.close()

    async def test_what_is_refused_for_good_is_asked_once(
        self, server: QdrantServer, index: ServerIndex
    ) -> None:
        await index.replace_pages(a_version("page", "r0", 1))
        server.failures = [
            Failure(status=400, text="Wrong input: no such vector", path="/query/batch", times=9)
        ]
        with pytest.raises(
            IndexUnavailableError, match=r"searching: it answers 400: Wrong input: no such vector$"
        ):
            await texts(index)
        assert server.failures[0].times == 8


class TestWords:
    async def test_a_server_that_is_silent_did_not_answer_in_time(self, server: QdrantServer) -> None:
        index = ServerIndex(a_client(server, timeout=1), "kb", manifest=MANIFEST, retry_s=0)
        server.silent = True
        with pytest.raises(IndexUnavailableError, match=r"no answer in time \(index.timeout_s\)"):
            await index.counts()
        await index.close()

    async def test_nobody_at_the_address(self, server: QdrantServer) -> None:
        index = ServerIndex(a_client(server), "kb", manifest=MANIFEST, retry_s=0)
        await server.stop()
        with pytest.raises(IndexUnavailableError, match=r"no connection .*QDRANT_URL"):
            await index.counts()
        await index.close()

    @pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
    @pytest.mark.parametrize("key", ["wrong", None])
    async def test_a_wrong_key_is_a_setting_that_says_what_to_do(self, key: str | None) -> None:
        server = QdrantServer(key="right")
        await server.start()
        index = ServerIndex(a_client(server, key=key), "kb", manifest=MANIFEST)
        for call in (index.counts(), index.manifest(), index.replace_pages(a_version("page", "r0", 1))):
            with pytest.raises(
                SettingsError, match=r"^QDRANT_API_KEY is refused by the Qdrant server: set"
            ) as told:
                await call
            assert isinstance(told.value, IndexUnavailableError)  # a question meanwhile meets an outage
            assert "wrong" not in str(told.value)
        assert len(server.paths) == 3  # nothing is tried again
        await index.close()
        right = ServerIndex(a_client(server, key="right"), "kb", manifest=MANIFEST)
        await right.replace_pages(a_version("page", "r0", 1))
        assert await texts(right) == ["r0 of 1"]
        await right.close()
        await server.stop()


async def test_more_pages_than_one_request_may_name_are_counted_and_asked_for_in_strict_mode() -> None:
    server = QdrantServer(strict=STRICT)
    await server.start()
    index = ServerIndex(a_client(server, timeout=60), "kb", manifest=MANIFEST)
    pages = {name: made for at in range(1100) for name, made in a_version(f"p{at}", "r0", 1).items()}
    rebuild = await index.begin_rebuild(MANIFEST)
    await rebuild.replace_pages(pages)
    await rebuild.swap()
    assert await index.counts() == IndexCounts(pages=1100, chunks=1100)
    assert len(await index.readable(pages, audience=EVERYBODY)) == 1100
    assert len(await index.revisions()) == 1100
    assert len(await index.sample(1050)) == 1050
    assert await index.languages() == ["en"]
    assert len(await texts(index, *list(pages)[:5], limit=500)) >= 500
    await index.close()
    await server.stop()


async def raw_points(server: QdrantServer) -> int:
    client = a_client(server)
    counted = (await client.count("kb", exact=True)).count
    await client.close()
    return counted


def vars_of(one: object) -> dict[str, object]:
    return {name: getattr(one, name) for name in one.__dataclass_fields__}  # type: ignore[attr-defined]
