"""`footnote worker`: a process that parses and embeds pages of the bot's running sync."""

from __future__ import annotations

import asyncio
import json
import os
import time
from contextlib import AsyncExitStack
from dataclasses import asdict

import typer
from rich.console import Console

from bot.cli.serving.stopping import stop_requested
from ingest.distributed.page_queue import PageJobQueue
from ingest.distributed.worker import PageWorker, WorkDone
from ingest.parsers.pool import ReaderPool
from ingest.pipeline import PagePipeline
from kb.config.settings import Settings
from kb.errors import SettingsError
from kb.index.port import IndexManifest
from kb.inference.embedder import Embedder
from kb.retrieval.lexical import LexicalEncoder
from kb.runtime.loop_watch import LoopWatch
from kb.store.valkey import connect_redis
from kb.text.language import warm_up

console = Console(stderr=True)

GIVES_WAY = 10
"""Niceness: on the bot's own machine, questions come first."""


async def worker(settings: Settings, *, idle_exit_s: float | None, as_json: bool) -> int:
    """Works until it is told to stop; the pages in hand are finished first.

    Raises:
        SettingsError: no Redis is configured.
        StoreUnavailableError: it does not answer.
        IndexMismatchError: the bot's index is made with another embedder.
    """
    if settings.store.redis_url is None:
        raise SettingsError(
            "a worker meets the bot in Redis, and none is configured: set REDIS_URL (or store.redis_url) for both"
        )
    os.nice(GIVES_WAY)
    started = time.monotonic()
    async with AsyncExitStack() as stack:
        redis = connect_redis(settings.store.redis_url.get_secret_value())
        stack.push_async_callback(redis.aclose)
        page_jobs = PageJobQueue(redis, namespace=settings.store.namespace)
        stack.push_async_callback(page_jobs.close)
        await stack.enter_async_context(LoopWatch())
        reader = ReaderPool()
        stack.push_async_callback(reader.close)

        async def pipeline_for(wanted: IndexManifest) -> PagePipeline:
            """Builds the pipeline in the precision of the bot's index, where the settings leave it open."""
            embedder = Embedder(settings.embed, like=wanted.embedder)
            stack.callback(embedder.close)
            await asyncio.gather(embedder.ready(), asyncio.to_thread(warm_up))
            console.print("The worker is ready. (Ctrl+C stops it)")
            return PagePipeline(embedder=embedder.background, lexical=LexicalEncoder(), reader=reader)

        await (
            page_jobs.wanted()
        )  # a Redis that cannot be reached at the start is a mistake; later it is waited for
        console.print("Waiting for a sync to share…")
        did = await PageWorker(page_jobs, pipeline_for=pipeline_for).run(
            stop_requested(), idle_exit_s=idle_exit_s
        )
    _show(did, seconds=time.monotonic() - started, as_json=as_json)
    return 0


def _show(did: WorkDone, *, seconds: float, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(asdict(did) | {"seconds": round(seconds, 3)}))
    else:
        console.print(
            f"{did.pages} pages made ready ({did.chunks} passages), {did.failed} failed, in {seconds:.1f} s"
        )
