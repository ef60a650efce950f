"""A process that parses one file after the other: `python -m ingest.parsers.worker MEMORY_BYTES`.

It reads requests from its standard input and writes replies to its standard output until the input ends, which it does when
whoever started it dies. It opens no file that a document names, writes none, and knows neither settings nor secrets.
"""

from __future__ import annotations

import os
import resource
import sys
import traceback
from pathlib import Path
from typing import BinaryIO

from ingest.errors import PageError
from ingest.parsers.formats import parse_file
from ingest.parsers.wire import LENGTH_BYTES, Broken, Parsed, Refused, Task, frame

_FRAMES = 5
"""Innermost frames of a failure that are reported."""


def main() -> None:
    memory = int(sys.argv[1])
    requests, replies = sys.stdin.buffer, _own_output()
    _limit(memory)
    replies.write(frame(b"ready"))
    replies.flush()
    while (head := _read(requests)) is not None:
        content = _read(requests)
        if content is None:
            return
        reply = _reply(Task.model_validate_json(head), content)
        replies.write(frame(reply.model_dump_json().encode()))
        replies.flush()


def _own_output() -> BinaryIO:
    """The pipe to the pool, for us alone: what a converter prints must not end up between two replies."""
    replies = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return replies


def _limit(memory: int) -> None:
    """Address space, files that could be written (none), core dumps (none). A system that does not know one goes without."""
    for kind, limit in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.setrlimit(kind, (limit, limit))
        except (ValueError, OSError):
            continue


def _reply(task: Task, content: bytes) -> Parsed | Refused | Broken:
    try:
        return Parsed(page=parse_file(content, path=task.path, media_type=task.media_type))
    except PageError as error:
        return Refused(reason=error.reason, withdraw=error.withdraw, left_out=error.left_out)
    except MemoryError:
        return Refused(reason="it needs too much memory to be read: split it, or save it with fewer pictures")
    except Exception as error:  # noqa: BLE001 (the edge of this process: whatever a parser raises is told to the pool)
        frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
        where = tuple(f"{Path(one.filename).name}:{one.lineno} {one.name}" for one in frames)
        return Broken(error=type(error).__name__, where=where)


def _read(stream: BinaryIO) -> bytes | None:
    """One frame; None at the end of the stream."""
    head = stream.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    length = int.from_bytes(head)
    content = stream.read(length)
    return content if len(content) == length else None


if __name__ == "__main__":
    main()
