"""Batches concurrent calls: requests that come while a call runs become the next call, so that hundreds share a trip
to Redis.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Ask = TypeVar("Ask")
Told = TypeVar("Told")

MOST_AT_ONCE = 500


class BatchedCalls(Generic[Ask, Told]):
    """Those that come while a call runs are the next call. `ask_all` tells of each, in their order."""

    def __init__(self, ask_all: Callable[[Sequence[Ask]], Awaitable[Sequence[Told]]]) -> None:
        self._ask_all = ask_all
        self._waiting: list[tuple[Ask, asyncio.Future[Told]]] = []
        self._asking: asyncio.Task[None] | None = None

    async def of(self, one: Ask) -> Told:
        """Raises what the call raises."""
        told: asyncio.Future[Told] = asyncio.get_running_loop().create_future()
        self._waiting.append((one, told))
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._run(), name="together")
        return await told

    async def _run(self) -> None:
        while self._waiting:
            batch = self._waiting[:MOST_AT_ONCE]
            del self._waiting[:MOST_AT_ONCE]
            try:
                told = await self._ask_all([one for one, _ in batch])
            except Exception as error:  # noqa: BLE001 - it is raised where it was asked
                for _, waiting in batch:
                    if not waiting.done():
                        waiting.set_exception(error)
                continue
            for (_, waiting), one in zip(batch, told, strict=True):
                if not waiting.done():  # whoever asked may have gone
                    waiting.set_result(one)
