"""Builds a source from its settings. Loads no libraries of kinds that are not configured."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from pathlib import Path

from ingest.sources.port import Source
from kb.config.sources import AnySourceSettings


def open_source(settings: AnySourceSettings, folder: Path) -> Source:
    """Opens a source, which keeps clones and what it remembers in `folder`; all of that may be deleted."""
    name = f"ingest.sources.{settings.reader}"
    reader: Callable[[AnySourceSettings, Path], Source] = pkgutil.resolve_name(name)
    return reader(settings, folder)
