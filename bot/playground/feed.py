"""Pushes changes to open browser pages, each only what its person may see."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from bot.playground.state import Change, State

QUEUE_LENGTH = 2000
"""Changes that a page may lag behind; one that lags more is told to load anew."""


@dataclass(kw_only=True, eq=False)
class _Reader:
    user: str
    waiting: asyncio.Queue[str] = field(default_factory=lambda: asyncio.Queue(QUEUE_LENGTH))


class Feed:
    """Pushes changes over a WebSocket: `{"kind", "channel", "body"}`, one a message."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._readers: set[_Reader] = set()
        self._sockets: set[web.WebSocketResponse] = set()
        state.listen(self._spread)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        ws = web.WebSocketResponse(heartbeat=20.0)
        await ws.prepare(request)
        reader = _Reader(user=request.query.get("user", ""))
        self._readers.add(reader)
        self._sockets.add(ws)
        sender = asyncio.create_task(_send_all(ws, reader))
        try:
            async for message in ws:
                if message.type is WSMsgType.ERROR:
                    break
        finally:
            sender.cancel()
            self._readers.discard(reader)
            self._sockets.discard(ws)
        return ws

    async def close(self) -> None:
        for ws in tuple(self._sockets):
            await ws.close()

    def _spread(self, change: Change) -> None:
        wire = json.dumps({"kind": change.kind, "channel": change.channel, "body": change.body})
        for reader in self._readers:
            if not self._may_see(reader.user, change):
                continue
            if reader.waiting.full():
                _empty(reader.waiting)
                reader.waiting.put_nowait(json.dumps({"kind": "reload", "channel": None, "body": {}}))
            else:
                reader.waiting.put_nowait(wire)

    def _may_see(self, user: str, change: Change) -> bool:
        if change.user is not None:
            return change.user == user
        room = self._state.rooms.get(change.channel or "")
        return room is not None and user in room.members


async def _send_all(ws: web.WebSocketResponse, reader: _Reader) -> None:
    while not ws.closed:
        try:
            await ws.send_str(await reader.waiting.get())
        except ConnectionError:
            return


def _empty(queue: asyncio.Queue[str]) -> None:
    while not queue.empty():
        queue.get_nowait()
