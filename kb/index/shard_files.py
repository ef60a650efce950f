"""What stands beside a shard's points: how it was made, and what was measured on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kb.calibration import Calibration, from_text, to_text
from kb.errors import IndexMismatchError, IndexUnavailableError
from kb.index.generations import write_atomically
from kb.index.payload import manifest_from_fields, manifest_to_fields
from kb.index.port import IndexManifest

MANIFEST = "manifest.json"
CALIBRATION = "calibration.json"


def write_manifest(folder: Path, manifest: IndexManifest) -> None:
    write_atomically(folder / MANIFEST, json.dumps(manifest_to_fields(manifest), indent=2) + "\n")


def read_manifest(folder: Path) -> IndexManifest:
    """
    Raises:
        IndexMismatchError: it cannot be read.
    """
    try:
        fields = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise IndexMismatchError(f"{folder} has no readable manifest: reindex in full") from error
    return manifest_from_fields(fields)


def write_calibration(folder: Path, calibration: Calibration) -> None:
    write_atomically(folder / CALIBRATION, to_text(calibration))


def read_calibration(folder: Path) -> Calibration | None:
    """None where there is none, or none that can be read: it is then measured anew."""
    try:
        return from_text((folder / CALIBRATION).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def points_folder(folder: Path) -> Path:
    points = folder / "points"
    points.mkdir(exist_ok=True)
    return points


@contextmanager
def engine_failures(folder: Path) -> Iterator[None]:
    """Only engine calls stand inside: the engine raises bare `Exception` for everything, so nothing narrower helps."""
    try:
        yield
    except Exception as error:
        raise IndexUnavailableError(f"the index in {folder} failed: {error}") from error
