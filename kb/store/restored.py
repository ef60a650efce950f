"""A data folder that is put back from a backup changes at one moment: what is restored
is made ready beside what there is, and one rename says that it counts. A process that
dies before it leaves the old state; after it, the next owner carries it through.

    FOLDER/restoring/    being made ready; of no use where its maker died
    FOLDER/restored/     counts: `put` goes into the folder, and what `gone.json` names leaves it
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

STAGING = "restoring"
DECIDED = "restored"
_PUT = "put"
_GONE = "gone.json"


def begin(folder: Path) -> Path:
    """Makes an empty folder in which everything gets the name that it will have in `folder`."""
    abandon(folder)
    put = folder / STAGING / _PUT
    put.mkdir(parents=True, mode=0o700)
    return put


def decide(folder: Path, *, gone: Iterable[str]) -> None:
    """Replaces what has the names of what was made ready, and removes `gone`; survives a power cut."""
    (folder / STAGING / _GONE).write_text(json.dumps(sorted(gone)), encoding="utf-8")
    os.sync()
    (folder / STAGING).rename(folder / DECIDED)
    _sync(folder)
    finish(folder)


def finish(folder: Path) -> None:
    """Completes what was decided, from wherever it was cut off; does nothing where nothing was."""
    decided = folder / DECIDED
    if not decided.is_dir():
        return
    if (decided / _GONE).exists():
        for name in json.loads((decided / _GONE).read_text(encoding="utf-8")):
            _remove(folder / name)
        for entry in sorted((decided / _PUT).iterdir()):
            _remove(folder / entry.name)
            entry.rename(folder / entry.name)
        _sync(folder)
        (decided / _GONE).unlink()
    shutil.rmtree(decided)


def abandon(folder: Path) -> None:
    """Removes what a restore that died has left. The caller owns the folder."""
    shutil.rmtree(folder / STAGING, ignore_errors=True)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
