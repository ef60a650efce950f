"""Extends Bolt's app: it can be drained, and gives messages that speak to us priority in a flood.

When it is stopped, what it has begun to handle ends first, and nothing else begins. In a flood what
speaks to us does not wait behind what may not be for us (`bot.listening.prefilter`). What is not begun
is not acknowledged (503), so Slack sends it again, to another bot or to this one a little later.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from slack_bolt import BoltResponse
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest

from bot.listening.prefilter import Prefilter
from kb.errors import UnavailableError
from kb.runtime.tasks import happened
from kb.text.unicode import well_formed_value

logger = logging.getLogger(__name__)

AT_ONCE = 32
"""Requests of one queue that Bolt handles at once: as many as there are connections to Redis. Were it hundreds, some
would wait for one until they failed, for a connection goes to whoever asks when it is given back."""
MOST_WAITING = 500
LONGEST_WAIT_S = 2.0
"""Slack waits for three seconds."""


class DispatchQueueFullError(UnavailableError):
    """Too many requests are being handled for this one to begin in time."""


class DispatchQueue:
    """Lets `at_once` requests run; the others wait in the order in which they came."""

    def __init__(self, at_once: int = AT_ONCE, *, longest_wait_s: float = LONGEST_WAIT_S) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._longest_wait_s = longest_wait_s
        self._waiting = 0

    @property
    def is_busy(self) -> bool:
        return self._free.locked()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """
        Raises:
            DispatchQueueFullError: too many wait, or this one has for too long.
        """
        if self._waiting >= MOST_WAITING:
            raise DispatchQueueFullError("too many wait")
        self._waiting += 1
        try:
            async with asyncio.timeout(self._longest_wait_s):
                await self._free.acquire()
        except TimeoutError:
            raise DispatchQueueFullError("it would be too late") from None
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._free.release()


class DrainingApp(AsyncApp):
    """Two callers dispatch to it: Socket Mode's handler and our HTTP server."""

    def __init__(self, *, prefilter: Prefilter, **bolt: Any) -> None:
        super().__init__(**bolt)
        self.prefilter = prefilter
        self._first, self._others = DispatchQueue(), DispatchQueue()
        self._open = True
        self._handling = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def async_dispatch(self, req: AsyncBoltRequest) -> BoltResponse:
        if not self._open:
            return BoltResponse(status=503)
        req.body = well_formed_value(req.body)
        self._handling += 1
        self._idle.clear()
        try:
            return await self._dispatched(req)
        except UnavailableError as error:
            logger.warning("event.not_begun", extra={"cause": str(error)})
            return BoltResponse(status=503)
        finally:
            self._handling -= 1
            if not self._handling:
                self._idle.set()

    async def _dispatched(self, req: AsyncBoltRequest) -> BoltResponse:
        verdict = await self.prefilter.judge(req.body, busy=lambda: self._others.is_busy)
        if verdict == "settled":
            return BoltResponse(status=200)
        async with (self._first if verdict == "first" else self._others).turn():
            return await super().async_dispatch(req)

    async def drain(self, *, grace_s: float) -> None:
        """Refuses new requests, and waits `grace_s` seconds at most for those that are being handled."""
        self._open = False
        if not await happened(self._idle, within_s=grace_s):
            logger.warning("slack.cut_off", extra={"events": self._handling})
