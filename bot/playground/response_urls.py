"""Serves response_urls: addresses by which an app may answer a command or a click, five times within half an hour."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from aiohttp import web

from bot.playground.arguments import Arguments, read_arguments
from bot.playground.posting import content, post_ephemeral
from bot.playground.refusal import Refused
from bot.playground.slack import Slack
from bot.playground.state import Room


@dataclass(kw_only=True, slots=True)
class _Address:
    room: Room
    user: str
    until: float
    left: int


class ResponseUrls:
    def __init__(self, slack: Slack) -> None:
        self._slack = slack
        self._addresses: dict[str, _Address] = {}

    def new(self, room: Room, user: str) -> str:
        limits = self._slack.state.limits
        token = secrets.token_urlsafe(18)
        self._addresses[token] = _Address(
            room=room,
            user=user,
            until=self._slack.state.now() + limits.response_url_s,
            left=limits.response_url_uses,
        )
        return f"{self._slack.origin()}/actions/{token}"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        try:
            args, _ = await read_arguments(request)
            address = self._use(request.match_info["token"])
            respond(self._slack, address.room, address.user, args)
        except Refused as refusal:
            status = 404 if refusal.code in ("expired_url", "used_url") else 400
            return web.json_response({"ok": False, "error": refusal.code, **refusal.details}, status=status)
        return web.json_response({"ok": True})

    def _use(self, token: str) -> _Address:
        address = self._addresses.get(token)
        if address is None or self._slack.state.now() > address.until:
            raise Refused("expired_url")
        if address.left < 1:
            raise Refused("used_url")
        address.left -= 1
        return address


def respond(slack: Slack, room: Room, user: str, args: Arguments) -> None:
    """Shows the person alone what the app answers to a command or a click: Footnote answers so, and never to all."""
    post_ephemeral(slack, room, user, content(args), thread_ts=args.text("thread_ts") or None)
