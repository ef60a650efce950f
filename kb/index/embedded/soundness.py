"""Whether the files of a generation are whole, so that a damaged one is reported as an outage and never as "not found".

The engine opens some damaged files with fewer points and without a word, and panics over others. So each
generation has a record of how it was left. Where its files are as they were left, nothing is looked at. Where
they are not (after kill -9, on a disk that was restored) they may not have become smaller, and a process of
its own looks at the points.
"""

from __future__ import annotations

import hashlib
import json
import logging
import subprocess
from collections.abc import Mapping
from pathlib import Path

from kb.errors import IndexDamagedError, IndexUnavailableError
from kb.index.embedded.generations import LEFT, MEND, write_atomically
from kb.runtime.own_module import module_command, module_environment

logger = logging.getLogger(__name__)

LOOK_S = 600.0
"""Seconds that the look may take; a million points take some of them."""

Files = Mapping[str, list[int]]
"""Path -> size in bytes, and when it was written in nanoseconds."""


def leave(folder: Path, *, points: int) -> None:
    """Records that the files hold so many points now, and how they are."""
    _record(folder, points, _files(folder))


def record_name(folder: Path) -> str:
    """Returns a name that changes with every write; "" while the number of points is unknown."""
    points, files = _left(folder)
    if points is None:
        return ""
    return hashlib.blake2b(json.dumps([points, files]).encode(), digest_size=16).hexdigest()


def begin_writing(folder: Path) -> None:
    """Records that nobody knows how many points there are until the generation is left again."""
    points, files = _left(folder)
    if points is not None:
        _record(folder, None, files)


def check(folder: Path) -> None:
    """Returns if the generation in `folder` can be opened and holds what it held when it was left.

    Raises:
        IndexDamagedError: it cannot, or does not. The engine must not touch it.
        IndexUnavailableError: it could not be looked at.
    """
    points, files = _left(folder)
    now = _files(folder)
    if points is not None and files == now:
        return
    smaller = [path for path, (size, _) in files.items() if _grows(path) and now.get(path, [0])[0] < size]
    if smaller:
        raise IndexDamagedError(
            f"the index in {folder} is damaged ({smaller[0]} is shorter than it was): {MEND}"
        )
    found = _look(folder)
    if points not in (None, found):
        raise IndexDamagedError(
            f"the index in {folder} is damaged ({found} passages are left of {points}): {MEND}"
        )


def _grows(path: str) -> bool:
    """Whether the engine only appends to a file; settings and journals it rewrites, and cuts off."""
    return path.startswith("points/segments/") and not path.endswith((".json", "_journal.dat"))


def _record(folder: Path, points: int | None, files: Files) -> None:
    write_atomically(folder / LEFT, json.dumps({"points": points, "files": files}))


def _left(folder: Path) -> tuple[int | None, Files]:
    """Returns what was recorded; (None, {}) for a generation of an earlier version, or half a record."""
    try:
        record = json.loads((folder / LEFT).read_text(encoding="utf-8"))
        return record["points"], record["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return None, {}


def _files(folder: Path) -> Files:
    found = {}
    for path in sorted((folder / "points").rglob("*")):
        if path.is_file():
            status = path.stat()
            found[str(path.relative_to(folder))] = [status.st_size, status.st_mtime_ns]
    return found


def _look(folder: Path) -> int:
    try:
        looked = subprocess.run(
            module_command("kb.index.embedded.survey", str(folder / "points")),
            env=module_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LOOK_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise IndexUnavailableError(f"the index in {folder} cannot be looked at: {error}") from error
    if looked.returncode or not looked.stdout.strip().isdigit():
        logger.error("index.damaged", extra={"folder": str(folder), "code": looked.returncode})
        logger.debug("index.damage", extra={"told": looked.stderr})
        raise IndexDamagedError(f"the index in {folder} is damaged (it cannot be opened or read): {MEND}")
    return int(looked.stdout)
