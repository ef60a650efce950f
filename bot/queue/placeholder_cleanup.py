"""Deletes placeholders ("Searching…") that dead letters have left in Slack."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.queue.dead_letters import DeadLetters
from bot.queue.outcomes import NotNowError, UndeliverableError
from bot.queue.queued_question import QueuedQuestion
from bot.slack.errors import NO_ACCESS
from kb.errors import StoreUnavailableError

logger = logging.getLogger(__name__)

APART_S = 300.0
"""Seconds between two looks. The first is at the start: a bot that was given a new token was restarted."""


@dataclass(frozen=True, slots=True)
class PlaceholderCleanup:
    """`clean_up` takes away what is left of a question, or raises what `bot.queue.outcomes` lists."""

    letters: DeadLetters
    clean_up: Callable[[QueuedQuestion], Awaitable[None]]

    async def run(self) -> None:
        """Runs until cancelled."""
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
        for question in await self.letters.leftovers():
            try:
                await self.clean_up(question)
            except NotNowError:
                return
            except UndeliverableError as refusal:
                if refusal.code in NO_ACCESS:
                    return
            else:
                await self.letters.cleaned_up(question.id)
                logger.info("question.tidied", extra={"question_id": question.id})
