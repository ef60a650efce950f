"""Takes away what dead letters have left in Slack: a placeholder that
said "Searching…" when Slack began to refuse us.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

from bot.queue.claims import QueuedQuestion
from bot.queue.fates import NotNowError, UndeliverableError
from bot.slack.errors import NO_ACCESS
from kb.errors import StoreUnavailableError

logger = logging.getLogger(__name__)

APART_S = 300.0
"""Between two looks. The first is at the start: whoever gave the bot a new token has started it again."""


class Untidy(Protocol):
    """bot.queue.dead_letters.DeadLetters, as this uses it. Raises `StoreUnavailableError`."""

    async def untidy(self) -> list[QueuedQuestion]: ...

    async def tidied(self, identity: str) -> None: ...


class Tidying:
    """`tidy` takes away what is left of a question, or raises what `bot.queue.fates` lists."""

    def __init__(self, letters: Untidy, tidy: Callable[[QueuedQuestion], Awaitable[None]]) -> None:
        self._letters = letters
        self._tidy = tidy

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                await self.look()
            except StoreUnavailableError as error:
                logger.warning("tidying.later", extra={"cause": str(error)})
            except Exception:  # the process edge of this work: nobody awaits it
                logger.exception("tidying.broke")
            await asyncio.sleep(APART_S)

    async def look(self) -> None:
        """Tries each once, until Slack refuses us altogether."""
        for question in await self._letters.untidy():
            try:
                await self._tidy(question)
            except NotNowError:
                return
            except UndeliverableError as refusal:
                if refusal.code in NO_ACCESS:
                    return
            else:
                await self._letters.tidied(question.id)
                logger.info("question.tidied", extra={"question_id": question.id})
