"""A sync shared with workers: the same index, each page once, whoever
dies on the way. Over a real Valkey, and Redis 7.0.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot.queue.queue import QuestionQueue, QueuedQuestion
from ingest.distributed.coordinator import Crew
from ingest.distributed.page_queue import PageLane
from ingest.distributed.serialization import decode_manifest, make_of
from ingest.distributed.worker import PageWorker, WorkDone
from ingest.pipeline import PagePipeline
from ingest.sync.sync import Sync
from kb.errors import IndexMismatchError
from kb.index.edge import EdgeIndex
from kb.index.port import IndexManifest
from kb.models import Audience, Chunk
from kb.retrieval.lexical import LexicalEncoder
from kb.runtime.tasks import cancelled
from kb.store.valkey import connect_redis
from kb.text.language import detect
from tests.fakes.embedder import HashEmbedder
from tests.fakes.questions import a_question
from tests.fakes.redis_server import RedisServer, a_server
from tests.fakes.waiting import until

from .conftest import write

Build = Callable[..., Sync]
PAGES = 40


@pytest.fixture(scope="module", params=["valkey", "redis"])
def redis_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RedisServer]:
    with a_server(request.param, tmp_path_factory.mktemp(request.param)) as server:
        yield server


@pytest.fixture
async def lane(redis: Redis) -> AsyncIterator[PageLane]:
    lane = PageLane(redis, namespace="t")
    yield lane
    await lane.close()


@asynccontextmanager
async def a_worker(
    lane: PageLane, embedder: HashEmbedder
) -> AsyncIterator[Callable[[], Awaitable[WorkDone]]]:
    """One at work; what is yielded stops it and tells what it did."""

    async def pipeline_for(_: IndexManifest) -> PagePipeline:
        return PagePipeline(embedder=embedder, lexical=LexicalEncoder(), detect_language=detect)

    stop = asyncio.Event()
    running = asyncio.create_task(PageWorker(lane, pipeline_for=pipeline_for).run(stop))

    async def done() -> WorkDone:
        stop.set()
        return await running

    yield done
    await done()


@asynccontextmanager
async def a_ghost(lane: PageLane, make: str) -> AsyncIterator[None]:
    """A worker that is heard, and begins nothing."""

    async def beat() -> None:
        while True:
            await lane.enlist("ghost", make, ())
            await asyncio.sleep(1)

    await lane.take("ghost", make, 1)  # its lane is open
    beating = asyncio.create_task(beat())
    await heard(lane)
    try:
        yield
    finally:
        await cancelled(beating)
        await lane.leave("ghost", make)


async def heard(lane: PageLane) -> None:
    async def some() -> bool:
        return await lane.helpers() > 0

    await until(some, seconds=60)


async def wanted(lane: PageLane) -> str:
    """The make that the latest sync wants."""
    manifest = await lane.wanted()
    assert manifest is not None
    return make_of(decode_manifest(manifest))


async def passages(index: EdgeIndex) -> dict[str, Chunk]:
    return {chunk.id: chunk async for some in index.passages(audience=Audience()) for chunk in some}


@pytest.fixture
def many(pages: Path) -> Path:
    for number in range(PAGES):
        write(
            pages,
            f"{number}.md",
            f"# Page {number}\n\nText of {number}.\n\n## More\n\nAnd more of {number}.\n",
        )
    write(pages, "0.md", "---\nsuperseded_by: 1.md\n---\n# Page 0\n\nOld.\n")
    write(pages, "empty.md", "")
    return pages


async def test_a_shared_sync_fills_the_index_as_one_alone_does(
    many: Path, a_sync: Build, index: EdgeIndex, lane: PageLane, tmp_path: Path
) -> None:
    alone = EdgeIndex(tmp_path / "alone")
    expected = await a_sync(index=alone).run()
    await a_sync(crew=Crew(lane)).run()  # tells workers what is wanted
    theirs = HashEmbedder()
    async with a_worker(lane, theirs) as done:
        await heard(lane)
        report = await a_sync(crew=Crew(lane)).run(full=True)
        did = await done()

    assert (len(expected.added), [failure.path for failure in expected.failed]) == (PAGES, ["empty.md"])
    assert (report.unchanged, [failure.path for failure in report.failed]) == (PAGES, ["empty.md"])
    assert await passages(index) == await passages(alone)
    assert did.pages > 0
    assert sum(map(len, theirs.calls)) == did.chunks
    await alone.close()


async def test_no_page_is_embedded_twice(
    many: Path, a_sync: Build, index: EdgeIndex, embedder: HashEmbedder, lane: PageLane
) -> None:
    sync, theirs = a_sync(crew=Crew(lane)), HashEmbedder()
    await sync.run()
    async with a_worker(lane, theirs) as done:
        await heard(lane)
        embedder.calls.clear()
        await sync.run(full=True)
        did = await done()

    ours = sum(map(len, embedder.calls))
    assert did.chunks > 0
    assert ours + did.chunks == (await index.counts()).chunks


async def test_what_a_worker_took_and_never_brought_back_is_done_by_whoever_runs_the_sync(
    many: Path, a_sync: Build, index: EdgeIndex, lane: PageLane
) -> None:
    sync = a_sync(crew=Crew(lane))
    await sync.run()
    make = await wanted(lane)
    await lane.enlist("ghost", make, ())

    syncing = asyncio.create_task(sync.run(full=True))
    taken: list[object] = []

    async def some_taken() -> bool:
        taken.extend(await lane.take("ghost", make, 4))
        return bool(taken)

    await until(some_taken, seconds=60)
    await lane.leave("ghost", make)
    report = await syncing

    assert (report.unchanged, len(report.failed)) == (PAGES, 1)
    assert (await index.counts()).pages == PAGES


async def test_what_no_worker_begins_does_not_hold_up_the_end(
    many: Path, a_sync: Build, index: EdgeIndex, lane: PageLane
) -> None:
    sync = a_sync(crew=Crew(lane))
    await sync.run()
    async with a_ghost(lane, await wanted(lane)):
        report = await sync.run(full=True)
        assert await lane.helpers() == 1, "it was given up for dead: the test shows nothing"
    assert (report.unchanged, len(report.failed)) == (PAGES, 1)


async def test_a_sync_that_lost_its_turn_takes_nothing_of_the_next_one_along_when_it_ends(
    many: Path, a_sync: Build, lane: PageLane, embedder: HashEmbedder
) -> None:
    await a_sync(crew=Crew(lane)).run()
    make = await wanted(lane)
    manifest = decode_manifest(await lane.wanted() or b"")
    async with a_ghost(lane, make):
        async with Crew(lane).at_work(manifest):
            embedder.gate.clear()
            embedder.arrived.clear()
            taking_over = asyncio.create_task(a_sync(crew=Crew(lane)).run(full=True))
            await until(lambda: embedder.arrived.is_set(), seconds=60)
            await until(lambda: lane.take("ghost", make, 1), seconds=60)  # the first look opens the lane
        assert await lane.take("ghost", make, 1)
    embedder.gate.set()
    report = await taking_over
    assert (report.unchanged, len(report.failed)) == (PAGES, 1)


async def test_a_question_is_answered_while_every_page_of_a_sync_waits(
    many: Path, a_sync: Build, redis: Redis, lane: PageLane, embedder: HashEmbedder
) -> None:
    sync, theirs = a_sync(crew=Crew(lane)), HashEmbedder()
    await sync.run()
    answered: list[str] = []

    async def answer(question: QueuedQuestion, attempt: int) -> None:
        answered.append(question.id)

    async def give_up(question: QueuedQuestion, error: Exception) -> None:
        raise AssertionError(error)

    queue = QuestionQueue(redis, namespace="t")
    answering = asyncio.create_task(queue.run(answer, workers=1, on_giving_up=give_up))
    async with a_worker(lane, theirs):
        await heard(lane)
        embedder.gate.clear()
        theirs.gate.clear()
        syncing = asyncio.create_task(sync.run(full=True))
        await until(lambda: theirs.arrived.is_set(), seconds=60)
        question = a_question()
        await queue.accept(question)
        await until(lambda: answered, seconds=60)
        assert not syncing.done()
        embedder.gate.set()
        theirs.gate.set()
        report = await syncing
    await cancelled(answering)
    assert answered == [question.id]
    assert report.unchanged == PAGES


async def test_without_redis_a_sync_goes_on_alone(
    many: Path, a_sync: Build, index: EdgeIndex, tmp_path: Path
) -> None:
    async with connect_redis(str(tmp_path / "nobody.sock")) as nobody:
        lane = PageLane(nobody, namespace="t")
        report = await a_sync(crew=Crew(lane)).run()
    assert len(report.added) == PAGES
    assert (await index.counts()).pages == PAGES


async def test_a_worker_of_another_make_says_what_to_do(many: Path, a_sync: Build, lane: PageLane) -> None:
    await a_sync(crew=Crew(lane)).run()

    async def pipeline_for(_: IndexManifest) -> PagePipeline:
        other = HashEmbedder(name="other")
        return PagePipeline(embedder=other, lexical=LexicalEncoder(), detect_language=detect)

    with pytest.raises(IndexMismatchError, match="the same \\[embed\\] settings"):
        await PageWorker(lane, pipeline_for=pipeline_for).run(asyncio.Event())


async def test_a_worker_without_work_ends_when_told_to(lane: PageLane) -> None:
    async def never(_: IndexManifest) -> PagePipeline:
        raise AssertionError("nothing is wanted yet")

    did = await PageWorker(lane, pipeline_for=never).run(asyncio.Event(), idle_exit_s=0.0)
    assert did == WorkDone()
