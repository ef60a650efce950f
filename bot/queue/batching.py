"""Batches concurrent calls: requests that come while a call runs become the next call, so that hundreds share a trip
to Redis.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Ask = TypeVar("Ask")
Result = TypeVar("Result")

MOST_AT_ONCE = 500


class BatchedCalls(Generic[Ask, Result]):
    """Calls `ask_all` with what came while it ran last; it returns one result for each request, in their order."""

    def __init__(self, ask_all: Callable[[Sequence[Ask]], Awaitable[Sequence[Result]]]) -> None:
        self._ask_all = ask_all
        self._waiting: list[tuple[Ask, asyncio.Future[Result]]] = []
        self._asking: asyncio.Task[None] | None = None

    async def of(self, request: Ask) -> Result:
        """Raises what the call raises."""
        result: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, result))
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._run(), name="batched calls")
        return await result

    async def _run(self) -> None:
        while self._waiting:
            batch = self._waiting[:MOST_AT_ONCE]
            del self._waiting[:MOST_AT_ONCE]
            try:
                results = await self._ask_all([request for request, _ in batch])
            except Exception as error:  # noqa: BLE001 - it is raised where it was asked
                for _, waiting in batch:
                    if not waiting.done():
                        waiting.set_exception(error)
                continue
            for (_, waiting), result in zip(batch, results, strict=True):
                if not waiting.done():  # the caller may have been cancelled
                    waiting.set_result(result)
