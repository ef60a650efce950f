"""Waits while Redis does not answer."""

from __future__ import annotations

import asyncio
import logging
import random
from dataclasses import dataclass, field

from kb.errors import StoreUnavailableError

logger = logging.getLogger(__name__)

LONGEST_PAUSE_S = 3.0


@dataclass(kw_only=True, slots=True)
class StoreOutage:
    """Growing, jittered pauses while Redis is away, and two lines in the log: when it left, when it came back."""

    pauses: int = field(default=0)

    async def pause(self, error: StoreUnavailableError) -> None:
        if self.pauses == 0:
            logger.warning("queue.store_lost", extra={"cause": str(error.__cause__)})
        longest = min(0.05 * 2**self.pauses, LONGEST_PAUSE_S)
        self.pauses = min(self.pauses + 1, 10)
        await asyncio.sleep(random.uniform(longest / 2, longest))

    def over(self) -> None:
        if self.pauses:
            logger.info("queue.store_back")
            self.pauses = 0
