"""A bot prepares for its first questions; an index that is down meanwhile is for the questions to tell."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.cli.composition.runtime import open_runtime
from kb.config.settings import Settings
from kb.errors import IndexUnavailableError


class Down:
    async def warm(self) -> None:
        raise IndexUnavailableError("no connection")


async def test_an_outage_while_the_bot_prepares_is_noted_and_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_runtime(Settings(data=tmp_path / "data"), "serve", models=False) as runtime:
        down: Any = Down()
        with caplog.at_level(logging.WARNING):
            await replace(
                runtime,
                pipeline=replace(
                    runtime.pipeline, retriever=replace(runtime.pipeline.retriever, searcher=down)
                ),
            ).warm()
    (noted,) = [record for record in caplog.records if record.msg == "search.not_warm"]
    assert noted.__dict__["cause"] == "no connection"
