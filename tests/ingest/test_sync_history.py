"""What is remembered of the last sync of each source."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from ingest.sources.folder import FolderSource
from ingest.sync.history import RecordedSync, RedisSyncHistory
from ingest.sync.schedule import due_in
from kb.config.settings import SourceSettings
from kb.errors import FootnoteError, StoreUnavailableError
from kb.index.embedded.index import EdgeIndex
from kb.retrieval.lexical import LexicalEncoder
from tests.fakes.embedder import HashEmbedder

from .conftest import Clock, write


@pytest.fixture
def history(redis: Redis) -> RedisSyncHistory:
    return RedisSyncHistory(redis, namespace="t")


@pytest.fixture
def a_recorded_sync(
    index: EdgeIndex, embedder: HashEmbedder, clock: Clock, pages: Path
) -> Callable[..., RecordedSync]:
    """Over the sources "a" and "b", each a folder below `pages`."""

    def build(history: Any) -> RecordedSync:
        write(pages, "a/one.md", "One.")
        write(pages, "b/two.md", "Two.")
        settings = [SourceSettings(name=name, path=pages / name, git_dates=False) for name in ("a", "b")]
        return RecordedSync(
            history=history,
            clock=clock,
            index=index,
            embedder=embedder,
            lexical=LexicalEncoder(),
            sources=lambda: [FolderSource(source) for source in settings],
        )

    return build


async def test_a_sync_of_all_sources_and_one_of_a_single_one_are_told_apart(
    a_recorded_sync: Callable[..., RecordedSync], history: RedisSyncHistory, clock: Clock, pages: Path
) -> None:
    sync = a_recorded_sync(history)
    await sync.run()
    first = clock.now
    clock.moves(60)
    write(pages, "a/broken.md", b"# Gr\xfc\xdfe")
    write(pages, "a/new.md", "New.")
    await sync.run(source="a")
    a, b = (await history.read())["a"], (await history.read())["b"]
    assert (b.at, b.ok, b.alone, b.added) == (first, True, False, 2)
    assert (a.at, a.ok, a.alone, a.added, a.failed) == (clock.now, True, True, 1, 1)


async def test_a_source_that_cannot_be_listed_is_remembered_with_its_reason_and_the_others_as_well(
    a_recorded_sync: Callable[..., RecordedSync], history: RedisSyncHistory, pages: Path
) -> None:
    sync = a_recorded_sync(history)
    shutil.rmtree(pages / "b")
    await sync.run()
    records = await history.read()
    assert (records["a"].ok, records["b"].ok) == (True, False)
    assert records["b"].error
    with pytest.raises(FootnoteError) as refused:
        await sync.run(source="b")
    assert (await history.read())["b"].error == str(refused.value)
    assert (await history.read())["a"] == records["a"]


async def test_a_fault_is_remembered_without_its_words(
    a_recorded_sync: Callable[..., RecordedSync],
    history: RedisSyncHistory,
    embedder: HashEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def broken(*_: object) -> None:
        raise ValueError("secret text of a page")

    monkeypatch.setattr(embedder, "embed_documents", broken)
    with pytest.raises(ValueError, match="secret"):
        await a_recorded_sync(history).run()
    assert {name: record.error for name, record in (await history.read()).items()} == {
        "a": "ValueError",
        "b": "ValueError",
    }


async def test_a_dry_run_is_no_sync(
    a_recorded_sync: Callable[..., RecordedSync], history: RedisSyncHistory
) -> None:
    await a_recorded_sync(history).run(dry_run=True)
    assert await history.read() == {}


async def test_when_a_source_was_last_synced_well_is_remembered_while_it_fails(
    a_recorded_sync: Callable[..., RecordedSync], history: RedisSyncHistory, clock: Clock, pages: Path
) -> None:
    sync = a_recorded_sync(history)
    await sync.run()
    went_well = clock.now
    shutil.rmtree(pages / "b")
    for _ in range(2):
        clock.moves(60)
        await sync.run()
    a, b = (await history.read())["a"], (await history.read())["b"]
    assert (a.succeeded_at, a.failures) == (clock.now, 0)
    assert (b.succeeded_at, b.failures) == (went_well, 2)


async def test_a_store_that_is_away_does_not_fail_the_sync(
    a_recorded_sync: Callable[..., RecordedSync],
) -> None:
    class Away:
        async def read(self) -> None:
            raise StoreUnavailableError("away")

    report = await a_recorded_sync(Away()).run()
    assert report.added == ["one.md", "two.md"]


async def test_a_record_of_another_version_is_passed_over(redis: Redis, history: RedisSyncHistory) -> None:
    await redis.hset("t:syncs", mapping={"a": '{"when": "long ago"}'})
    assert await history.read() == {}


async def test_when_a_source_is_due_is_what_its_mark_has_left(redis: Redis) -> None:
    await redis.set("t:synced:a", "1", px=timedelta(hours=6))
    left = await due_in(redis, namespace="t", sources=["a", "b"])
    assert list(left) == ["a"]
    assert timedelta(hours=5, minutes=59) < left["a"] <= timedelta(hours=6)
