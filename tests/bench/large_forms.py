"""How a large index can be kept, for `tests.bench.large_index`; each is made of the plain one in a process of its own.

python -m tests.bench.large_forms FROM TO FORM    folders of generations
"""

from __future__ import annotations

import json
import resource
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import qdrant_edge as engine

from kb.index.embedded.shard import Shard
from kb.index.embedded.shard_files import MANIFEST, read_manifest
from kb.index.embedded.shard_words import ShardWords
from kb.index.embedded.soundness import leave
from kb.index.embedded.vectors import quantized_config
from kb.index.fields import DENSE, LEXICAL

PLAIN = "plain"
COLD = engine.Memory.Cold


def _form(
    *, int8: bool = False, graph: bool = False, cold: bool = False, parts: int = 1
) -> Callable[[int], engine.EdgeConfig]:
    """`cold`: dense vectors, terms and payloads stay on the disk, and only 8-bit vectors, if any, are in memory."""

    def config(dimension: int) -> engine.EdgeConfig:
        return engine.EdgeConfig(
            vectors={
                DENSE: engine.EdgeVectorParams(
                    size=dimension, distance=engine.Distance.Cosine, memory=COLD if cold else None
                )
            },
            sparse_vectors={
                LEXICAL: engine.EdgeSparseVectorParams(
                    modifier=engine.Modifier.Idf, memory=COLD if cold else None
                )
            },
            hnsw_config=engine.HnswIndexConfig(
                m=16 if graph else 0, ef_construct=100, full_scan_threshold=10_000, max_indexing_threads=2
            ),
            quantization_config=engine.ScalarQuantizationConfig(
                engine.ScalarType.Int8, quantile=0.99, memory=engine.Memory.Pinned
            )
            if int8
            else None,
            payload_memory=COLD if cold else None,
            optimizers=engine.EdgeOptimizersConfig(
                default_segment_number=parts,
                indexing_threshold=1,
                max_segment_size=100_000_000 if parts == 1 else None,
            ),
        )

    return config


FORMS: Mapping[str, Callable[[int], engine.EdgeConfig]] = {
    "quantized": quantized_config,
    "quantized-2": _form(int8=True, parts=2),
    "quantized-warm": _form(int8=True),
    "cold": _form(cold=True),
    "graph": _form(graph=True),
    "graph-quantized": _form(graph=True, int8=True),
    "graph-quantized-cold": _form(graph=True, int8=True, cold=True),
}


def anonymous_mb(pid: int | str) -> float:
    """MB of a process that no file is behind; 0 where the system does not tell."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon"))


def make(source: Path, target: Path, form: str) -> dict[str, float]:
    target.mkdir(parents=True)
    shutil.copyfile(source / MANIFEST, target / MANIFEST)
    dimension = read_manifest(source).dimension
    started, cpu = time.perf_counter(), time.process_time()
    shutil.copytree(source / "points", target / "points")
    shard = engine.EdgeShard.load(str(target / "points"), FORMS[form](dimension))
    shard.optimize()
    shard.flush()
    points, segments = shard.count(engine.CountRequest(exact=True)), shard.info().segments_count
    shard.close()
    leave(target, points=points)
    Shard.load(target, ShardWords.load(source)).close()  # with the counts of words, as the product has it
    files = [file.stat() for file in (target / "points").rglob("*") if file.is_file()]
    return {
        "seconds": time.perf_counter() - started,
        "cpu_s": time.process_time() - cpu,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "segments": segments,
        "disk_mb": sum(one.st_blocks * 512 for one in files) / 2**20,
    }


if __name__ == "__main__":
    print(json.dumps(make(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])))
