"""Bounds how much of a reply is read: an endpoint may ignore `max_tokens`, and other questions wait meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2

from kb.errors import ModelReplyError

MOST_BYTES = 16 << 20
"""Bytes of a response's body. 8,192 tokens of a streamed reply, each with its event and its citation, are some 4 MB."""
LONGEST_LINE = 1 << 20
"""Bytes of one event. It is parsed in one go."""
PLAIN = {"Accept-Encoding": "identity"}
"""Headers of every request: what is counted is what comes."""
CHARACTERS_A_TOKEN = 16
"""Characters of text a token. English has 4 or 5, code with its indents 8."""
UNSHOWN_A_TOKEN = 64
"""Characters a token of all that a reply holds but text: thinking, its signatures, what tools are called with."""
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
        """Counts one event, and its characters of each kind.

        Raises:
            ModelReplyError: it is more than was asked for.
        """
        self._text -= text
        self._unshown -= unshown
        self._events -= 1
        if min(self._text, self._unshown, self._events) < 0:
            raise ModelReplyError("the model writes far more than it was asked for: its reply was given up")


async def bound_response(response: httpx2.Response) -> None:
    """Bounds a response, as a hook of a client that asks for `PLAIN`: no body is read beyond `MOST_BYTES`, error pages
    included, and none that is packed all the same: a few kilobytes can be hundreds of megabytes, unpacked in one go.
    """
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    packed = response.headers.pop("Content-Encoding", "identity").strip().lower() not in ("", "identity")
    response.stream = _BoundedStream(response.stream, packed=packed)


class _BoundedStream(httpx2.AsyncByteStream):
    """Iterating raises `ModelReplyError`, which passes through the client's own handling of errors unchanged."""

    def __init__(self, stream: httpx2.AsyncByteStream, *, packed: bool) -> None:
        self._stream = stream
        self._packed = packed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._packed:
            raise ModelReplyError(
                "the model's server compresses a reply that was asked for as it is: it was given up"
            )
        total = line = 0
        async for part in self._stream:
            total += len(part)
            end = part.rfind(b"\n")
            line = line + len(part) if end < 0 else len(part) - end - 1
            if total > MOST_BYTES or line > LONGEST_LINE:
                raise ModelReplyError("the model's server sends more than a reply can hold: it was given up")
            yield part
            # What has come already is read without waiting: others have their turn here.
            await asyncio.sleep(0)

    async def aclose(self) -> None:
        await self._stream.aclose()
