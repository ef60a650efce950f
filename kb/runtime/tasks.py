"""Ending a task that talks to Redis, and waiting a while for something to happen."""

from __future__ import annotations

import asyncio
from typing import Any

ASKED_AGAIN_S = 0.5
"""Seconds after which a task is asked once more to end."""


async def cancelled(task: asyncio.Task[Any]) -> None:
    """Cancels until it has ended: a cancellation in the middle of a command can be lost in the client's time-out."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=ASKED_AGAIN_S)


async def happened(event: asyncio.Event, *, within_s: float) -> bool:
    """Waits for the event for so long at most; whether it is set."""
    try:
        async with asyncio.timeout(within_s):
            await event.wait()
    except TimeoutError:
        return False
    return True
