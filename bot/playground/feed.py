"""Pushes changes to open browser pages, each only what its person may see."""

from __future__ import annotations

import asyncio
import contextlib
import json

from aiohttp import WSMsgType, web

from bot.playground.state import Change, State

QUEUE_LENGTH = 2000
"""Changes that a page may lag behind; one that lags more is told to load anew."""


class Feed:
    """Pushes changes over a WebSocket: `{"kind", "channel", "body"}`, one a message."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._readers: dict[web.WebSocketResponse, tuple[str, asyncio.Queue[str]]] = {}
        """Who looks on by each socket, and what waits to be sent there."""
        state.listen(self._spread)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        ws = web.WebSocketResponse(heartbeat=20.0)
        await ws.prepare(request)
        waiting: asyncio.Queue[str] = asyncio.Queue(QUEUE_LENGTH)
        self._readers[ws] = request.query.get("user", ""), waiting
        sender = asyncio.create_task(_send_all(ws, waiting))
        try:
            async for message in ws:
                if message.type is WSMsgType.ERROR:
                    break
        finally:
            sender.cancel()
            del self._readers[ws]
        return ws

    async def close(self) -> None:
        for ws in tuple(self._readers):
            await ws.close()

    def _spread(self, change: Change) -> None:
        news = json.dumps({"kind": change.kind, "channel": change.channel, "body": change.body})
        for user, waiting in self._readers.values():
            if not self._may_see(user, change):
                continue
            if waiting.full():
                while not waiting.empty():
                    waiting.get_nowait()
                waiting.put_nowait(json.dumps({"kind": "reload", "channel": None, "body": {}}))
            else:
                waiting.put_nowait(news)

    def _may_see(self, user: str, change: Change) -> bool:
        if change.user is not None:
            return change.user == user
        room = self._state.rooms.get(change.channel or "")
        return room is not None and user in room.members


async def _send_all(ws: web.WebSocketResponse, waiting: asyncio.Queue[str]) -> None:
    with contextlib.suppress(ConnectionError):
        while not ws.closed:
            await ws.send_str(await waiting.get())
