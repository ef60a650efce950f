"""Ending a task that talks to Redis."""

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
