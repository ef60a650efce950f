"""What the health check of a container asks of the bot, twice a minute and with however many pages."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from bot.cli.administration.index import status
from bot.cli.composition.runtime import open_runtime
from bot.cli.session.control import control_socket
from bot.cli.session.local import LocalSession
from kb.config.settings import Settings
from kb.index.port import VectorIndex


class CountingIndex:
    """Hands everything on to the index, and counts how often the pages' revisions are read."""

    def __init__(self, index: VectorIndex) -> None:
        self._index = index
        self.revisions_read = 0

    async def revisions(self) -> Mapping[str, str]:
        self.revisions_read += 1
        return await self._index.revisions()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "data")


@pytest.fixture
async def index(settings: Settings) -> AsyncIterator[CountingIndex]:
    """The index of a bot that runs on an empty data folder, with the sample handbook as its source."""
    async with open_runtime(settings, "serve", models=False) as runtime:
        index = CountingIndex(runtime.index)
        runtime.sources.add_sample()
        session = LocalSession(replace(runtime, index=cast(VectorIndex, index)))
        async with control_socket(session, runtime.folder.socket):
            yield index


async def test_the_health_check_reads_no_page_of_the_index(index: CountingIndex, settings: Settings) -> None:
    assert await status(settings, as_json=False, quiet=True) == 0
    assert index.revisions_read == 0


async def test_the_full_status_tells_how_each_source_stands(
    index: CountingIndex, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await status(settings, as_json=True, quiet=False) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["status"] == "ok"
    assert [(one["name"], one["pages"]) for one in told["syncs"]] == [("handbook", 0)]
    assert index.revisions_read == 1
