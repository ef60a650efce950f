"""Serves Socket Mode: WebSockets that apps open, and envelopes that exactly one of them gets."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from bot.playground.delivery import Envelope, NotDelivered, Reply
from bot.playground.slack_limits import SlackLimits

logger = logging.getLogger(__name__)

HEARTBEAT_S = 10.0
"""How often a socket is pinged; one that does not answer within half of it is closed."""


@dataclass(kw_only=True, eq=False)
class _Socket:
    number: int
    ws: web.WebSocketResponse
    request: web.Request
    leaving: bool = False
    waiting: dict[str, asyncio.Future[dict[str, Any]]] = field(default_factory=dict)


class Sockets:
    """The open sockets of the app. A `Transport`."""

    def __init__(self, *, app_id: str, limits: SlackLimits) -> None:
        self._app_id = app_id
        self._limits = limits
        self._tickets: set[str] = set()
        self._sockets: list[_Socket] = []
        self._opened = 0
        self._turn = 0

    @property
    def count(self) -> int:
        """Sockets that take events."""
        return len(self._taking())

    def new_ticket(self) -> str:
        """Returns what apps.connections.open puts in the address; good for one connection."""
        ticket = secrets.token_urlsafe(16)
        self._tickets.add(ticket)
        return ticket

    async def handle(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=401, text="this address was used already, or is not ours")
        self._tickets.discard(ticket)
        ws = web.WebSocketResponse(heartbeat=HEARTBEAT_S)
        await ws.prepare(request)
        self._opened += 1
        socket = _Socket(number=self._opened, ws=ws, request=request)
        self._sockets.append(socket)
        try:
            await ws.send_json(self._hello())
            logger.info("playground.socket.opened", extra={"socket": socket.number})
            await _listen(socket)
        finally:
            self._forget(socket)
        return ws

    async def send(self, envelope: Envelope) -> Reply:
        """Hands the envelope to one socket, in turn, and waits for its acknowledgement.

        Raises:
            NotDelivered: no socket is open, the socket closed, or 3 seconds passed.
        """
        taking = self._taking()
        if not taking:
            raise NotDelivered("connection_failed")
        self._turn += 1
        socket = taking[self._turn % len(taking)]
        envelope_id = secrets.token_hex(16)
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        socket.waiting[envelope_id] = answer
        try:
            await socket.ws.send_str(json.dumps(_wire(envelope, envelope_id)))
            payload = await asyncio.wait_for(answer, self._limits.ack_timeout_s)
        except TimeoutError:
            raise NotDelivered("timeout", receiver=socket.number) from None
        except ConnectionError as error:
            raise NotDelivered("connection_failed", receiver=socket.number) from error
        finally:
            socket.waiting.pop(envelope_id, None)
        return Reply(payload=payload, receiver=socket.number)

    async def refresh(self) -> None:
        """Tells every socket to connect anew, as Slack does every few hours. They get nothing more."""
        for socket in self._taking():
            socket.leaving = True
            message = {
                "type": "disconnect",
                "reason": "refresh_requested",
                "debug_info": {"host": "playground"},
            }
            await socket.ws.send_json(message)

    async def drop(self) -> None:
        """Cuts every socket without a word, as a broken network does."""
        for socket in tuple(self._sockets):
            socket.leaving = True
            if socket.request.transport is not None:
                socket.request.transport.abort()

    async def close(self) -> None:
        for socket in tuple(self._sockets):
            await socket.ws.close()

    def _taking(self) -> list[_Socket]:
        return [socket for socket in self._sockets if not socket.leaving and not socket.ws.closed]

    def _hello(self) -> dict[str, Any]:
        return {
            "type": "hello",
            "num_connections": len(self._sockets),
            "debug_info": {"host": "playground", "build_number": 1, "approximate_connection_time": 18060},
            "connection_info": {"app_id": self._app_id},
        }

    def _forget(self, socket: _Socket) -> None:
        self._sockets.remove(socket)
        for answer in socket.waiting.values():
            if not answer.done():
                answer.set_exception(ConnectionResetError("the socket closed before it answered"))
        logger.info("playground.socket.closed", extra={"socket": socket.number})


async def _listen(socket: _Socket) -> None:
    async for message in socket.ws:
        if message.type is not WSMsgType.TEXT:
            continue
        try:
            answer = json.loads(message.data)
        except ValueError:
            logger.warning("playground.socket.not_json", extra={"socket": socket.number})
            continue
        waiting = socket.waiting.get(answer.get("envelope_id", ""))
        if waiting is not None and not waiting.done():
            waiting.set_result(answer.get("payload") or {})


def _wire(envelope: Envelope, envelope_id: str) -> dict[str, Any]:
    message: dict[str, Any] = {
        "envelope_id": envelope_id,
        "payload": envelope.payload,
        "type": envelope.kind,
        "accepts_response_payload": envelope.kind != "events_api",
    }
    if envelope.kind == "events_api":
        message["retry_attempt"] = envelope.attempt
        message["retry_reason"] = envelope.reason
    return message
