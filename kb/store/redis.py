"""The store, Valkey or Redis, as its users share it: its failures, replies and time spans, and this process's name."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

from redis.exceptions import OutOfMemoryError, RedisError

from kb.errors import StoreFullError, StoreUnavailableError

STORE_FAILURES: Final = (RedisError, OSError)
"""What a client raises when the server does not answer or cannot write. `OSError` covers `TimeoutError`."""


FULL: Final = "its memory is full, so that it takes nothing new: raise its `maxmemory`"


@contextmanager
def store_failures(message: str) -> Iterator[None]:
    """Translates a failure of the store to `StoreUnavailableError(message)`, with the client's own as its cause."""
    try:
        yield
    except OutOfMemoryError as error:
        raise StoreFullError(f"{message}: {FULL}") from error
    except STORE_FAILURES as error:
        raise StoreUnavailableError(message) from error


def text_of(value: bytes | str) -> str:
    """Returns a reply as text: a client gives bytes, or text when it was asked to decode."""
    return value.decode() if isinstance(value, bytes) else value


def milliseconds(span: timedelta) -> int:
    """Returns whole milliseconds, rounded down: what a script takes where a command takes the span itself."""
    return span // timedelta(milliseconds=1)


def process_name() -> str:
    """Names this process among those that share the store, in its keys and in the log: `host-pid-hex`.

    The last part differs at each call: a container that starts again has the host's name and the pid of the one before.
    """
    return f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
