"""Looks at the points of a generation, in a process of its own, since damaged files may crash it.

python -m kb.index.embedded.survey FOLDER    prints how many points there are; exits with another code than 0 if they
are damaged
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

import qdrant_edge as engine

from kb.index.fields import AUDIENCE, DENSE, PAGE_ID

BATCH = 2000
SAMPLED = 2000
"""Points whose vectors are read: from all over, since ids are hashes. A
million points are looked at in some seconds.
"""


class DamagedError(Exception):
    pass


def survey(points: Path) -> int:
    """Counts the points, and checks that each has its payload and that the indexes of the fields agree with them.

    Raises:
        DamagedError: some are not. The engine raises `Exception` besides, or panics.
    """
    for file in points.rglob("*.json"):
        json.loads(file.read_bytes())
    shard = engine.EdgeShard.load(str(points))
    fields = sorted(shard.info().payload_schema)
    if not {AUDIENCE, PAGE_ID} <= set(fields):
        raise DamagedError("the indexes of its fields are gone")
    counted, values = _read(shard, fields)
    if counted != shard.count(engine.CountRequest(exact=True)):
        raise DamagedError("the points that are listed are not those that are counted")
    for field in fields:
        hits = shard.facet(
            engine.FacetRequest(field, limit=len(values[field]) + counted + 1, exact=True)
        ).hits
        if {str(hit.value): hit.count for hit in hits if hit.count} != values[field]:
            raise DamagedError(f"the index of {field} is not what the points hold")
    _read_vectors(shard)
    return counted


def _read(shard: engine.EdgeShard, fields: list[str]) -> tuple[int, dict[str, Counter[str]]]:
    """Counts the points, and by field how many have each value."""
    values: dict[str, Counter[str]] = defaultdict(Counter)
    counted, offset = 0, None
    while True:
        request = engine.ScrollRequest(offset=offset, limit=BATCH, with_payload=fields)
        records, offset = shard.scroll(request)
        counted += len(records)
        for record in records:
            if not record.payload:
                raise DamagedError("a point has no payload")
            for field in fields:
                held = record.payload.get(field)
                values[field].update(
                    {
                        str(value)
                        for value in (held if isinstance(held, list) else [held])
                        if value is not None
                    }
                )
        if offset is None:
            return counted, values


def _read_vectors(shard: engine.EdgeShard) -> None:
    records, _ = shard.scroll(engine.ScrollRequest(limit=SAMPLED, with_payload=True, with_vector=True))
    for record in records:
        vectors = record.vector
        dense = vectors.get(DENSE) if isinstance(vectors, dict) else None
        if not isinstance(dense, list) or not any(dense):
            raise DamagedError("a point has no vector")


if __name__ == "__main__":
    sys.stdout.write(f"{survey(Path(sys.argv[1]))}\n")
