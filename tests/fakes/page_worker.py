"""A worker's process without a model, for tests that kill it and for the
bench: `page_worker.py REDIS_URL NAMESPACE [--fast]`.

Told to stop, it says what it did. `--fast`: the embedder takes no time.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from dataclasses import asdict

from ingest.distributed.page_queue import PageJobQueue
from ingest.distributed.worker import PageWorker
from ingest.pipeline import PagePipeline
from kb.index.port import IndexManifest
from kb.retrieval.lexical import LexicalEncoder
from kb.store.valkey import connect_redis
from kb.text.language import warm_up
from tests.fakes.embedder import HashEmbedder
from tests.fakes.syncing import SlowEmbedder


async def pipeline_for(wanted: IndexManifest) -> PagePipeline:
    embedder = HashEmbedder() if "--fast" in sys.argv else SlowEmbedder()
    assert wanted.embedder == embedder.name
    await asyncio.to_thread(warm_up)
    return PagePipeline(embedder=embedder, lexical=LexicalEncoder())


async def work(url: str, namespace: str) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with connect_redis(url) as redis:
        queue = PageJobQueue(redis, namespace=namespace)
        print("ready", flush=True)
        did = await PageWorker(queue, pipeline_for=pipeline_for).run(stop)
        await queue.close()
    print(json.dumps(asdict(did)), flush=True)


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], sys.argv[2]))
