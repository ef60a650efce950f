"""Faults: what a library or our own code raises and nobody meant. They are told to people in a
sentence, and to the log by where they happened: an exception's own text may hold words of a page.
"""

from __future__ import annotations

import errno
import sqlite3
import traceback
from pathlib import Path

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FULL_IN_SQLITE = ("SQLITE_FULL", "SQLITE_IOERR_WRITE")


def is_fault(error: BaseException) -> bool:
    """Whether it is no order to stop. A panic of a library in Rust is no `Exception`, and no order either."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def is_disk_full(error: BaseException) -> bool:
    """Whether a disk that is full (or a limit on files) is what it, or what caused it, says."""
    return any(
        (isinstance(one, OSError) and one.errno in _FULL)
        or (isinstance(one, sqlite3.Error) and getattr(one, "sqlite_errorname", "") in _FULL_IN_SQLITE)
        or "no space left on device" in str(one).lower()
        for one in _with_causes(error)
    )


def trace_of(error: BaseException) -> list[str]:
    """The traceback without any text: kinds of errors and places in code, what caused it first."""
    lines: list[str] = []
    for one in reversed(_with_causes(error)):
        frames = traceback.extract_tb(one.__traceback__)
        lines += [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
        lines.append(type(one).__name__)
    return lines


def _with_causes(error: BaseException) -> list[BaseException]:
    """An error that is raised again may be its own cause."""
    found: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and all(one is not before for before in found):
        found.append(one)
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
    return found
