"""Recognizes faults: errors that a library or our own code raises unintentionally.

People read a sentence about them. The log says where they happened: an exception's own text may hold words of a page.
"""

from __future__ import annotations

import errno
import sqlite3
import traceback
from pathlib import Path

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FULL_IN_SQLITE = ("SQLITE_FULL", "SQLITE_IOERR_WRITE")


def is_fault(error: BaseException) -> bool:
    """Tells whether an error is no order to stop. A panic of a library in Rust is a fault, though no `Exception`."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def is_disk_full(error: BaseException) -> bool:
    """Tells whether an error, or its cause, is a full disk (or a limit on files)."""
    return any(
        (isinstance(cause, OSError) and cause.errno in _FULL)
        or (isinstance(cause, sqlite3.Error) and getattr(cause, "sqlite_errorname", "") in _FULL_IN_SQLITE)
        or "no space left on device" in str(cause).lower()
        for cause in _with_causes(error)
    )


def trace_of(error: BaseException) -> list[str]:
    """Returns the traceback without any text: kinds of errors and places in code, what caused it first."""
    lines: list[str] = []
    for cause in reversed(_with_causes(error)):
        frames = traceback.extract_tb(cause.__traceback__)
        lines += [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
        lines.append(type(cause).__name__)
    return lines


def _with_causes(error: BaseException) -> list[BaseException]:
    """Returns the error and its causes, each once: an error that is raised again may be its own cause."""
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and all(cause is not before for before in causes):
        causes.append(cause)
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return causes
