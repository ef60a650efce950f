"""One page never stops a source, one source never stops a sync, and what has to go goes whatever else fails."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ingest.page import ParsedPage
from ingest.parsers.reader import DirectReader
from ingest.sources.folder import FolderSource
from ingest.sources.port import PageRef, RawPage
from ingest.sync.jobs import ReindexJobs
from ingest.sync.sync import Sync
from kb.config.settings import SourceSettings
from kb.index.embedded.index import EdgeIndex
from kb.jobs import FailedPage
from tests.fakes.embedder import HashEmbedder

from .conftest import Clock, all_of, write
from .test_sync import found

Build = Callable[..., Sync]


class PanicException(BaseException):
    """As pyo3 raises where Rust panics: no `Exception`."""


FAULTS = [
    ValueError("secret"), RecursionError("secret"), UnicodeError("secret"), MemoryError("secret"), KeyError("secret"),
    OSError(5, "secret"), StopIteration("secret"), PanicException("secret"),
]  # fmt: skip


def kind(error: object) -> str:
    return type(error).__name__


class Breaking(FolderSource):
    """A folder whose pages of these names break it."""

    def __init__(self, folder: Path, error: BaseException, *, name: str = "handbook", at: str = "") -> None:
        super().__init__(SourceSettings(name=name, path=folder, git_dates=False))
        self._error = error
        self._at = at

    async def discover(self) -> AsyncIterator[PageRef]:
        async for ref in super().discover():
            yield ref
        if self._at == "discover":
            raise self._error

    async def fetch(self, ref: PageRef) -> RawPage:
        if ref.path.startswith("bad"):
            raise self._error
        return await super().fetch(ref)

    def withdraws(self, path: str) -> bool:
        if self._at == "withdraws":
            raise self._error
        return super().withdraws(path)

    async def close(self) -> None:
        if self._at == "close":
            raise self._error


class BreakingReader(DirectReader):
    def __init__(self, error: BaseException) -> None:
        self._error = error

    async def read(self, content: bytes, *, path: str, media_type: str | None = None) -> ParsedPage:
        if path.startswith("bad"):
            raise self._error
        return await super().read(content, path=path, media_type=media_type)


class BreakingEmbedder(HashEmbedder):
    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self._error = error

    async def embed_documents(self, texts: Sequence[str]) -> Any:
        if any("Broken" in text for text in texts):
            raise self._error
        return await super().embed_documents(texts)


@pytest.mark.parametrize("error", FAULTS, ids=kind)
@pytest.mark.parametrize("where", ["source", "reader", "embedder", "index"])
async def test_whatever_a_page_raises_is_its_own_failure(
    a_sync: Build,
    pages: Path,
    index: EdgeIndex,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: BaseException,
    where: str,
) -> None:
    for name in ("a.md", "bad.md", "c.md"):
        write(pages, name, f"# {name}\n{'Broken' if name == 'bad.md' else 'Fine'} text of {name}.")
    parts: dict[str, object] = {
        "source": {"sources": lambda: [Breaking(pages, error)]},
        "reader": {"reader": BreakingReader(error)},
        "embedder": {"embedder": BreakingEmbedder(error)},
        "index": {},
    }[where]  # type: ignore[assignment]
    if where == "index":
        really = index.replace_pages

        async def replace(found: Any) -> None:
            if "handbook:bad.md" in found:
                raise error
            await really(found)

        monkeypatch.setattr(index, "replace_pages", replace)

    with caplog.at_level(logging.INFO):
        report = await a_sync(**parts).run()  # type: ignore[arg-type]

    assert report.added == ["a.md", "c.md"]
    assert [one.path for one in report.failed] == ["bad.md"]
    assert "secret" not in report.failed[0].reason
    assert "secret" not in str([vars(one) for one in caplog.records])
    broke = [one for one in caplog.records if one.getMessage() == "page.broke"]
    assert any(".py:" in line for line in broke[0].trace)  # type: ignore[attr-defined]
    assert set(await found(index)) == {"a.md", "c.md"}


@pytest.mark.parametrize("field", ["superseded_by", "replaces", "redirect_from", "canonical", "url"])
@pytest.mark.parametrize(
    "written", ["http://[x", "//[::1", "http://℀.com", "http://x:99999/", "\\ud800", "../" * 3000, "%00"]
)
async def test_an_address_in_front_matter_that_is_none_stops_nothing(
    a_sync: Build, pages: Path, index: EdgeIndex, field: str, written: str
) -> None:
    write(pages, "bad.md", f'---\n{field}: "{written}"\n---\n# Bad page\n\nSome text.')
    write(pages, "good.md", "# Good page\n\nThe canteen opens at noon.")

    report = await a_sync().run()

    assert "good.md" in report.added
    assert {one.path for one in report.failed} <= {"bad.md"}


@pytest.mark.parametrize("error", FAULTS, ids=kind)
@pytest.mark.parametrize("at", ["discover", "withdraws"])
async def test_whatever_a_source_raises_is_its_own_failure_and_keeps_its_pages(
    a_sync: Build, tmp_path: Path, index: EdgeIndex, error: BaseException, at: str
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    write(one, "a.md", "Alpha.")
    write(one, "gone.md", "Gone.")
    write(other, "b.md", "Beta.")
    sound = [SourceSettings(name=name, path=tmp_path / name, git_dates=False) for name in ("one", "other")]
    await a_sync(*sound).run()
    (one / "gone.md").unlink()
    write(other, "b.md", "Beta is new.")

    def sources() -> list[FolderSource]:
        return [Breaking(one, error, name="one", at=at), FolderSource(sound[1])]

    report = await a_sync(sources=sources).run()

    assert report.changed == ["b.md"]
    assert [failure.path for failure in report.failed] == ["one"]
    assert report.failed[0].reason.startswith("source 'one': it cannot be listed: ")
    assert set(await found(index)) == {"a.md", "gone.md", "b.md"}


async def test_a_source_that_breaks_while_it_is_closed_changes_nothing(a_sync: Build, pages: Path) -> None:
    write(pages, "a.md", "Alpha.")

    report = await a_sync(sources=lambda: [Breaking(pages, KeyError("x"), at="close")]).run()

    assert (report.added, report.failed) == (["a.md"], [])


async def test_an_index_that_breaks_over_every_page_ends_the_sync_as_a_failure(
    a_sync: Build, pages: Path, index: EdgeIndex, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(pages, "a.md", "Alpha.")
    write(pages, "b.md", "Beta.")

    async def broken(_: object) -> None:
        raise PanicException("no text of a page")

    monkeypatch.setattr(index, "replace_pages", broken)
    last = (await all_of(ReindexJobs(a_sync(), clock=clock)))[-1]

    assert (last.phase, last.error) == ("failed", "a fault; see the log")


async def test_a_failure_of_one_page_says_what_is_wrong_in_a_sentence(a_sync: Build, pages: Path) -> None:
    write(pages, "bad.md", "# Bad\nText.")
    said = {}
    for error in (
        RecursionError(),
        MemoryError(),
        UnicodeDecodeError("utf-8", b"x", 0, 1, "secret"),
        KeyError("k"),
    ):
        report = await a_sync(reader=BreakingReader(error)).run()
        said[kind(error)] = report.failed

    assert said["RecursionError"] == [
        FailedPage(path="bad.md", reason="it is nested too deeply to be read: save it in a plainer form")
    ]
    assert "too much memory" in said["MemoryError"][0].reason
    assert "save it as UTF-8" in said["UnicodeDecodeError"][0].reason
    assert said["KeyError"][0].reason == "it broke the parser (KeyError); the log says where"
