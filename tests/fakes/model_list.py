"""A local model server as far as its lists go: Ollama's /api/tags, or the OpenAI-like /v1/models."""

from __future__ import annotations

from typing import Any, Self

from aiohttp import web


class ModelList:
    """`lists`: path -> what is served there. Everything else is not found. `asked`: the paths, in order."""

    def __init__(self, lists: dict[str, Any]) -> None:
        self.url = ""
        self.asked: list[str] = []
        self._lists = lists

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/{path:.*}", self._list)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _list(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        if request.path not in self._lists:
            raise web.HTTPNotFound
        return web.json_response(self._lists[request.path])
