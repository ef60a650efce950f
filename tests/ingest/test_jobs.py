"""One reindex at a time; whoever asks second sees the first; nobody has to keep listening."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.sync.jobs import ReindexJobs
from ingest.sync.lock import OnlyReplica
from ingest.sync.sync import Sync
from kb.index.embedded.index import EdgeIndex
from kb.jobs import ReindexProgress, ReindexRequest
from tests.fakes.embedder import HashEmbedder

from .conftest import Clock, all_of, write

Build = Callable[..., Sync]


@pytest.fixture
def jobs(a_sync: Build, clock: Clock, pages: Path) -> ReindexJobs:
    write(pages, "a.md", "Alpha.")
    return ReindexJobs(a_sync(), clock=clock)


async def test_a_reindex_tells_its_progress_and_ends_with_the_report(jobs: ReindexJobs) -> None:
    steps = await all_of(jobs)

    assert steps[0].phase == "queued"
    assert steps[-1].phase == "done"
    assert steps[-1].report is not None
    assert steps[-1].report.added == ["a.md"]
    assert not any(step.joined for step in steps)
    assert jobs.sources() == ["handbook"]


async def test_a_second_request_joins_the_first(jobs: ReindexJobs, embedder: HashEmbedder) -> None:
    embedder.gate.clear()
    first = asyncio.create_task(all_of(jobs))
    await embedder.arrived.wait()
    second = asyncio.create_task(all_of(jobs, ReindexRequest(requested_by="U2", full=True)))
    await asyncio.sleep(0)  # the second request takes its first step
    embedder.gate.set()

    steps, joined = await asyncio.gather(first, second)

    assert all(step.joined for step in joined)
    assert joined[-1].report == steps[-1].report
    assert len(embedder.calls) == 1


async def test_the_work_goes_on_when_the_listener_leaves(
    jobs: ReindexJobs, embedder: HashEmbedder, index: EdgeIndex
) -> None:
    embedder.gate.clear()
    listener = asyncio.create_task(all_of(jobs))
    await embedder.arrived.wait()
    listener.cancel()
    await asyncio.gather(listener, return_exceptions=True)
    embedder.gate.set()

    last = (await all_of(jobs))[-1]

    assert (last.joined, last.phase) == (True, "done")
    assert (await index.counts()).pages == 1


async def test_after_one_is_over_the_next_request_starts_anew(jobs: ReindexJobs, pages: Path) -> None:
    await all_of(jobs)
    write(pages, "b.md", "Beta.")

    last = (await all_of(jobs))[-1]

    assert not last.joined
    assert last.report is not None
    assert last.report.added == ["b.md"]


async def test_a_source_that_is_not_known_is_named_and_nothing_that_force_overrules(
    jobs: ReindexJobs,
) -> None:
    last = (await all_of(jobs, ReindexRequest(requested_by="U1", source="nope")))[-1]

    assert (last.phase, last.error) == ("failed", "there is no source 'nope'; known: handbook")
    assert last.refusal is None


async def test_a_fault_ends_as_failed_and_does_not_leave_listeners_waiting(
    a_sync: Build, clock: Clock, pages: Path
) -> None:
    class Broken(HashEmbedder):
        async def ready(self) -> None:
            raise ZeroDivisionError

    last = (await all_of(ReindexJobs(a_sync(embedder=Broken()), clock=clock)))[-1]

    assert (last.phase, last.error) == ("failed", "a fault; see the log")


async def test_a_lock_that_missed_the_end_of_the_work_is_told_again(
    a_sync: Build, clock: Clock, pages: Path
) -> None:
    class Deaf(OnlyReplica):
        """Loses the first cancellation, as a client of Redis may in its time-out."""

        given_back = False

        async def keep(self, latest: Callable[[], ReindexProgress]) -> None:
            with contextlib.suppress(asyncio.CancelledError):
                await super().keep(latest)
            await super().keep(latest)

        async def release(self, last: ReindexProgress) -> None:
            self.given_back = True

    lock = Deaf()
    async with asyncio.timeout(30):
        last = (await all_of(ReindexJobs(a_sync(), clock=clock, lock=lock)))[-1]

    assert last.phase == "done"
    assert lock.given_back


@pytest.mark.parametrize("under_way", [False, True])
async def test_closing_stops_the_work_and_tells_the_listeners(
    jobs: ReindexJobs, embedder: HashEmbedder, under_way: bool
) -> None:
    embedder.gate.clear()
    listener = asyncio.create_task(all_of(jobs))
    await (embedder.arrived.wait() if under_way else asyncio.sleep(0))

    await jobs.close()
    last = (await asyncio.wait_for(listener, 5))[-1]

    assert (last.phase, last.error) == ("failed", "it was stopped")
