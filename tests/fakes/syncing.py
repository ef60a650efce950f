"""A process that syncs a folder into an index, for tests that kill it: `syncing.py PAGES INDEX`."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path

from ingest.sources.folder import FolderSource
from ingest.sync import Sync
from kb.index.edge import EdgeIndex
from kb.lexical import LexicalEncoder
from kb.settings import SourceSettings
from kb.text.language import detect
from tests.fakes.embedder import HashEmbedder

PAUSE_S = 0.02
"""Between two calls of the embedder: a real one takes longer, and a kill must find the sync at work."""


class SlowEmbedder(HashEmbedder):
    async def embed_documents(self, texts):  # type: ignore[no-untyped-def]
        await asyncio.sleep(PAUSE_S)
        return await super().embed_documents(texts)


async def sync_once(pages: Path, folder: Path, *, full: bool = False) -> None:
    index = EdgeIndex(folder)
    try:
        await a_sync(pages, index).run(full=full)
    finally:
        await index.close()


def a_sync(pages: Path, index: EdgeIndex) -> Sync:
    return Sync(
        index=index,
        embedder=SlowEmbedder(),
        lexical=LexicalEncoder(),
        detect_language=detect,
        sources=lambda: [FolderSource(SourceSettings(name="kb", path=pages, git_dates=False))],
        clock=lambda: datetime.now(UTC),
    )


if __name__ == "__main__":
    print("ready", flush=True)
    asyncio.run(sync_once(Path(sys.argv[1]), Path(sys.argv[2]), full="--full" in sys.argv))
