"""Serves the web page: its files, and the JSON that it sends and gets. It can do what a person can do, and no more."""

from __future__ import annotations

import base64
import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.resources import files
from typing import Any

from aiohttp import web

from bot.playground.feed import Feed
from bot.playground.guide import AskGuide
from bot.playground.interactions import Interactions
from bot.playground.kb_pages import KbPages, Pages
from bot.playground.people import UserMessages
from bot.playground.refusal import PlaygroundError, Refused
from bot.playground.sharing import Upload
from bot.playground.slack import Slack
from bot.playground.state import Room

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}

Body = dict[str, Any]


class Page:
    def __init__(
        self,
        slack: Slack,
        people: UserMessages,
        interactions: Interactions,
        pages: Pages | None,
        *,
        guide: AskGuide | None = None,
    ) -> None:
        self._slack = slack
        self._people = people
        self._interactions = interactions
        self._feed = Feed(slack.state)
        self._kb = KbPages(pages)
        self._ask_guide = guide
        self._actions: dict[str, tuple[Callable[..., Any], str]] = {
            "say": (self._say, "ts"),
            "forward": (people.forward, "ts"),
            "workflow": (self._workflow, "ts"),
            "group": (people.open_group, "channel"),
            "edit": (people.edit, ""),
            "delete": (people.delete, ""),
            "react": (people.react, ""),
            "command": (interactions.command, ""),
            "shortcut": (interactions.shortcut, "acknowledged"),
            "click": (interactions.click, "acknowledged"),
            "click_view": (interactions.click_view, "acknowledged"),
            "submit_view": (interactions.submit_view, "errors"),
            "close_view": (interactions.close_view, ""),
            "open_home": (interactions.open_home, "channel"),
        }
        """What a person does, which takes the fields that the page sends, and the field of its answer."""

    def add_routes(self, app: web.Application) -> None:
        app.router.add_get("/", _index)
        app.router.add_get("/static/{name}", _static)
        app.router.add_get("/archives/{channel}/p{ts}", _permalink)
        app.router.add_get("/kb/{path:.*}", self._kb.handle)
        app.router.add_get("/page/feed", self._feed.handle)
        app.router.add_get("/page/workspace", self._workspace)
        app.router.add_get("/page/guide", self._guide)
        app.router.add_get("/page/messages", self._messages)
        app.router.add_post("/page/{action}", self._do)

    async def close(self) -> None:
        await self._feed.close()

    async def _workspace(self, request: web.Request) -> web.StreamResponse:
        workspace = self._slack.workspace
        user = request.query.get("user", "")
        bot = workspace.bot
        if any(person.id == user for person in workspace.people):
            self._slack.state.sit_down(user)
        rooms = [_room(room, bot.id) for room in self._slack.state.rooms.values() if user in room.members]
        return web.json_response(
            {
                "name": workspace.name,
                "bot": {"id": bot.id, "name": bot.name, "real_name": bot.real_name},
                "people": [
                    {
                        "id": person.id,
                        "name": person.name,
                        "real_name": person.real_name,
                        "tz": person.tz,
                        "locale": person.locale,
                        "role": "owner" if person.is_owner else "admin" if person.is_admin else "",
                    }
                    for person in workspace.people
                ],
                "channels": rooms,
                "commands": [asdict(command) for command in workspace.commands],
                "me": self._slack.state.me,
                "shortcuts": [asdict(shortcut) for shortcut in workspace.shortcuts],
                "modal": self._slack.surfaces.modals.get(user),
                "home": self._slack.surfaces.homes.get(user),
            }
        )

    async def _guide(self, _request: web.Request) -> web.StreamResponse:
        guide = await self._ask_guide() if self._ask_guide is not None else None
        return web.json_response(asdict(guide) if guide is not None else None)

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        state = self._slack.state
        try:
            person = self._people.person(request.query.get("user", ""))
            room = self._people.room(person, request.query.get("channel", ""))
        except PlaygroundError as error:
            return web.json_response({"error": str(error)}, status=404)
        return web.json_response(
            {
                "channel": room.id,
                "messages": room.ordered(),
                "ephemerals": [
                    message
                    for message in state.ephemerals
                    if (message["to"], message["channel"]) == (person.id, room.id)
                ],
                "statuses": [
                    status.as_json(state.now()) for status in state.statuses() if status.channel == room.id
                ],
                "suggestions": [
                    body for (channel, _), body in state.suggestions.items() if channel == room.id
                ],
                "titles": [
                    {"thread_ts": thread_ts, "title": title}
                    for (channel, thread_ts), title in state.titles.items()
                    if channel == room.id
                ],
            }
        )

    async def _do(self, request: web.Request) -> web.StreamResponse:
        """Acts as a person. Takes nothing but JSON, which no form of another site can send."""
        if request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType(text="send JSON")
        if request.match_info["action"] not in self._actions:
            raise web.HTTPNotFound()
        action, field = self._actions[request.match_info["action"]]
        try:
            done = action(**json.loads(await request.text()))
            result = await done if inspect.isawaitable(done) else done
        except (PlaygroundError, Refused) as error:
            return web.json_response({"error": str(error)}, status=400)
        except (ValueError, KeyError, TypeError):
            return web.json_response({"error": "the page sent something incomplete"}, status=400)
        return web.json_response({field: result} if field else {})

    def _say(self, *, files: Sequence[Body] = (), **body: Any) -> str:
        return self._people.say(**body, uploads=tuple(_upload(**file) for file in files))

    def _workflow(self, user: str, channel: str, text: str) -> str:
        self._people.room(self._people.person(user), channel)
        return self._people.post_workflow(channel, text)


def _upload(name: str, content: str = "", mimetype: str = "", size: int | None = None) -> Upload:
    return Upload(name=name, content=base64.b64decode(content, validate=True), mimetype=mimetype, size=size)


async def _index(_request: web.Request) -> web.StreamResponse:
    return _file("index.html")


async def _static(request: web.Request) -> web.StreamResponse:
    return _file(request.match_info["name"])


async def _permalink(request: web.Request) -> web.StreamResponse:
    """Opens the message of a permalink in the page, as whoever looks at it."""
    digits = request.match_info["ts"]
    ts = request.query.get("thread_ts") or f"{digits[:-6]}.{digits[-6:]}"
    raise web.HTTPFound(f"/#/-/{request.match_info['channel']}/{ts}")


def _file(name: str) -> web.Response:
    suffix = name[name.rfind(".") :]
    found = files("bot.playground").joinpath("static", name)
    if suffix not in _TYPES or "/" in name or not found.is_file():
        raise web.HTTPNotFound()
    headers = {"Content-Security-Policy": CONTENT_POLICY, "Cache-Control": "no-cache"}
    text = found.read_text(encoding="utf-8")
    return web.Response(text=text, content_type=_TYPES[suffix], charset="utf-8", headers=headers)


def _room(room: Room, bot_id: str) -> Body:
    return {
        "id": room.id,
        "name": room.name,
        "is_private": room.is_private,
        "is_im": room.is_im,
        "is_mpim": room.is_mpim,
        "topic": room.topic,
        "members": sorted(room.members),
        "has_bot": bot_id in room.members,
    }
