"""The data folder is for its owner alone: it holds what people asked, and pages that are limited to some readers.

Only a folder that is ours is made so: one that was empty when we came, or holds
nothing but what we put there. It is known by a marker from then on. Somebody's home,
named as the data folder by mistake, stays as it is, and `footnote doctor` says so.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

MARKER = "footnote-data.txt"
_TOLD = "This folder is Footnote's own. It is kept private (0700), with everything in it: put nothing else here.\n"
_OURS = frozenset(
    {
        MARKER,
        "lock",
        "owner.json",
        "owner.json.new",
        "footnote.sock",
        "index",
        "valkey",
        "uploads",
        "sources",
        "sources.json",
        "evaluation",
        "migration.json",
        "restoring",
        "restored",
        "restored-footnote.toml",
        "playground",
        "playground-history.json",
    }
)
"""What a data folder of ours holds; a folder of an earlier version has no marker."""
_OTHERS = 0o077
_PRIVATE_UMASK = 0o077


class Umask:
    """While it is set, new files of this process and of the programs that it starts are for its user alone."""

    def __init__(self) -> None:
        self._before: int | None = None
        self._wanted = 0

    def set(self) -> None:
        self._wanted += 1
        if self._before is None:
            self._before = os.umask(_PRIVATE_UMASK)

    def reset(self) -> None:
        """Restores the previous umask, once the last user of this one is done."""
        self._wanted -= 1
        if self._before is not None and not self._wanted:
            os.umask(self._before)
            self._before = None

    @property
    def of_user(self) -> int:
        """As it was: for files that are not ours, such as a checkout that is pulled. -1: as it is."""
        return -1 if self._before is None else self._before


umask = Umask()
"""The process has one umask."""


def is_ours(folder: Path) -> bool:
    """Tells whether a folder, which need not be there, is or may become ours alone."""
    if (folder / MARKER).is_file():
        return True
    if folder in (Path.home(), Path("/"), Path.cwd(), Path(tempfile.gettempdir()).resolve()):
        return False
    return not folder.exists() or {entry.name for entry in folder.iterdir()} <= _OURS


def keep_private(folder: Path) -> list[Path]:
    """Makes the folder, which is ours, and what is in it private; links are left alone.

    Returns what stays open to others, since it belongs to another user.
    """
    marker = folder / MARKER
    if not marker.exists():
        marker.write_text(_TOLD, encoding="utf-8")
    return [path for path in (folder, *_within(folder)) if not _made_private(path)]


def open_to_others(folder: Path) -> bool:
    """Tells whether others may look into the folder."""
    return bool(folder.stat().st_mode & _OTHERS)


def _within(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield Path(parent, name)


def _made_private(path: Path) -> bool:
    """Makes a file private; one that vanishes meanwhile does not matter."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode) or not mode & _OTHERS:
            return True
        path.chmod(stat.S_IMODE(mode) & ~_OTHERS)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
