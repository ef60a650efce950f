"""How much of a reply is read: an endpoint need not keep to `max_tokens`, and what it sends is handled beside other questions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2

from kb.errors import ModelReplyError

MOST_BYTES = 16 << 20
"""Of a response's body. 8,192 tokens of a streamed reply, each with its event and its citation, are some 4 MB."""
LONGEST_LINE = 1 << 20
"""Bytes of one event. It is parsed in one go."""
CHARACTERS_A_TOKEN = 16
"""Of text. English has 4 or 5, code with its indents 8."""
UNSHOWN_A_TOKEN = 64
"""Of all that a reply holds beside its text: thinking, its signatures, what tools are called with."""
SPARE = 4_000
"""Characters that the shortest reply may have as well."""
EVENTS_A_TOKEN = 4
SPARE_EVENTS = 1_000
"""Pings, and the beginnings and ends of blocks."""


class ReplyBounds:
    """Counts what has come of one reply to a request for at most `max_tokens`."""

    def __init__(self, max_tokens: int) -> None:
        self._text = CHARACTERS_A_TOKEN * max_tokens + SPARE
        self._unshown = UNSHOWN_A_TOKEN * max_tokens + SPARE
        self._events = EVENTS_A_TOKEN * max_tokens + SPARE_EVENTS

    def take(self, *, text: int, unshown: int) -> None:
        """One event, with so many more characters of each.

        Raises:
            ModelReplyError: it is more than was asked for.
        """
        self._text -= text
        self._unshown -= unshown
        self._events -= 1
        if min(self._text, self._unshown, self._events) < 0:
            raise ModelReplyError("the model writes far more than it was asked for: its reply was given up")


async def bound_response(response: httpx2.Response) -> None:
    """A hook for a client: no body is read beyond `MOST_BYTES`, error pages included."""
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _BoundedStream(response.stream)


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = line = 0
        async for part in self._stream:
            total += len(part)
            end = part.rfind(b"\n")
            line = line + len(part) if end < 0 else len(part) - end - 1
            if total > MOST_BYTES or line > LONGEST_LINE:
                raise ModelReplyError("the model's server sends more than a reply can hold: it was given up")
            yield part
            await asyncio.sleep(
                0
            )  # what has come already is read without waiting: others have their turn here

    async def aclose(self) -> None:
        await self._stream.aclose()
