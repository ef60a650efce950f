"""Bolt's app, but it can be stopped: what it has begun to handle ends first, and nothing else begins.

What is not begun is not acknowledged, so Slack sends it again, to another bot or to this one's next life.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from slack_bolt import BoltResponse
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest

from kb.tasks import happened
from kb.text.unicode import well_formed_value

logger = logging.getLogger(__name__)


class DrainingApp(AsyncApp):
    """Two callers dispatch to it: Socket Mode's handler and our HTTP server."""

    def __init__(self, **bolt: Any) -> None:
        super().__init__(**bolt)
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
            return await super().async_dispatch(req)
        finally:
            self._handling -= 1
            if not self._handling:
                self._idle.set()

    async def drain(self, *, grace_s: float) -> None:
        """Begins with nothing more, and waits `grace_s` seconds at most for what it is handling."""
        self._open = False
        if not await happened(self._idle, within_s=grace_s):
            logger.warning("slack.cut_off", extra={"events": self._handling})
