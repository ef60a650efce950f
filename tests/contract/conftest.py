"""What every vector index does. Two engines pass the same suite: Qdrant Edge in a folder, and a Qdrant server.

`QDRANT_URL` (and `QDRANT_API_KEY`) names a real one, on which collections of names that nobody has are made
and dropped;
without it, a server of `tests.fakes.qdrant_server` in strict mode takes its place.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from uuid import uuid4

import pytest
from qdrant_client import AsyncQdrantClient

from kb.index.embedded.index import EdgeIndex
from kb.index.port import (
    IndexManifest,
    VectorIndex,
)
from kb.index.server.index import ServerIndex
from tests.contract.indexes import (
    MANIFEST,
    STRICT,
    MakeIndex,
)
from tests.fakes.qdrant_server import QdrantServer


@pytest.fixture
async def served() -> AsyncIterator[Callable[..., ServerIndex]]:
    """Makes indexes on one server: `served(manifest, name="kb",
    **options)`. Indexes of one name share their collections.
    """
    url, key = os.environ.get("QDRANT_URL"), os.environ.get("QDRANT_API_KEY")
    fake = QdrantServer(strict=STRICT)
    if url is None:
        await fake.start()
    client = AsyncQdrantClient(url=url or fake.url, api_key=key, timeout=20, check_compatibility=False)
    unique = f"footnote-test-{uuid4().hex[:12]}"

    def make(manifest: IndexManifest | None = None, *, name: str = "kb", **options: object) -> ServerIndex:
        return ServerIndex(client, f"{unique}-{name}", manifest=manifest, **options)

    yield make
    if url is not None:
        for one in (await client.get_collections()).collections:
            if one.name.startswith(unique):
                await client.delete_collection(one.name)
    await client.close()
    await fake.stop()


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[MakeIndex]:
    """Makes indexes in one folder."""
    made: list[EdgeIndex] = []

    def make(manifest: IndexManifest | None) -> VectorIndex:
        made.append(EdgeIndex(tmp_path / "index", manifest=manifest))
        return made[-1]

    yield make
    for index in made:
        await index.close()


@pytest.fixture(params=["edge", "server"])
def make_index(request: pytest.FixtureRequest) -> MakeIndex:
    """The server is started for its own half alone."""
    make: MakeIndex = request.getfixturevalue({"edge": "embedded", "server": "served"}[request.param])
    return make


@pytest.fixture
async def index(make_index: MakeIndex) -> VectorIndex:
    return make_index(MANIFEST)
