"""A process that syncs any source into an index and is killed in the middle: `syncing_source.py SOURCE INDEX CALLS`.

`SOURCE` is a file with the pickled class, settings and folder of the source. The embedder's call of that
number never ends.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ingest.sources.port import Source
from ingest.sources.web.source import WebsiteSource
from ingest.sync.sync import Sync
from kb.index.embedded.index import EdgeIndex
from kb.retrieval.lexical import LexicalEncoder
from tests.fakes.embedder import HashEmbedder

ROOT = Path(__file__).parents[2]
STUCK = b"embedding\n"


class _StuckEmbedder(HashEmbedder):
    def __init__(self, calls: int) -> None:
        super().__init__()
        self._left = calls

    async def embed_documents(self, texts):  # type: ignore[no-untyped-def]
        self._left -= 1
        if not self._left:
            sys.stdout.buffer.write(STUCK)
            sys.stdout.flush()
            await asyncio.Event().wait()
        return await super().embed_documents(texts)


async def killed_while_embedding(source: Source, kept: Path, index: Path, *, calls: int = 1) -> None:
    """Syncs the source in a process of its own, which is killed with -9 in the
    given call of its embedder. `kept`: the folder that the source keeps things in.
    """
    file = index.with_suffix(".source")
    file.write_bytes(pickle.dumps((type(source), source._settings, kept)))  # type: ignore[attr-defined]
    await source.close()
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(Path(__file__)), str(file), str(index), str(calls),
        stdout=asyncio.subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert process.stdout is not None
    try:
        assert await process.stdout.readline() == STUCK
    finally:
        process.kill()
        await process.wait()


def _opened(file: Path) -> Source:
    kind, settings, folder = pickle.loads(file.read_bytes())
    if kind is WebsiteSource:
        return WebsiteSource(settings, folder, may_reach=lambda address: address == "127.0.0.1")
    takes_a_folder = "folder" in kind.__init__.__annotations__
    made: Any = kind(settings, folder) if takes_a_folder else kind(settings)
    return made


async def _sync(file: Path, index: Path, calls: int) -> None:
    await Sync(
        index=EdgeIndex(index),
        embedder=_StuckEmbedder(calls),
        lexical=LexicalEncoder(),
        sources=lambda: [_opened(file)],
        clock=lambda: datetime.now(UTC),
    ).run()


if __name__ == "__main__":
    asyncio.run(_sync(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
