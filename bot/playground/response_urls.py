"""Serves response_urls: addresses by which an app may answer a command or a click, five times within half an hour."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from aiohttp import web

from bot.playground.arguments import Arguments, read_arguments
from bot.playground.posting import content, post, post_ephemeral
from bot.playground.refusal import Refused
from bot.playground.slack import Slack
from bot.playground.state import Message, Room


@dataclass(kw_only=True, slots=True)
class _Address:
    room: Room
    user: str
    until: float
    left: int
    source: Message | None
    """The message whose button was clicked."""


class ResponseUrls:
    def __init__(self, slack: Slack) -> None:
        self._slack = slack
        self._addresses: dict[str, _Address] = {}

    def new(self, room: Room, user: str, *, source: Message | None = None) -> str:
        limits = self._slack.state.limits
        token = secrets.token_urlsafe(18)
        self._addresses[token] = _Address(
            room=room,
            user=user,
            until=self._slack.state.now() + limits.response_url_s,
            left=limits.response_url_uses,
            source=source,
        )
        return f"{self._slack.origin()}/actions/{token}"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        try:
            args, _ = await read_arguments(request)
            self._answer(self._use(request.match_info["token"]), args)
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

    def _answer(self, address: _Address, args: Arguments) -> None:
        if address.source is not None and args.flag("delete_original"):
            self._delete(address.room, address.source)
        elif address.source is not None and args.flag("replace_original"):
            self._replace(address.room, address.source, args)
        else:
            respond(self._slack, address.room, address.user, args)

    def _delete(self, room: Room, source: Message) -> None:
        state = self._slack.state
        if source in state.ephemerals:
            state.remove_ephemeral(source)
        elif source["ts"] in room.messages:
            state.remove(room, source)
            self._slack.events.message_deleted(room, source)

    def _replace(self, room: Room, source: Message, args: Arguments) -> None:
        state = self._slack.state
        body = content(args)
        previous = dict(source)
        if "blocks" not in body:
            source.pop("blocks", None)
        source.update(body)
        if source in state.ephemerals:
            state.remove_ephemeral(source)
            state.add_ephemeral(source)
            return
        source["edited"] = {"user": self._slack.workspace.bot_user_id, "ts": state.next_ts()}
        state.changed(room, source)
        self._slack.events.message_changed(room, source, previous)


def respond(slack: Slack, room: Room, user: str, args: Arguments) -> None:
    """Shows an answer to a command or a click: to the person alone, unless it says `in_channel`."""
    thread_ts = args.text("thread_ts") or None
    body = content(args)
    if args.text("response_type") == "in_channel":
        post(slack, room, body, thread_ts=thread_ts)
    else:
        post_ephemeral(slack, room, user, body, thread_ts=thread_ts)
