"""Ending a task that talks to Redis, and waiting a while for something to happen."""

from __future__ import annotations

import asyncio
from typing import Any

ASKED_AGAIN_S = 0.5
"""Seconds after which a task is asked once more to end."""


async def cancelled(task: asyncio.Task[Any]) -> None:
    """Cancels a task until it has ended: a client's time-out can swallow a cancellation during a command."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=ASKED_AGAIN_S)


async def happened(event: asyncio.Event, *, within_s: float) -> bool:
    """Waits for the event for at most so long; returns whether it is set."""
    try:
        async with asyncio.timeout(within_s):
            await event.wait()
    except TimeoutError:
        return False
    return True
