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

from bot.queue.queue import QuestionQueue
from bot.queue.queued_question import QueuedQuestion
from ingest.distributed.coordinator import WorkerPool
from ingest.distributed.page_queue import PageJobQueue
from ingest.distributed.serialization import decode_manifest, manifest_key_of
from ingest.distributed.worker import PageWorker, WorkDone
from ingest.pipeline import PagePipeline
from ingest.sync.sync import Sync
from kb.errors import IndexMismatchError
from kb.index.embedded.index import EdgeIndex
from kb.index.port import IndexManifest
from kb.models import Audience, Chunk
from kb.retrieval.lexical import LexicalEncoder
from kb.runtime.tasks import cancelled
from kb.store.valkey import connect_redis
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


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers look, and tell that they live, more often: else most of a test is a pause of theirs."""
    monkeypatch.setattr("ingest.distributed.worker.IDLE_S", 0.1)
    monkeypatch.setattr("ingest.distributed.worker.BEAT_S", 0.3)
    monkeypatch.setattr("ingest.distributed.page_queue.LISTEN_MS", 100)


@pytest.fixture
async def queue(redis: Redis) -> AsyncIterator[PageJobQueue]:
    queue = PageJobQueue(redis, namespace="t")
    yield queue
    await queue.close()


@asynccontextmanager
async def a_worker(
    queue: PageJobQueue, embedder: HashEmbedder
) -> AsyncIterator[Callable[[], Awaitable[WorkDone]]]:
    """One at work; what is yielded stops it and tells what it did."""

    async def pipeline_for(_: IndexManifest) -> PagePipeline:
        return PagePipeline(embedder=embedder, lexical=LexicalEncoder())

    stop = asyncio.Event()
    running = asyncio.create_task(PageWorker(queue, pipeline_for=pipeline_for).run(stop))

    async def done() -> WorkDone:
        stop.set()
        return await running

    yield done
    await done()


@asynccontextmanager
async def a_ghost(queue: PageJobQueue, manifest_key: str) -> AsyncIterator[None]:
    """A worker that is heard, and begins nothing."""

    async def beat() -> None:
        while True:
            await queue.enlist("ghost", manifest_key, ())
            await asyncio.sleep(1)

    await queue.take("ghost", manifest_key, 1)  # its queue is open
    beating = asyncio.create_task(beat())
    await heard(queue)
    try:
        yield
    finally:
        await cancelled(beating)
        await queue.leave("ghost", manifest_key)


async def heard(queue: PageJobQueue) -> None:
    async def some() -> bool:
        return await queue.workers() > 0

    await until(some, seconds=60)


async def wanted(queue: PageJobQueue) -> str:
    """The make that the latest sync wants."""
    manifest = await queue.wanted()
    assert manifest is not None
    return manifest_key_of(decode_manifest(manifest))


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
    many: Path, a_sync: Build, index: EdgeIndex, queue: PageJobQueue, tmp_path: Path
) -> None:
    alone = EdgeIndex(tmp_path / "alone")
    expected = await a_sync(index=alone).run()
    await a_sync(page_jobs=queue).run()  # tells workers what is wanted
    theirs = HashEmbedder()
    async with a_worker(queue, theirs) as done:
        await heard(queue)
        report = await a_sync(page_jobs=queue).run(full=True)
        did = await done()

    assert (len(expected.added), [failure.path for failure in expected.failed]) == (PAGES, ["empty.md"])
    assert (report.unchanged, [failure.path for failure in report.failed]) == (PAGES, ["empty.md"])
    assert await passages(index) == await passages(alone)
    assert did.pages > 0
    assert sum(map(len, theirs.calls)) == did.chunks
    await alone.close()


async def test_no_page_is_embedded_twice(
    many: Path, a_sync: Build, index: EdgeIndex, embedder: HashEmbedder, queue: PageJobQueue
) -> None:
    sync, theirs = a_sync(page_jobs=queue), HashEmbedder()
    await sync.run()
    async with a_worker(queue, theirs) as done:
        await heard(queue)
        embedder.calls.clear()
        await sync.run(full=True)
        did = await done()

    ours = sum(map(len, embedder.calls))
    assert did.chunks > 0
    assert ours + did.chunks == (await index.counts()).chunks


async def test_what_a_worker_took_and_never_brought_back_is_done_by_whoever_runs_the_sync(
    many: Path, a_sync: Build, index: EdgeIndex, queue: PageJobQueue
) -> None:
    sync = a_sync(page_jobs=queue)
    await sync.run()
    manifest_key = await wanted(queue)
    await queue.enlist("ghost", manifest_key, ())

    syncing = asyncio.create_task(sync.run(full=True))
    taken: list[object] = []

    async def some_taken() -> bool:
        taken.extend(await queue.take("ghost", manifest_key, 4))
        return bool(taken)

    await until(some_taken, seconds=60)
    await queue.leave("ghost", manifest_key)
    report = await syncing

    assert (report.unchanged, len(report.failed)) == (PAGES, 1)
    assert (await index.counts()).pages == PAGES


async def test_what_no_worker_begins_does_not_hold_up_the_end(
    many: Path, a_sync: Build, index: EdgeIndex, queue: PageJobQueue
) -> None:
    sync = a_sync(page_jobs=queue)
    await sync.run()
    async with a_ghost(queue, await wanted(queue)):
        report = await sync.run(full=True)
        assert await queue.workers() == 1, "it was given up for dead: the test shows nothing"
    assert (report.unchanged, len(report.failed)) == (PAGES, 1)


async def test_a_sync_that_lost_its_turn_takes_nothing_of_the_next_one_along_when_it_ends(
    many: Path, a_sync: Build, queue: PageJobQueue, embedder: HashEmbedder
) -> None:
    await a_sync(page_jobs=queue).run()
    manifest_key = await wanted(queue)
    manifest = decode_manifest(await queue.wanted() or b"")
    async with a_ghost(queue, manifest_key):
        async with WorkerPool(queue, manifest):
            embedder.gate.clear()
            embedder.arrived.clear()
            taking_over = asyncio.create_task(a_sync(page_jobs=queue).run(full=True))
            await until(lambda: embedder.arrived.is_set(), seconds=60)
            await until(
                lambda: queue.take("ghost", manifest_key, 1), seconds=60
            )  # the first look opens the queue
        assert await queue.take("ghost", manifest_key, 1)
    embedder.gate.set()
    report = await taking_over
    assert (report.unchanged, len(report.failed)) == (PAGES, 1)


async def test_a_question_is_answered_while_every_page_of_a_sync_waits(
    many: Path, a_sync: Build, redis: Redis, queue: PageJobQueue, embedder: HashEmbedder
) -> None:
    sync, theirs = a_sync(page_jobs=queue), HashEmbedder()
    await sync.run()
    answered: list[str] = []

    async def answer(question: QueuedQuestion, attempt: int) -> None:
        answered.append(question.id)

    async def give_up(question: QueuedQuestion, error: Exception) -> None:
        raise AssertionError(error)

    questions = QuestionQueue(redis, namespace="t")
    answering = asyncio.create_task(questions.run(answer, workers=1, on_giving_up=give_up))
    async with a_worker(queue, theirs):
        await heard(queue)
        embedder.gate.clear()
        theirs.gate.clear()
        syncing = asyncio.create_task(sync.run(full=True))
        await until(lambda: theirs.arrived.is_set(), seconds=60)
        question = a_question()
        await questions.accept(question)
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
        queue = PageJobQueue(nobody, namespace="t")
        report = await a_sync(page_jobs=queue).run()
    assert len(report.added) == PAGES
    assert (await index.counts()).pages == PAGES


async def test_a_worker_with_another_manifest_says_what_to_do(
    many: Path, a_sync: Build, queue: PageJobQueue
) -> None:
    await a_sync(page_jobs=queue).run()

    async def pipeline_for(_: IndexManifest) -> PagePipeline:
        other = HashEmbedder(name="other")
        return PagePipeline(embedder=other, lexical=LexicalEncoder())

    with pytest.raises(IndexMismatchError, match="the same \\[embed\\] settings"):
        await PageWorker(queue, pipeline_for=pipeline_for).run(asyncio.Event())


async def test_a_worker_without_work_ends_when_told_to(queue: PageJobQueue) -> None:
    async def never(_: IndexManifest) -> PagePipeline:
        raise AssertionError("nothing is wanted yet")

    did = await PageWorker(queue, pipeline_for=never).run(asyncio.Event(), idle_exit_s=0.0)
    assert did == WorkDone()
