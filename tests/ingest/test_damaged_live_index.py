"""A sync whose live index has damaged files: the next run over all sources rebuilds it, and nothing else touches it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from ingest.errors import SyncRefusedError
from ingest.sync.sync import Sync
from kb.errors import IndexDamagedError
from kb.index.embedded.index import EdgeIndex

from .conftest import write

Build = Callable[..., Sync]


@pytest.fixture
async def damaged(a_sync: Build, pages: Path, index: EdgeIndex) -> AsyncIterator[EdgeIndex]:
    """The index of two pages, opened again after one of its files was cut in half."""
    write(pages, "a.md", "# A\nAlpha.")
    write(pages, "b.md", "# B\nBeta.")
    await a_sync().run()
    await index.close()
    folder = pages.parent / "index"
    (tracker,) = folder.rglob("mutable_id_tracker.mappings")
    os.truncate(tracker, tracker.stat().st_size // 2)
    opened = EdgeIndex(folder)
    yield opened
    await opened.close()


@pytest.mark.parametrize("full", [True, False])
async def test_a_run_over_all_sources_rebuilds_it(a_sync: Build, damaged: EdgeIndex, full: bool) -> None:
    with pytest.raises(IndexDamagedError):
        await damaged.counts()
    report = await a_sync(index=damaged).run(full=full)
    assert sorted(report.added) == ["a.md", "b.md"]
    assert (await damaged.counts()).pages == 2


async def test_a_run_over_one_source_says_what_to_do(a_sync: Build, damaged: EdgeIndex) -> None:
    with pytest.raises(IndexDamagedError, match="footnote reindex --full"):
        await a_sync(index=damaged).run(source="handbook")


async def test_it_is_rebuilt_from_no_source_that_cannot_be_read(
    a_sync: Build, damaged: EdgeIndex, pages: Path
) -> None:
    pages.rename(pages.with_name("away"))
    with pytest.raises(SyncRefusedError):
        await a_sync(index=damaged).run()
    with pytest.raises(IndexDamagedError):
        await damaged.counts()
