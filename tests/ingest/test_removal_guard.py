"""An ordinary sync of whatever kind takes no large part of a source out
by itself, and what its source limits goes at once.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import SyncRefusedError
from ingest.sources.confluence.source import ConfluenceSource
from ingest.sources.folder import FolderSource
from ingest.sync.history import RecordedSync
from ingest.sync.jobs import ReindexJobs
from ingest.sync.schedule import REQUESTED_BY
from ingest.sync.sync import Sync
from kb.config.settings import SourceSettings
from kb.config.sources import ConfluenceSettings
from kb.index.embedded.index import EdgeIndex
from kb.jobs import ReindexRequest, SyncRecord
from kb.retrieval.lexical import LexicalEncoder
from tests.fakes.confluence import Confluence, Page
from tests.fakes.embedder import HashEmbedder

from .conftest import Clock, write

Build = Callable[..., Sync]
HANDBOOK = 39
"""Pages of the sample handbook, of which 11 were once lost without a word."""


@pytest.fixture
async def sync(a_sync: Build, pages: Path) -> Sync:
    for number in range(HANDBOOK):
        write(pages, f"{'hr' if number < 11 else 'it'}/{number}.md", f"Page {number}.")
    sync = a_sync()
    await sync.run()
    return sync


async def test_a_plain_sync_keeps_a_large_part_that_is_gone_says_so_and_goes_on_with_the_rest(
    sync: Sync, pages: Path, index: EdgeIndex
) -> None:
    shutil.rmtree(pages / "hr")
    write(pages, "it/12.md", "Another text.")
    write(pages, "it/new.md", "New.")

    report = await sync.run()

    assert (await index.counts()).pages == HANDBOOK + 1
    assert (report.added, report.changed, report.removed) == (["it/new.md"], ["it/12.md"], [])
    (failure,) = report.failed
    assert failure.path == "handbook"
    assert "11 of the 39 indexed pages of source 'handbook' would be gone" in failure.reason
    assert "reindex handbook with --force" in failure.reason


@pytest.mark.parametrize("full", [False, True])
async def test_a_folder_that_was_renamed_takes_its_pages_along(
    sync: Sync, pages: Path, index: EdgeIndex, full: bool
) -> None:
    (pages / "hr").rename(pages / "people")
    told = await sync.run(full=full, dry_run=True)
    assert told.doubts == []

    report = await sync.run(full=full)

    assert (len(report.added), len(report.removed), report.failed) == (11, 11, [])
    assert (await index.counts()).pages == HANDBOOK


@pytest.mark.parametrize("full", [False, True])
async def test_force_removes_them_and_the_report_says_what_it_overruled(
    sync: Sync, pages: Path, index: EdgeIndex, full: bool
) -> None:
    shutil.rmtree(pages / "hr")

    report = await sync.run(source="handbook", full=full, force=True)

    assert (await index.counts()).pages == HANDBOOK - 11
    assert (len(report.removed), report.failed) == (11, [])
    assert report.doubts == ["11 of the 39 indexed pages of source 'handbook' would be gone"]


async def test_a_source_read_anew_in_place_is_guarded_as_well(
    sync: Sync, pages: Path, index: EdgeIndex
) -> None:
    shutil.rmtree(pages / "hr")

    report = await sync.run(source="handbook", full=True)

    assert (len(report.removed), report.failed[0].path) == (0, "handbook")
    assert (await index.counts()).pages == HANDBOOK


async def test_what_was_held_back_goes_by_itself_once_the_source_is_whole_again(
    sync: Sync, pages: Path, index: EdgeIndex
) -> None:
    (pages / "hr").rename(pages.parent / "away")
    await sync.run()
    (pages.parent / "away").rename(pages / "hr")
    (pages / "hr" / "1.md").unlink()

    report = await sync.run()

    assert (report.removed, report.failed, report.unchanged) == (["hr/1.md"], [], HANDBOOK - 1)


async def test_a_few_pages_go_without_a_word(sync: Sync, pages: Path) -> None:
    for number in range(7):  # less than a fifth of 39
        (pages / "hr" / f"{number}.md").unlink()

    report = await sync.run()

    assert (len(report.removed), report.failed, report.doubts) == (7, [], [])


@pytest.mark.parametrize("number", [1, 2, 3])
async def test_even_a_tiny_source_is_not_emptied_by_a_disk_that_is_not_mounted(
    a_sync: Build, pages: Path, index: EdgeIndex, number: int
) -> None:
    for at in range(number):
        write(pages, f"{at}.md", f"Page {at}.")
    await a_sync().run()
    shutil.rmtree(pages)
    with pytest.raises(SyncRefusedError, match="there is no folder"):
        await a_sync().run()
    pages.mkdir()
    write(pages, "lost+found/.keep", "")

    with pytest.raises(SyncRefusedError, match=r"lists no page.*with --force"):
        await a_sync().run()

    assert (await index.counts()).pages == number
    report = await a_sync().run(force=True)
    assert (len(report.removed), (await index.counts()).pages) == (number, 0)


async def test_the_loss_of_one_source_is_no_reason_to_leave_another_as_it_was(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    for at in range(10):
        write(pages, f"small/{at}.md", f"Small {at}.")
    for at in range(90):
        write(pages, f"large/{at}.md", f"Large {at}.")
    both = [SourceSettings(name=name, path=pages / name, git_dates=False) for name in ("small", "large")]
    await a_sync(*both).run()
    for at in range(8):  # 8% of all pages, 80% of this source's
        (pages / "small" / f"{at}.md").unlink()
    (pages / "large" / "1.md").unlink()

    report = await a_sync(*both).run()

    assert (report.removed, [one.path for one in report.failed]) == (["1.md"], ["small"])
    with pytest.raises(SyncRefusedError, match="8 of the 10 indexed pages of source 'small'"):
        await a_sync(*both).run(full=True)
    assert (await index.counts()).pages == 99


async def test_what_the_settings_exclude_goes_at_once_however_much_it_is(
    sync: Sync, a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    report = await a_sync(
        SourceSettings(name="handbook", path=pages, exclude=("hr/",), git_dates=False)
    ).run()

    assert (len(report.removed), report.failed, (await index.counts()).pages) == (11, [], HANDBOOK - 11)


async def test_pages_whose_readers_were_limited_go_even_where_others_are_held_back(
    sync: Sync, pages: Path, index: EdgeIndex
) -> None:
    shutil.rmtree(pages / "hr")
    for number in range(11, 25):
        write(pages, f"it/{number}.md", "---\naudience: []\n---\nSecret.")

    report = await sync.run()

    assert {one.path for one in report.failed} == {
        "handbook",
        *(f"it/{number}.md" for number in range(11, 25)),
    }
    assert {page for page in await index.revisions() if page.startswith("handbook:it/")} == {
        f"handbook:it/{number}.md" for number in range(25, HANDBOOK)
    }
    assert sum(page.startswith("handbook:hr/") for page in await index.revisions()) == 11


async def test_files_that_a_broken_disk_gives_back_empty_keep_their_text_and_one_emptied_page_does_not(
    sync: Sync, pages: Path, index: EdgeIndex
) -> None:
    write(pages, "hr/1.md", "")
    assert [one.reason for one in (await sync.run()).failed] == ["it has no text"]
    assert (await index.counts()).pages == HANDBOOK - 1

    for number in range(11, HANDBOOK):
        write(pages, f"it/{number}.md", " \n")
    report = await sync.run()

    assert (await index.counts()).pages == HANDBOOK - 1
    named = {one.path: one.reason for one in report.failed}
    assert (
        "28 of the 38 indexed pages of source 'handbook' would be gone, since they are empty"
        in named["handbook"]
    )
    assert named["it/12.md"] == "it has no text (its earlier text stays in the index)"
    await sync.run(force=True)
    assert (await index.counts()).pages == HANDBOOK - 1 - 28


@pytest.fixture
async def wiki() -> AsyncIterator[Confluence]:
    server = Confluence(cloud=False)
    server.add(
        *(Page(id=str(number), title=f"Page {number}", body=f"<p>{number}</p>") for number in range(1, 13))
    )
    async with server:
        yield server


@pytest.fixture
def a_wiki_sync(wiki: Confluence, a_sync: Build) -> Callable[[], Sync]:
    token = wiki.token

    async def sleep(_: float) -> None: ...

    def source() -> ConfluenceSource:
        settings = ConfluenceSettings(
            kind="confluence",
            name="wiki",
            url=wiki.url,
            edition="data_center",
            token=token,
            spaces=("ENG",),
        )  # type: ignore[arg-type]
        return ConfluenceSource(settings, sleep=sleep)

    return lambda: a_sync(sources=lambda: [source()])


async def test_pages_restricted_in_a_wiki_go_at_once_and_pages_that_a_token_no_longer_sees_do_not(
    wiki: Confluence, a_wiki_sync: Callable[[], Sync], index: EdgeIndex
) -> None:
    await a_wiki_sync().run()
    for number in range(1, 5):
        wiki.edit(str(number), groups=("board",))
    report = await a_wiki_sync().run()
    assert (len(report.removed), report.failed) == (4, [])

    for number in range(5, 11):
        del wiki.pages[str(number)]
    wiki.edit("11", groups=("board",))
    report = await a_wiki_sync().run()

    assert (report.removed, [one.path for one in report.failed]) == (["ENG/11"], ["wiki"])
    assert (await index.counts()).pages == 7
    wiki.pages.clear()
    with pytest.raises(SyncRefusedError, match="lists no page"):
        await a_wiki_sync().run()
    wiki.token = "another"
    with pytest.raises(SyncRefusedError, match="does not accept the credentials"):
        await a_wiki_sync().run()
    assert (await index.counts()).pages == 7


class Kept:
    """A history of this test."""

    def __init__(self) -> None:
        self.records: dict[str, SyncRecord] = {}

    async def write(self, records: Any) -> None:
        self.records.update(records)

    async def read(self) -> dict[str, SyncRecord]:
        return self.records


@pytest.mark.parametrize("asked_by", [REQUESTED_BY, "U1"])
async def test_a_sync_by_the_clock_or_by_command_is_guarded_and_leaves_its_failure_in_the_record(
    sync: Sync, pages: Path, index: EdgeIndex, clock: Clock, asked_by: str
) -> None:
    history = Kept()
    recorded = RecordedSync(
        history=history,
        clock=clock,
        index=index,
        embedder=HashEmbedder(),
        lexical=LexicalEncoder(),
        sources=lambda: [FolderSource(SourceSettings(name="handbook", path=pages, git_dates=False))],
    )
    shutil.rmtree(pages / "hr")

    request = ReindexRequest(requested_by=asked_by, source="handbook")
    last = [step async for step in ReindexJobs(recorded, clock=clock).reindex(request)][-1]

    assert last.phase == "done"
    assert last.report is not None
    assert last.report.failed[0].path == "handbook"
    error = history.records["handbook"].error
    assert error is not None
    assert "would be gone" in error
    assert (await index.counts()).pages == HANDBOOK
