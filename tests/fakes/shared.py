"""The development data, which is no part of the project: tests that need it are skipped where it is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("FOOTNOTE_SHARED") or Path(__file__).resolve().parents[3] / "shared")
MISSING = "the development data is not here: FOOTNOTE_SHARED names its folder"


def shared(path: str) -> Path:
    """The file or folder there; skips the test where it is missing."""
    found = SHARED / path
    if not found.exists():
        pytest.skip(f"{MISSING} ({path})")
    return found
