"""Places a folder's Unix sockets: in the folder, or in a private one where that path is too long for a socket."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from pathlib import Path

from kb.errors import SettingsError

MAX_SOCKET_PATH = 100
"""Bytes. The kernel's limit is 108 on Linux and 104 on macOS, its closing zero included."""


def socket_path(folder: Path, name: str) -> Path:
    """Returns `folder/name`, or a path below the temporary folder, the same for the same folder. Makes nothing."""
    direct = folder / name
    if len(os.fsencode(direct)) <= MAX_SOCKET_PATH:
        return direct
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"footnote-{os.getuid()}-{digest}" / name


def make_private(folder: Path, *, itself: Path) -> None:
    """Makes the sockets' folder where it is not `itself`. In a shared place somebody may have made it before us.

    Raises:
        SettingsError: it is not ours alone, or its path is too long as well.
    """
    if folder == itself:
        return
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise SettingsError(
            f"{folder} is not private to this user; remove it, or choose a shorter data folder"
        )
    if len(os.fsencode(folder)) > MAX_SOCKET_PATH:
        raise SettingsError(
            f"{folder} is too long a path for a socket; choose a shorter data folder or TMPDIR"
        )
