"""An office whose bot has the real pipeline, over a real index of a few pages; only the embedder is a stand-in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from redis.asyncio import Redis

from bot.cli.evaluation.scratch import open_scratch
from bot.playground import SlackLimits
from kb.config.model_settings import RerankSettings
from kb.config.settings import Settings
from kb.config.sources import FolderSettings
from tests.fakes.embedder import HashEmbedder
from tests.fakes.office import Office, open_office


class Words(HashEmbedder):
    embed_queries = HashEmbedder.embed_documents


@asynccontextmanager
async def knowing_office(
    redis: Redis,
    limits: SlackLimits,
    folder: Path,
    pages: Mapping[str, str],
    *,
    embedder: Words | None = None,
) -> AsyncIterator[Office]:
    """`pages`: file name -> Markdown; written to `folder`, which must not be there yet."""
    folder.mkdir()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    source = FolderSettings(name="kb", path=folder, base_url="https://kb.example", git_dates=False)
    settings = Settings(rerank=RerankSettings(model="off"))
    embedder = embedder or Words(max_tokens=200)
    async with (
        open_scratch(settings, [source], embedder=embedder) as scratch,  # type: ignore[arg-type]
        open_office(redis, limits, pipeline=scratch.pipeline) as office,
    ):
        yield office
