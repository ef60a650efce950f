"""`footnote migrate` as an operator runs it: a process of its own, to a Qdrant server on a real socket and back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from redis.asyncio import Redis

from ingest.sync.lock import RedisReindexLock
from kb.config.index_settings import IndexSettings
from kb.index.copies import differences
from kb.index.embedded.index import EdgeIndex
from kb.index.port import IndexCounts, VectorIndex
from kb.index.server.client import server_index
from kb.jobs import ReindexProgress
from kb.runtime.tasks import cancelled
from tests.cli.conftest import Ended, Run
from tests.contract.indexes import MANIFEST, STRICT, a_page, put
from tests.fakes.qdrant_server import QdrantServer
from tests.fakes.serving import START_S, environment
from tests.fakes.warm_command import WarmProcess, launch

PAGES = 12
PASSAGES = 60
"""Of each page: four pages are one request."""


@pytest.fixture
async def server() -> AsyncIterator[QdrantServer]:
    server = QdrantServer(strict=STRICT)
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def data(tmp_path: Path) -> Path:
    """With two generations."""
    index = EdgeIndex(tmp_path / "data" / "index")
    first = await index.begin_rebuild(MANIFEST)
    await put(first, a_page("old"), "leave")
    await first.swap()
    second = await index.begin_rebuild(MANIFEST)
    for number in range(PAGES):
        await put(second, a_page(f"page{number}"), *[f"price {number} {one}" for one in range(PASSAGES)])
    await second.swap()
    await index.close()
    return tmp_path / "data"


Migrate = Callable[..., Awaitable[Ended]]


@pytest.fixture
def run(footnote: Run) -> Migrate:
    """A command to its end, while the server of this loop answers it."""

    async def run(*arguments: str | Path, **variables: str) -> Ended:
        return await asyncio.to_thread(footnote, *arguments, **variables)

    return run


def on(server: QdrantServer) -> VectorIndex:
    return server_index(IndexSettings(qdrant_url=server.url))


async def same(data: Path, index: VectorIndex) -> None:
    """All that the data folder's index has is in the other, vectors included, and nothing else."""
    old = EdgeIndex(data / "index")
    pages = list(await old.revisions())
    assert await index.counts() == await old.counts() == IndexCounts(pages=PAGES, chunks=PAGES * PASSAGES)
    assert differences(await old.stored(pages), await index.stored(pages)) == []
    await old.close()


async def test_an_index_moves_to_a_server_and_back(
    run: Migrate, data: Path, server: QdrantServer, tmp_path: Path
) -> None:
    done = await run("migrate", "--to", server.url, "--json", "--data", data)
    assert (done.code, done.json["set"]) == (0, {"QDRANT_URL": server.url}), done.err
    assert [(one["generation"], one["of"]) for one in done.json["generations"]] == [
        ("previous", 1),
        ("live", PAGES * PASSAGES),
    ]
    index = on(server)
    await same(data, index)
    assert server.points_seen <= 256
    previous = await index.open_previous()
    assert previous is not None
    assert await previous.revisions() == {"old": "r1"}

    again = await run("migrate", "--to", server.url, "--data", data)
    assert (again.code, "footnote-g2" in again.err, "--replace" in again.err) == (1, True, True)

    back = tmp_path / "other"
    arrived = await run("migrate", "--to", "embedded", "--data", back, QDRANT_URL=server.url)
    assert arrived.code == 0, arrived.err
    assert "Unset QDRANT_URL" in arrived.out
    assert "Nothing was deleted" in arrived.out
    await same(back, index)
    await index.close()


async def test_what_makes_no_sense_is_refused(run: Migrate, data: Path, server: QdrantServer) -> None:
    for to, variables, told in (
        ("embedded", {}, "already"),
        (server.url, {"QDRANT_URL": server.url}, "already"),
        ("qdrant:6333", {}, "http(s)://"),
    ):
        done = await run("migrate", "--to", to, "--data", data, **variables)
        assert (done.code, told in done.err, "Traceback" in done.err) == (1, True, False), done.err
    assert server.created == {}


async def test_a_server_that_is_away_is_told_and_costs_nothing(
    run: Migrate, data: Path, server: QdrantServer
) -> None:
    await server.stop()
    done = await run("migrate", "--to", server.url, "--data", data)
    assert (done.code, "no connection" in done.err, "start it" in done.err) == (1, True, True), done.err
    assert "index.tried_again" not in done.err  # it would be, for a minute
    back = await run("migrate", "--to", "embedded", "--data", data, QDRANT_URL=server.url)
    assert (back.code, "start it" in back.err, "index.tried_again" in back.err) == (1, True, False), back.err


async def test_a_sync_under_way_is_not_disturbed(
    run: Migrate, data: Path, server: QdrantServer, redis: Redis, redis_url: str
) -> None:
    lock = RedisReindexLock(redis, namespace="footnote")
    assert await lock.acquire()
    step = ReindexProgress(phase="reading", started_at=datetime.now(UTC))
    syncing = asyncio.create_task(lock.keep(lambda: step))
    done = await run("migrate", "--to", server.url, "--data", data, REDIS_URL=redis_url)
    await cancelled(syncing)
    assert (done.code, "a sync is under way" in done.err) == (1, True), done.err
    assert server.created == {}


async def killed_when(server: QdrantServer, so_many: int, process: WarmProcess) -> None:
    """kill -9 once the server holds so many points of the request under way; it goes on with the rest of that."""
    written = 0
    reached = asyncio.Event()

    async def count() -> None:
        nonlocal written
        written += 1
        if written == so_many:
            reached.set()
            await asyncio.to_thread(process.wait)

    server.between = count
    async with asyncio.timeout(START_S):
        await reached.wait()
    process.kill()
    await asyncio.to_thread(process.wait)


@pytest.mark.series
@pytest.mark.parametrize("so_many", [1, 500])
async def test_a_move_that_is_killed_is_gone_on_with(
    run: Migrate, data: Path, server: QdrantServer, so_many: int, tmp_path: Path
) -> None:
    process = await asyncio.to_thread(
        launch,
        *("migrate", "--to", server.url, "--data", data),
        folder=tmp_path,
        variables=environment(COLUMNS="300"),
        out=tmp_path / "log",
    )
    await killed_when(server, so_many, process)
    index = on(server)
    assert await index.manifest() is None, "half an index is live"

    done = await run("migrate", "--to", server.url, "--json", "--data", data)
    assert done.code == 0, done.err
    await same(data, index)
    total, request = PAGES * PASSAGES + 1, 4 * PASSAGES
    written = sum(one["written"] for one in done.json["generations"])
    assert written <= total - so_many // (request + 1) * request, "what was there was written again"
    assert server.points_put <= total + request
    assert {name for name in server.created if "words" not in name} == {"footnote-g1", "footnote-g2"}
    await index.close()
