"""A website on loopback with the traps that real ones have. `requests` lists what was asked for, in order."""

from __future__ import annotations

import asyncio
import gzip
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Self

from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from tests.fakes.served import Served

Page = str | bytes | web.Response | Callable[[web.Request], Awaitable[web.StreamResponse]]

MENU = '<nav><a href="/docs/">Home</a> <a href="/pricing">Pricing</a></nav>'
FOOT = "<footer>Copyright ACME, all rights reserved. Cookie settings.</footer>"


def article(title: str, *paragraphs: str, head: str = "") -> str:
    """A page as generators make them: menu, article, footer."""
    body = "".join(f"<p>{text}</p>" if not text.startswith("<") else text for text in paragraphs)
    return (
        f"<!doctype html><html><head><title>{title} | ACME</title>{head}</head><body>{MENU}"
        f"<main><article><h1>{title}</h1>{body}</article></main>{FOOT}</body></html>"
    )


class Website(Served):
    """`pages`: path with query -> what it answers. HTML gets an ETag, and 304 to whoever names it."""

    def __init__(self, pages: Mapping[str, Page] | None = None, *, etags: bool = True) -> None:
        self.pages: dict[str, Page] = {"/robots.txt": web_text("User-agent: *\nAllow: /"), **(pages or {})}
        self.requests: list[str] = []
        self.unchanged: Counter[str] = Counter()
        self.agents: set[str] = set()
        self.port = 0
        self._etags = etags

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        self.port = int((await self.serve(app)).rpartition(":")[2])
        return self

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        path = request.raw_path
        self.requests.append(path)
        self.agents.add(request.headers.get("User-Agent", ""))
        page = self.pages.get(path)
        if page is None:
            return web.Response(status=404, text="no such page")
        if isinstance(page, web.Response):
            return web.Response(status=page.status, headers=page.headers, body=page.body)
        if callable(page):
            return await page(request)
        body = page.encode() if isinstance(page, str) else page
        etag = f'"{hash(body):x}"'
        if self._etags and request.headers.get("If-None-Match") == etag:
            self.unchanged[path] += 1
            return web.Response(status=304)
        return web.Response(
            body=body, content_type="text/html", headers={"ETag": etag} if self._etags else {}
        )


def web_text(text: str, *, status: int = 200) -> web.Response:
    return web.Response(text=text, status=status)


def moved(to: str, *, status: int = 302) -> web.Response:
    return web.Response(status=status, headers={"Location": to})


def busy(times: int, then: str, *, status: int = 503, after: str = "1") -> Page:
    """Answers that it is busy so many times, then with the page."""
    left = [times]

    async def answer(request: web.Request) -> web.Response:
        if left[0]:
            left[0] -= 1
            return web.Response(status=status, headers={"Retry-After": after})
        return web.Response(text=then, content_type="text/html")

    return answer


async def stalls(request: web.Request) -> web.StreamResponse:
    """Sends its head and then nothing."""
    response = web.StreamResponse(headers={"Content-Type": "text/html"})
    await response.prepare(request)
    await response.write(b"<html>")
    await asyncio.sleep(3600)
    return response


async def endless(request: web.Request) -> web.StreamResponse:
    """Sends until the reader has enough."""
    response = web.StreamResponse(headers={"Content-Type": "text/html"})
    await response.prepare(request)
    while True:
        await response.write(b"<p>more and more</p>" * 5_000)


def bomb(megabytes: int) -> web.Response:
    """A small answer that becomes a large one when it is unpacked."""
    return web.Response(
        body=gzip.compress(b"0" * megabytes * 1_000_000),
        headers={"Content-Type": "text/html", "Content-Encoding": "gzip"},
    )


class Names(AbstractResolver):
    """DNS of a test: each name leads to the next of its addresses, and stays at the last."""

    def __init__(self, **names: list[str]) -> None:
        self._names = {name.replace("_", "."): list(addresses) for name, addresses in names.items()}

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        addresses = self._names[host]
        address = addresses.pop(0) if len(addresses) > 1 else addresses[0]
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
        ]

    async def close(self) -> None: ...
