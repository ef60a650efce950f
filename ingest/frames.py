"""Frames, which go between us and processes of our own: a length and its bytes. And how such a process begins.

It imports little: each of them starts with it.
"""

from __future__ import annotations

import gc
import os
import resource
import sys
from typing import BinaryIO

LENGTH_BYTES = 8
"""Bytes of the unsigned big-endian number before each frame."""
GIVES_WAY = 10
"""Niceness: a tenth of a processor that a question wants, all of one that is free. As much as embedding has."""
COLLECTED_AFTER = (20_000, 20, 20)
"""Objects, and rounds, between two looks for cycles: a page makes thousands of objects and few cycles. As often
as Python looks by itself, it is a tenth of the time of parsing.
"""


def frame(content: bytes) -> bytes:
    return len(content).to_bytes(LENGTH_BYTES) + content


def read_frame(stream: BinaryIO) -> bytes | None:
    """None at the end of the stream."""
    head = stream.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    length = int.from_bytes(head)
    content = stream.read(length)
    return content if len(content) == length else None


def begin() -> tuple[BinaryIO, BinaryIO]:
    """In the process itself: its bounds, then where requests come from and where replies go."""
    requests, replies = sys.stdin.buffer, _own_output()
    os.nice(GIVES_WAY)
    gc.freeze()
    gc.set_threshold(*COLLECTED_AFTER)
    _limit(int(sys.argv[1]))
    replies.write(frame(b"ready"))
    replies.flush()
    return requests, replies


def _own_output() -> BinaryIO:
    """The pipe to the pool, for us alone: what a converter prints must not end up between two replies."""
    replies = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return replies


def _limit(memory: int) -> None:
    """Address space, files that could be written (none), core dumps
    (none). A system that does not know one goes without.
    """
    for kind, limit in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.setrlimit(kind, (limit, limit))
        except (ValueError, OSError):
            continue
