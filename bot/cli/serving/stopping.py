"""Stops a serving process on a signal: it ends by itself and gives back the questions that it has begun."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any

from kb.runtime.tasks import cancelled


def stop_requested() -> asyncio.Event:
    """Returns an event that SIGINT and SIGTERM set. A container's first process ignores signals that it has no handler
    for.
    """
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    return stopped


async def done_before(stopped: asyncio.Event, work: Coroutine[Any, Any, None]) -> bool:
    """Returns whether the work was done before we were told to stop, which ends it. Raises what the work raises."""
    working, stopping = asyncio.create_task(work), asyncio.create_task(stopped.wait())
    try:
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
        return working.done()
    finally:
        await cancelled(working)
        await cancelled(stopping)
