"""Runs a module of ours in a process of its own: this very code's, whatever `kb` the working folder holds."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import kb


def module_command(module: str, *arguments: str) -> list[str]:
    """Returns the command that runs a module of this installation; to be started with `module_environment`."""
    return [sys.executable, "-P", "-m", module, *arguments]


def module_environment() -> Mapping[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(kb.__file__).parents[1])}
