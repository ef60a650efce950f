"""A process that syncs any source into an index and is killed in the middle."""

from __future__ import annotations

import asyncio
import multiprocessing
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ingest.sources.port import Source
from ingest.sources.web.source import WebsiteSource
from ingest.sync.sync import Sync
from kb.index.embedded.index import EdgeIndex
from kb.retrieval.lexical import LexicalEncoder
from tests.fakes.embedder import HashEmbedder

_FORKS = multiprocessing.get_context("forkserver")
"""Its server imports this module once: a process of its own takes two seconds for that."""
_FORKS.set_forkserver_preload([__name__])
STUCK = "embedding"


class _StuckEmbedder(HashEmbedder):
    def __init__(self, calls: int, caller: Connection) -> None:
        super().__init__()
        self._left = calls
        self._caller = caller

    async def embed_documents(self, texts):  # type: ignore[no-untyped-def]
        self._left -= 1
        if not self._left:
            self._caller.send(STUCK)
            await asyncio.Event().wait()
        return await super().embed_documents(texts)


async def killed_while_embedding(source: Source, kept: Path, index: Path, *, calls: int = 1) -> None:
    """Syncs the source in a process of its own, which is killed with -9 in the
    given call of its embedder. `kept`: the folder that the source keeps things in.
    """
    await source.close()
    told, caller = _FORKS.Pipe(duplex=False)
    opening = (type(source), source._settings, kept)  # type: ignore[attr-defined]
    process = _FORKS.Process(target=_run, args=(opening, index, calls, caller))
    process.start()
    caller.close()
    try:
        assert await asyncio.to_thread(told.recv) == STUCK
    finally:
        process.kill()
        await asyncio.to_thread(process.join)
        process.close()
        told.close()


def _run(opening: tuple[Any, Any, Path], index: Path, calls: int, caller: Connection) -> None:
    asyncio.run(
        Sync(
            index=EdgeIndex(index),
            embedder=_StuckEmbedder(calls, caller),
            lexical=LexicalEncoder(),
            sources=lambda: [_opened(*opening)],
            clock=lambda: datetime.now(UTC),
        ).run()
    )


def _opened(kind: Any, settings: Any, folder: Path) -> Source:
    if kind is WebsiteSource:
        return WebsiteSource(settings, folder, may_reach=lambda address: address == "127.0.0.1")
    takes_a_folder = "folder" in kind.__init__.__annotations__
    made: Any = kind(settings, folder) if takes_a_folder else kind(settings)
    return made
