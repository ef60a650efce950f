"""What was limited, emptied or deleted at its source leaves the index, whatever else of the sync fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import PageError
from ingest.page import ParsedPage
from ingest.parsers.reader import DirectReader
from ingest.sources.folder import FolderSource
from ingest.sources.port import PageRef, RawPage
from ingest.sources.unopened import opened
from ingest.sync.jobs import DISK_FULL, ReindexJobs
from ingest.sync.sync import Sync
from kb.config.settings import SourceSettings
from kb.errors import EmbedderUnavailableError
from kb.index.embedded.index import EdgeIndex
from kb.jobs import ReindexRequest
from kb.models import Audience
from tests.fakes.documents import a_pdf
from tests.fakes.embedder import HashEmbedder

from .conftest import Clock, all_of, write
from .test_sync import found

Build = Callable[..., Sync]


def kind(error: object) -> str:
    return type(error).__name__


async def a_page_limited_meanwhile(a_sync: Build, pages: Path) -> None:
    """Sixteen pages and more were indexed; then all changed, one was
    limited, one emptied, one deleted, one is a draft now.
    """
    names = [f"page-{number:02}.md" for number in range(20)]
    for name in (*names, "pay.md", "empty.md", "gone.md", "draft.md"):
        write(pages, name, f"# {name}\n\nText of {name}.")
    await a_sync().run()
    for name in names:
        write(pages, name, f"# {name}\n\nBroken text of {name}.")
    write(pages, "pay.md", "---\naudience: ['#people-leads']\n---\n# Pay\n\nText of pay.md.")
    write(pages, "empty.md", "")
    write(pages, "draft.md", "---\ndraft: true\n---\n# Draft\n\nText.")
    (pages / "gone.md").unlink()


class Failing(HashEmbedder):
    """A model that cannot be loaded, or that fails when it is asked."""

    def __init__(self, error: BaseException, *, at_once: bool) -> None:
        super().__init__()
        self._error = error
        self._at_once = at_once

    async def ready(self) -> None:
        if self._at_once:
            raise self._error

    async def embed_documents(self, texts: Sequence[str]) -> Any:
        raise self._error


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize(
    "error",
    [EmbedderUnavailableError("it is away"), OSError(28, "No space left on device"), ZeroDivisionError()],
    ids=kind,
)
async def test_what_has_to_go_goes_although_embedding_fails(
    a_sync: Build, pages: Path, index: EdgeIndex, clock: Clock, error: Exception, at_once: bool, full: bool
) -> None:
    await a_page_limited_meanwhile(a_sync, pages)
    jobs = ReindexJobs(a_sync(embedder=Failing(error, at_once=at_once)), clock=clock)

    last = (await all_of(jobs, ReindexRequest(requested_by="U1", full=full)))[-1]

    assert last.phase == "failed"
    left = set(await found(index))
    assert len(left) == 20
    assert left.isdisjoint({"pay.md", "empty.md", "gone.md", "draft.md"})


@pytest.mark.parametrize("full", [False, True])
async def test_what_has_to_go_goes_although_nothing_can_be_written(
    a_sync: Build,
    pages: Path,
    index: EdgeIndex,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    full: bool,
) -> None:
    await a_page_limited_meanwhile(a_sync, pages)

    async def is_full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(index, "begin_rebuild" if full else "replace_pages", is_full)
    last = (await all_of(ReindexJobs(a_sync(), clock=clock), ReindexRequest(requested_by="U1", full=full)))[
        -1
    ]

    assert (last.phase, last.error) == ("failed", DISK_FULL)
    assert set(await found(index)).isdisjoint({"pay.md", "empty.md", "gone.md", "draft.md"})


@pytest.mark.parametrize(
    "error", [PageError("it makes the program that reads it crash"), OSError(12, "no memory")]
)
async def test_what_has_to_go_goes_although_no_page_can_be_parsed(
    a_sync: Build, pages: Path, index: EdgeIndex, error: Exception
) -> None:
    class Dead(DirectReader):
        async def read(self, content: bytes, *, path: str, media_type: str | None = None) -> ParsedPage:
            raise error

    await a_page_limited_meanwhile(a_sync, pages)

    report = await a_sync(reader=Dead()).run()

    assert len(report.failed) == 23
    assert set(await found(index)).isdisjoint({"pay.md", "gone.md", "draft.md"})


async def test_a_limited_page_that_is_edited_stays_for_its_readers_while_the_others_fail(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    limited = "---\naudience: ['#people-leads']\n---\n# Pay\n\n"
    write(pages, "pay.md", f"{limited}Band 3.")
    await a_sync().run()
    write(pages, "pay.md", f"{limited}Band 4.")

    with pytest.raises(EmbedderUnavailableError):
        await a_sync(embedder=Failing(EmbedderUnavailableError("away"), at_once=True)).run()

    leads = Audience(channels=frozenset({"#people-leads"}))
    assert await found(index, audience=leads) == {"pay.md": ["Band 3."]}
    assert await found(index) == {}


async def test_a_page_for_fewer_channels_than_before_leaves_those_that_lost_it(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    write(pages, "pay.md", "---\naudience: ['#leads', '#finance']\n---\n# Pay\n\nBand 3.")
    await a_sync().run()
    write(pages, "pay.md", "---\naudience: ['#leads']\n---\n# Pay\n\nBand 3.")

    with pytest.raises(EmbedderUnavailableError):
        await a_sync(embedder=Failing(EmbedderUnavailableError("away"), at_once=False)).run()

    assert await found(index, audience=Audience(channels=frozenset({"#finance"}))) == {}


async def test_pages_are_read_once_although_they_are_looked_at_first(a_sync: Build, pages: Path) -> None:
    read: list[str] = []

    class Counting(FolderSource):
        async def fetch(self, ref: PageRef) -> RawPage:
            read.append(ref.path)
            return await super().fetch(ref)

    write(pages, "a.md", "Alpha.")
    write(pages, "b.md", "Beta.")
    settings = SourceSettings(name="handbook", path=pages, git_dates=False)
    await a_sync(sources=lambda: [Counting(settings)]).run()
    write(pages, "a.md", "Alpha is new.")
    report = await a_sync(sources=lambda: [Counting(settings)]).run()

    assert report.changed == ["a.md"]
    assert read == ["a.md", "b.md", "a.md"]


async def test_a_page_that_cannot_be_had_is_asked_for_once_a_sync_and_once_again_in_the_next(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    asked: list[str] = []
    broken: set[str] = set()

    class Failing(FolderSource):
        async def fetch(self, ref: PageRef) -> RawPage:
            asked.append(ref.path)
            if ref.path in broken:
                raise PageError("the server says 500")
            return await super().fetch(ref)

    settings = SourceSettings(name="handbook", path=pages, git_dates=False)
    sync = a_sync(sources=lambda: [Failing(settings)])
    for name in ("down.md", "empty.md"):
        write(pages, name, f"# {name}\n\nText.")
    write(pages, "moved.html", "<p>Text.</p>")
    write(pages, "unread.pdf", a_pdf([[(12, "Text.")]]))
    assert (await sync.run()).failed == []
    broken.add("down.md")
    write(pages, "down.md", "# Down\n\nNew text.")
    write(pages, "unread.pdf", b"%PDF-1.7 cut")
    write(pages, "empty.md", "")
    write(pages, "moved.html", '<meta http-equiv="refresh" content="0; url=/new">')
    asked.clear()
    report = await sync.run()

    assert sorted(asked) == ["down.md", "empty.md", "moved.html", "unread.pdf"]
    assert {one.path for one in report.failed} == {"down.md", "empty.md", "unread.pdf"}
    assert report.removed == ["moved.html"]
    assert "down.md" in await found(index)
    broken.clear()
    asked.clear()
    report = await sync.run()
    assert (report.changed, asked.count("down.md")) == (["down.md"], 1)


async def test_the_front_matter_of_a_file_that_is_known_by_an_id_is_looked_at_by_its_name(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    class ById(FolderSource):
        async def fetch(self, ref: PageRef) -> RawPage:
            return replace(await super().fetch(ref), file_name="Pay.md", media_type=None)

    class Dead(DirectReader):
        async def read(self, content: bytes, *, path: str, media_type: str | None = None) -> ParsedPage:
            raise PageError("it makes the program that reads it crash")

    settings = SourceSettings(name="handbook", path=pages, git_dates=False, include=("*",))
    sources = lambda: [ById(settings)]  # noqa: E731
    write(pages, "1aB.x7", "# Pay\n\nBand 3.")
    await a_sync(sources=sources).run()
    assert set(await found(index)) == {"1aB.x7"}
    write(pages, "1aB.x7", "---\naudience: ['#leads']\n---\n# Pay\n\nBand 3.")
    await a_sync(sources=sources, reader=Dead()).run()

    assert await found(index) == {}


async def test_many_pages_that_are_empty_at_once_stay_although_the_sync_fails(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    for number in range(10):
        write(pages, f"page-{number}.md", f"Text {number}.")
    await a_sync().run()
    for number in range(6):
        write(pages, f"page-{number}.md", "")

    with pytest.raises(EmbedderUnavailableError):
        await a_sync(embedder=Failing(EmbedderUnavailableError("away"), at_once=True)).run()

    assert len(await found(index)) == 10


@pytest.mark.parametrize("full", [False, True])
async def test_a_source_for_fewer_readers_is_limited_although_it_cannot_be_listed(
    a_sync: Build, pages: Path, tmp_path: Path, index: EdgeIndex, clock: Clock, full: bool
) -> None:
    other = tmp_path / "other"
    write(pages, "pay.md", "Band 3.")
    write(other, "tea.md", "Tea at four.")
    names = SourceSettings(name="other", path=other, git_dates=False)
    open_to_all = SourceSettings(name="handbook", path=pages, git_dates=False)
    await a_sync(open_to_all, names).run()
    pages.rename(tmp_path / "away")
    limited = SourceSettings(name="handbook", path=pages, git_dates=False, audience=("#leads",))

    jobs = ReindexJobs(a_sync(limited, names), clock=clock)
    await all_of(jobs, ReindexRequest(requested_by="U1", full=full))

    assert set(await found(index)) == {"tea.md"}


async def test_a_source_that_cannot_be_opened_is_its_own_failure(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    write(pages, "a.md", "Alpha.")
    settings = SourceSettings(name="handbook", path=pages, git_dates=False)
    broken = SourceSettings(name="broken", path=pages, git_dates=False)

    def cannot() -> FolderSource:
        raise KeyError("a secret")

    report = await a_sync(sources=lambda: [opened(broken, cannot), FolderSource(settings)]).run()

    assert report.added == ["a.md"]
    assert [(one.path, "KeyError" in one.reason, "secret" in one.reason) for one in report.failed] == [
        ("broken", True, False)
    ]
