"""How a collection on a Qdrant server is laid out when it is made: shards, replicas, what it says of itself."""

from __future__ import annotations

from dataclasses import dataclass

from qdrant_client import AsyncQdrantClient, models

from kb.index.fields import DENSE, LEXICAL
from kb.index.payload import manifest_to_fields
from kb.index.port import IndexManifest
from kb.index.server.calls import asked

COPY = "copy"
"""The key of a collection's metadata with the label of the copy that it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """Shards and replicas of collections made from now on; None: as the server is set."""

    shard_number: int | None = None
    replication_factor: int | None = None
    write_consistency_factor: int | None = None


async def create(
    client: AsyncQdrantClient,
    name: str,
    manifest: IndexManifest,
    layout: Layout,
    *,
    copy_of: str | None = None,
) -> None:
    """
    Raises:
        IndexUnavailableError: the server does not make it, or has one of this name.
    """
    await asked(
        f"creating collection {name}",
        lambda: client.create_collection(
            name,
            vectors_config={
                DENSE: models.VectorParams(size=manifest.dimension, distance=models.Distance.COSINE)
            },
            sparse_vectors_config={LEXICAL: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            shard_number=layout.shard_number,
            replication_factor=layout.replication_factor,
            write_consistency_factor=layout.write_consistency_factor,
            metadata=manifest_to_fields(manifest) | ({COPY: copy_of} if copy_of else {}),
        ),
        for_s=0,  # a retry would find it there already
    )
