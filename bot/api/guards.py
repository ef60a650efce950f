"""Middleware before all routes: checks Host and Origin, limits bodies, adds security headers.

A page in a browser can be made to ask a loopback address under its own name (DNS
rebinding), so the Host must be one of ours. No reply carries CORS headers, and a
foreign Origin is refused outright: another site's page can read nothing here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from contextlib import suppress

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.api.schemas import MAX_BODY, ErrorReply, Fault
from kb.addresses import split_address

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
PROBES = frozenset({"/health", "/live", "/ready"})
"""Asked by container platforms at an address that no setting can know; they tell one word."""
BODY_WITHIN_S = 10.0
"""A client that sends its request more slowly holds a connection for nothing."""
DRAINED, DRAIN_S = 8 * MAX_BODY, 1.0
"""Bytes and seconds for which a refused body is still taken in: a connection that is
closed on unread bytes is reset, and the refusal may be lost with it (RFC 9112, 9.6)."""

REPLY_HEADERS: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
"""The page to try the API brings its own scripts, some of them inline; nothing may be loaded from elsewhere."""

FOREIGN = ErrorReply(
    error=Fault(
        code="foreign_host",
        message="This host name or origin is not known here. If it is yours, add it to FOOTNOTE_API__HOSTS.",
    )
)
TOO_LARGE = ErrorReply(
    error=Fault(code="too_large", message=f"The body is larger than {MAX_BODY // 1024} KiB.")
)


class Guards:
    """`hosts`: names, without a port, under which the API is reached besides loopback."""

    def __init__(self, app: ASGIApp, *, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = LOOPBACK | {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        headers = Headers(scope=scope)
        body = _Body(receive, headers)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = MutableHeaders(scope=message)
                added.update(REPLY_HEADERS)
                if not body.whole:  # the rest would be read and thrown away, without end if it has none
                    added["Connection"] = "close"
            elif not body.whole and not message.get("more_body", False):
                await send({**message, "more_body": True})
                await body.drain()
                message = {"type": "http.response.body"}
            await send(message)

        if not self._is_ours(scope["path"], headers):
            await JSONResponse(FOREIGN.model_dump(), status_code=421)(scope, receive, with_headers)
            return
        # Before anything is read; one that lies about its length is cut off later.
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > MAX_BODY:
            await JSONResponse(TOO_LARGE.model_dump(), status_code=413)(scope, receive, with_headers)
            return
        await self._app(scope, body.receive, with_headers)

    def _is_ours(self, path: str, headers: Headers) -> bool:
        origin = headers.get("origin")
        if origin is not None and split_address(origin).hostname not in self._hosts:
            return False
        return path in PROBES or split_address(f"//{headers.get('host', '')}").hostname in self._hosts


class _Body:
    """The body of a request. `receive` raises `TimeoutError` where it takes too long; what follows may take long."""

    def __init__(self, receive: Receive, headers: Headers) -> None:
        self._receive = receive
        self._until = asyncio.get_running_loop().time() + BODY_WITHIN_S
        self.whole = "transfer-encoding" not in headers and headers.get("content-length", "0") == "0"

    async def receive(self) -> Message:
        if self.whole:
            return await self._receive()
        async with asyncio.timeout_at(self._until):
            message = await self._receive()
        self.whole = not message.get("more_body", False)
        return message

    async def drain(self) -> None:
        """Throws away what still comes, within bounds."""
        left = DRAINED
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_S):
                while left > 0 and (message := await self._receive())["type"] == "http.request":
                    left -= len(message.get("body", b""))
                    if not message.get("more_body", False):
                        return
