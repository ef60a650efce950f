"""The web page's side of the server: placeholder routes are in `add_routes`."""

from __future__ import annotations

from aiohttp import web


class Page:
    def __init__(self, slack, people, interactions, pages) -> None:  # type: ignore[no-untyped-def]
        pass

    def add_routes(self, app: web.Application) -> None:
        pass

    async def close(self) -> None:
        pass
