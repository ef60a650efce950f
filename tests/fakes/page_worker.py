"""A worker's process without a model, for tests that kill it: `page_worker.py REDIS_URL NAMESPACE [IDLE_EXIT_S]`."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict

from ingest.crew.lane import PageLane
from ingest.crew.worker import PageWorker
from ingest.pipeline import PagePipeline
from kb.index.port import IndexManifest
from kb.lexical import LexicalEncoder
from kb.text.language import detect
from kb.valkey import connect_redis
from tests.fakes.syncing import SlowEmbedder


async def pipeline_for(wanted: IndexManifest) -> PagePipeline:
    assert wanted.embedder == SlowEmbedder().name
    return PagePipeline(embedder=SlowEmbedder(), lexical=LexicalEncoder(), detect_language=detect)


async def work(url: str, namespace: str, idle_exit_s: float | None) -> None:
    async with connect_redis(url) as redis:
        lane = PageLane(redis, namespace=namespace)
        print("ready", flush=True)
        did = await PageWorker(lane, pipeline_for=pipeline_for).run(asyncio.Event(), idle_exit_s=idle_exit_s)
        await lane.close()
    print(json.dumps(asdict(did)), flush=True)


if __name__ == "__main__":
    url, namespace, *idle = sys.argv[1:]
    asyncio.run(work(url, namespace, float(idle[0]) if idle else None))
