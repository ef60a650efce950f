"""Writes what `--json` asks for: to stdout for programs, or to a file for a later comparison."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def print_json(value: object) -> None:
    """What JSON has no form for (a time, a path) is told as text."""
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2, default=str)
    sys.stdout.write("\n")


def write_json(file: Path, value: object) -> None:
    file.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
