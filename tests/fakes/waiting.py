"""Waiting for what another task or process brings about."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable


async def until(
    condition: Callable[[], object | Awaitable[object]], *, seconds: float = 20, pause: float = 0.005
) -> None:
    """Returns once the condition, which may be async, holds. It is looked at every `pause` seconds.

    Raises:
        TimeoutError: it still does not after `seconds`.
    """
    async with asyncio.timeout(seconds):
        while True:
            outcome = condition()
            if await outcome if inspect.isawaitable(outcome) else outcome:
                return
            await asyncio.sleep(pause)
