"""A folder of pages, an index and a sync over them, without a model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ingest.sources.folder import FolderSource
from ingest.sync.sync import Sync
from kb.config.settings import SourceSettings
from kb.index.embedded.index import EdgeIndex
from kb.jobs import Reindexer, ReindexProgress, ReindexRequest
from kb.retrieval.lexical import LexicalEncoder
from tests.fakes.embedder import HashEmbedder

REQUEST = ReindexRequest(requested_by="U1")


class Clock:
    """Stands still unless a test moves it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 8, 22, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def moves(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    folder.mkdir()
    return folder


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EdgeIndex]:
    index = EdgeIndex(tmp_path / "index")
    yield index
    await index.close()


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture
def a_sync(index: EdgeIndex, embedder: HashEmbedder, clock: Clock, pages: Path) -> Callable[..., Sync]:
    """Builds a sync over `pages`, or over the sources given by their settings."""

    def build(*sources: SourceSettings, **changed: object) -> Sync:
        settings = sources or (SourceSettings(name="handbook", path=pages, git_dates=False),)
        parts = {
            "index": index,
            "embedder": embedder,
            "lexical": LexicalEncoder(),
            "sources": lambda: [FolderSource(source) for source in settings],
            "clock": clock,
        }
        return Sync(**{**parts, **changed})  # type: ignore[arg-type]

    return build


def write(folder: Path, path: str, text: str | bytes) -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


async def all_of(jobs: Reindexer, request: ReindexRequest = REQUEST) -> list[ReindexProgress]:
    return [step async for step in jobs.reindex(request)]
