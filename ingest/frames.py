"""Frames (a length and its bytes) between this process and its child processes, and how such a process begins.

Imports little: every child process starts with it.
"""

from __future__ import annotations

import gc
import os
import resource
import sys
from contextlib import suppress
from typing import BinaryIO

LENGTH_BYTES = 8
"""Bytes of the unsigned big-endian number before each frame."""
NICENESS = 10
"""Gives a tenth of a processor that a question wants, all of one that is free. Embedding has the same."""
GC_THRESHOLDS = (20_000, 20, 20)
"""A page makes thousands of objects and few cycles: with Python's own thresholds, collecting takes a tenth of the time
of parsing.
"""


def frame(content: bytes) -> bytes:
    return len(content).to_bytes(LENGTH_BYTES) + content


def read_frame(stream: BinaryIO) -> bytes | None:
    """Reads the next frame; None at the end of the stream."""
    head = stream.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    length = int.from_bytes(head)
    content = stream.read(length)
    return content if len(content) == length else None


def begin() -> tuple[BinaryIO, BinaryIO]:
    """Limits this process; returns the stream of its requests and that of its replies."""
    requests, replies = sys.stdin.buffer, _own_output()
    os.nice(NICENESS)
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    _limit(int(sys.argv[1]))
    replies.write(frame(b"ready"))
    replies.flush()
    return requests, replies


def _own_output() -> BinaryIO:
    """Takes the pipe to the pool away from standard output: a converter's prints must not end up between replies."""
    replies = os.fdopen(os.dup(1), "wb")
    devnull = os.open(os.devnull, os.O_RDWR)
    os.dup2(devnull, 1)
    os.dup2(devnull, 2)
    return replies


def _limit(memory: int) -> None:
    """Limits address space, written files (none) and core dumps (none), as far as the system can."""
    for kind, limit in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (limit, limit))
