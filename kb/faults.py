"""Faults: what a library or our own code raises and nobody meant. They are told to people in a sentence, and to the log by where
they happened: an exception's own text may hold words of a page.
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
    causes: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in causes:
        causes.append(one)
        one = one.__cause__ or one.__context__
    return any(
        (isinstance(cause, OSError) and cause.errno in _FULL)
        or (isinstance(cause, sqlite3.Error) and getattr(cause, "sqlite_errorname", "") in _FULL_IN_SQLITE)
        or "no space left on device" in str(cause).lower()
        for cause in causes
    )


def trace_of(error: BaseException) -> list[str]:
    """The traceback without any text: kinds of errors and places in code, what caused it first."""
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    before = trace_of(cause) if cause is not None and cause is not error else []
    frames = traceback.extract_tb(error.__traceback__)
    return [
        *before,
        *(f"{Path(one.filename).name}:{one.lineno} {one.name}" for one in frames),
        type(error).__name__,
    ]
