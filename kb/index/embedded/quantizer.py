"""A copy of a generation's points whose dense vectors are there in 8 bits as well, made in a process of its own: the
engine holds Python's lock for the minute that it takes.

python -m kb.index.embedded.quantizer FROM TO DIMENSION

FROM is a folder of points, TO does not exist. Prints how many points TO has then; another exit code than 0: none.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import qdrant_edge as engine

from kb.index.embedded.vectors import quantized_config

NICENESS = 10
"""As what embeds for a sync: questions go first."""


def main(source: Path, target: Path, dimension: int) -> int:
    os.nice(NICENESS)
    with suppress(OSError):  # where memory is short, this process is the one to go; Linux alone has the file
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="utf-8")
    parent = os.getppid()
    shutil.copytree(source, target)
    if os.getppid() != parent:
        raise SystemExit("nobody waits for it any more")
    shard = engine.EdgeShard.load(str(target), quantized_config(dimension))
    shard.optimize()
    shard.flush()
    points: int = shard.count(engine.CountRequest(exact=True))
    shard.close()
    os.sync()  # what the engine left as it was copied too
    return points


if __name__ == "__main__":
    sys.stdout.write(f"{main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))}\n")
