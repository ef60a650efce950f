"""A process that syncs a folder into an index, for tests that kill it:
`syncing.py PAGES INDEX [--full] [--model] [--share REDIS_URL]`.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

from ingest.distributed.page_queue import PageJobQueue
from ingest.sources.folder import FolderSource
from ingest.sync.sync import Sync
from kb.config.settings import SourceSettings
from kb.index.embedded.index import EdgeIndex
from kb.retrieval.lexical import LexicalEncoder
from kb.store.valkey import connect_redis
from tests.fakes.embedder import HashEmbedder

PAUSE_S = 0.02
"""Between two calls of the embedder: a real one takes longer, and a kill must find the sync at work."""


class SlowEmbedder(HashEmbedder):
    async def embed_documents(self, texts):  # type: ignore[no-untyped-def]
        await asyncio.sleep(PAUSE_S)
        return await super().embed_documents(texts)


class OtherModel(SlowEmbedder):
    """One whose vectors fit into no index of the first."""

    dimension = 48

    def __init__(self) -> None:
        super().__init__(name="other")


async def sync_once(
    pages: Path, folder: Path, *, full: bool = False, share: str | None = None, other: bool = False
) -> None:
    """`share`: the Redis where workers of the namespace "t" are; `other`: with another model."""
    index = EdgeIndex(folder)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(index.close)
        queue = None
        if share is not None:
            queue = PageJobQueue(await stack.enter_async_context(connect_redis(share)), namespace="t")
            stack.push_async_callback(queue.close)
        embedder = OtherModel() if other else None
        await a_sync(pages, index, queue, embedder=embedder).run(full=full)


def a_sync(
    pages: Path,
    index: EdgeIndex,
    page_jobs: PageJobQueue | None = None,
    *,
    embedder: HashEmbedder | None = None,
) -> Sync:
    return Sync(
        index=index,
        embedder=embedder or SlowEmbedder(),
        lexical=LexicalEncoder(),
        sources=lambda: [FolderSource(SourceSettings(name="kb", path=pages, git_dates=False))],
        clock=lambda: datetime.now(UTC),
        page_jobs=page_jobs,
    )


if __name__ == "__main__":
    print("ready", flush=True)
    shared = sys.argv[sys.argv.index("--share") + 1] if "--share" in sys.argv else None
    pages, folder = map(Path, sys.argv[1:3])
    full, other = "--full" in sys.argv, "--model" in sys.argv
    asyncio.run(sync_once(pages, folder, full=full, share=shared, other=other))
