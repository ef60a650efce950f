"""Cancels work whose client has disconnected."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

from kb.runtime.tasks import cancelled

_T = TypeVar("_T")


class ClientGoneError(Exception):
    """The client went away before the work was done."""


async def while_connected(request: Request, work: Coroutine[Any, Any, _T]) -> _T:
    """Awaits the work and returns its result. The request's body must have been read.

    Raises:
        ClientGoneError: the client went away, and the work was cancelled.
    """
    task, disconnection = asyncio.create_task(work), asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({task, disconnection}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGoneError
        return task.result()
    finally:
        await cancelled(task)
        await cancelled(disconnection)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
