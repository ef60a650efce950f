"""Large generations: their dense vectors are kept in 8 bits as well, a quarter of what a search reads otherwise.

Small ones stay as they are: a search of them is as fast, and quantizing takes a process, a minute and twice the disk.
So it is chosen by size, at the end of what wrote the generation. The copy is made in a folder that no generation has
the name of; until it is whole, all goes on with the one that there is, also after a kill of either process.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import time
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

from kb.index.embedded.generations import write_atomically
from kb.index.embedded.shard_files import MANIFEST, MB, ROOM_TO_WRITE
from kb.index.embedded.soundness import leave
from kb.runtime.own_module import module_command, module_environment

logger = logging.getLogger(__name__)

LARGE = 20_000_000
"""Numbers of dense vectors beyond which a generation is quantized, and of those that came since, quantized anew:
52,000 passages of 384, 26,000 of 768. A question's search takes 12 ms of a processor there, and 4 afterwards."""
PATIENCE_S = 3600.0
QUANTIZED = "quantized.txt"
"""File beside the points: how many there were when they were quantized."""


class _FailedError(Exception):
    pass


def is_due(folder: Path, *, points: int, dimension: int) -> bool:
    """Whether the generation in `folder`, of so many points, is to be quantized, or quantized anew."""
    try:
        quantized = int((folder / QUANTIZED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        quantized = 0
    return (points - quantized) * dimension > LARGE


async def quantize(source: Path, target: Path, *, dimension: int, points: int) -> bool:
    """Makes the folder `target` of the generation in `source`, which has so many points and has been left.

    False where that failed: there is no `target`, and the log says why. A cancelled call leaves none either.
    """
    started = time.perf_counter()
    about = {"generation": source.name, "passages": points}
    made = False
    try:
        _require_room(source)
        await asyncio.to_thread(_prepare, source, target)
        held = await _by_child(source / "points", target / "points", dimension)
        await asyncio.to_thread(_finish, target, points, held)
        made = True
    except (OSError, TimeoutError, _FailedError) as error:
        logger.warning("index.not_quantized", extra={**about, "cause": str(error) or type(error).__name__})
    finally:
        if not made:
            await asyncio.to_thread(shutil.rmtree, target, ignore_errors=True)
    if made:
        logger.info("index.quantized", extra={**about, "seconds": round(time.perf_counter() - started, 1)})
    return made


def _require_room(source: Path) -> None:
    """Requires disk space for the copy, and for what the engine makes of it before it removes that."""
    wanted = 2 * sum(file.stat().st_size for file in source.rglob("*") if file.is_file()) + ROOM_TO_WRITE
    free = shutil.disk_usage(source).free
    if free < wanted:
        raise _FailedError(f"{free // MB} MB of disk are left, {wanted // MB} MB are needed")


def _prepare(source: Path, target: Path) -> None:
    target.mkdir()
    shutil.copyfile(source / MANIFEST, target / MANIFEST)


def _finish(target: Path, points: int, held: str) -> None:
    """Marks the copy as complete if the child found all points in it (`held`)."""
    if held != str(points):
        raise _FailedError(f"the copy holds {held or 'nothing'}")
    write_atomically(target / QUANTIZED, f"{points}\n")
    leave(target, points=points)


async def _by_child(source: Path, target: Path, dimension: int) -> str:
    """Quantizes in a child process and returns what it prints."""
    process = await asyncio.create_subprocess_exec(
        *module_command("kb.index.embedded.quantizer", str(source), str(target), str(dimension)),
        env=module_environment(),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            told, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        last = errors.decode(errors="replace").strip().rpartition("\n")[2]
        raise _FailedError(f"its process ended with {process.returncode} {last}".strip())
    return told.decode().strip()
