"""Runs work after the acknowledgement: Slack does not wait for it, and the process ends after it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

logger = logging.getLogger(__name__)


class Background:
    """Tasks that somebody keeps: asyncio itself would let them vanish."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None], *, name: str) -> None:
        """Starts work that nobody awaits. `name`: what the log calls it, e.g. "feedback"."""
        task = asyncio.create_task(self._watched(work, name), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def drain(self, *, grace_s: float) -> None:
        """Waits for what is under way, `grace_s` seconds at most, then cancels it."""
        if not self._tasks:
            return
        _, late = await asyncio.wait(set(self._tasks), timeout=grace_s)
        for task in late:
            task.cancel()
        if late:
            logger.warning("background.cut_off", extra={"works": sorted(task.get_name() for task in late)})
            await asyncio.gather(*late, return_exceptions=True)

    async def _watched(self, work: Coroutine[Any, Any, None], name: str) -> None:
        try:
            await work
        except Exception:  # the process edge of this work: nobody awaits it
            logger.exception("background.broke", extra={"work": name})
