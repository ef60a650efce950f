"""What stands beside a shard's points: how it was made, and what was measured on it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kb.calibration import Calibration, from_text, to_text
from kb.errors import IndexDamagedError, IndexMismatchError, IndexUnavailableError
from kb.index.embedded.generations import MEND, write_atomically
from kb.index.payload import manifest_from_fields, manifest_to_fields
from kb.index.port import IndexManifest
from kb.runtime.faults import is_fault

MANIFEST = "manifest.json"
CALIBRATION = "calibration.json"
MB = 1024 * 1024
ROOM_TO_BEGIN = 256 * MB
"""The files of an empty generation, all of them sparse."""
ROOM_TO_OPEN = 32 * MB
"""What the engine touches of its sparse files before anything is written."""
ROOM_TO_DELETE = 4 * MB
ROOM_TO_WRITE = 64 * MB
"""The engine adds files of 32 MB, and others write to the same disk."""


def write_manifest(folder: Path, manifest: IndexManifest) -> None:
    write_atomically(folder / MANIFEST, json.dumps(manifest_to_fields(manifest), indent=2) + "\n")


def read_manifest(folder: Path) -> IndexManifest:
    """
    Raises:
        IndexDamagedError: it cannot be read.
    """
    try:
        return manifest_from_fields(json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
    except (OSError, ValueError, IndexMismatchError) as error:
        raise IndexDamagedError(
            f"the index in {folder} is damaged (its manifest cannot be read): {MEND}"
        ) from error


def write_calibration(folder: Path, calibration: Calibration) -> None:
    write_atomically(folder / CALIBRATION, to_text(calibration))


def read_calibration(folder: Path) -> Calibration | None:
    """Returns the calibration; None if it is missing or unreadable, in which case it is measured anew."""
    try:
        return from_text((folder / CALIBRATION).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def points_folder(folder: Path) -> Path:
    points = folder / "points"
    points.mkdir(exist_ok=True)
    return points


def require_room(folder: Path, wanted: int) -> None:
    """Requires disk space: without room for pages of its mapped sparse files the kernel ends the process.

    Raises:
        IndexUnavailableError: the disk has fewer than so many bytes left.
    """
    free = shutil.disk_usage(folder).free
    if free < wanted:
        raise IndexUnavailableError(
            f"the disk that holds {folder} has {free // MB} MB left and the index needs {wanted // MB} MB: "
            "make room there, or move the data folder (--data)"
        )


@contextmanager
def engine_failures(folder: Path) -> Iterator[None]:
    """Translates the engine's failures. Only engine calls stand inside: the engine raises bare `Exception` for
    everything or panics, so nothing narrower helps.
    """
    try:
        yield
    except BaseException as error:
        if not is_fault(error):
            raise
        raise IndexUnavailableError(f"the index in {folder} failed: {error}") from error
