"""Serves the web page: its files, and the JSON that it sends and gets. It can do what a person can do, and no more."""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable
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
from bot.playground.status_line import status_body

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}

Body = dict[str, Any]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


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
        self._deeds: dict[str, Callable[[Body], Awaitable[Body]]] = {
            "say": self._say,
            "forward": self._forward,
            "workflow": self._workflow,
            "group": self._group,
            "shortcut": self._shortcut,
            "edit": self._edit,
            "delete": self._delete,
            "react": self._react,
            "command": self._command,
            "click": self._click,
            "click_view": self._click_view,
            "submit_view": self._submit_view,
            "close_view": self._close_view,
            "open_home": self._open_home,
        }

    def add_routes(self, app: web.Application) -> None:
        app.middlewares.append(self._json_alone)
        app.router.add_get("/", _index)
        app.router.add_get("/static/{name}", _static)
        app.router.add_get("/archives/{channel}/p{ts}", _permalink)
        app.router.add_get("/kb/{path:.*}", self._kb.handle)
        app.router.add_get("/page/feed", self._feed.handle)
        app.router.add_get("/page/workspace", self._workspace)
        app.router.add_get("/page/guide", self._guide)
        app.router.add_get("/page/messages", self._messages)
        app.router.add_post("/page/{deed}", self._do)

    async def close(self) -> None:
        await self._feed.close()

    @staticmethod
    @web.middleware
    async def _json_alone(request: web.Request, handler: Handler) -> web.StreamResponse:
        """What acts as a person is JSON, which no form of another site can send."""
        acts = request.method == "POST" and request.path.startswith("/page/")
        if acts and request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType(text="send JSON")
        return await handler(request)

    async def _workspace(self, request: web.Request) -> web.StreamResponse:
        workspace = self._slack.workspace
        user = request.query.get("user", "")
        bot = workspace.bot
        if any(person.id == user for person in workspace.people):
            self._slack.state.sit_down(user)
        stack = self._slack.surfaces.modals.get(user, [])
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
                "commands": [
                    {"name": one.name, "hint": one.hint, "description": one.description}
                    for one in workspace.commands
                ],
                "me": self._slack.state.me,
                "shortcuts": [
                    {"name": one.name, "callback_id": one.callback_id} for one in workspace.shortcuts
                ],
                "modal": stack[-1] if stack else None,
                "home": self._slack.surfaces.homes.get(user),
            }
        )

    async def _guide(self, _request: web.Request) -> web.StreamResponse:
        guide = await self._ask_guide() if self._ask_guide is not None else None
        return web.json_response(guide.as_json() if guide is not None else None)

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
                    one for one in state.ephemerals if one["to"] == person.id and one["channel"] == room.id
                ],
                "statuses": [
                    status_body(one, state.now()) for one in state.statuses() if one.channel == room.id
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
        deed = self._deeds.get(request.match_info["deed"])
        if deed is None:
            raise web.HTTPNotFound()
        try:
            body = json.loads(await request.text())
            return web.json_response(await deed(body))
        except (PlaygroundError, Refused) as error:
            return web.json_response({"error": str(error)}, status=400)
        except (ValueError, KeyError, TypeError):
            return web.json_response({"error": "the page sent something incomplete"}, status=400)

    async def _say(self, body: Body) -> Body:
        ts = self._people.say(
            body["user"],
            body["channel"],
            body["text"],
            body.get("thread_ts"),
            broadcast=bool(body.get("broadcast")),
            uploads=tuple(_upload(file) for file in body.get("files", ())),
        )
        return {"ts": ts}

    async def _forward(self, body: Body) -> Body:
        words = (body.get("text", ""), body.get("thread_ts"))
        return {"ts": self._people.forward(body["user"], body["channel"], body["ts"], body["to"], *words)}

    async def _workflow(self, body: Body) -> Body:
        self._people.room(self._people.person(body["user"]), body["channel"])
        return {"ts": self._people.post_workflow(body["channel"], body["text"])}

    async def _group(self, body: Body) -> Body:
        return {"channel": self._people.open_group(body["user"], list(body["people"])).id}

    async def _shortcut(self, body: Body) -> Body:
        acknowledged = await self._interactions.shortcut(
            body["user"], body["channel"], body["ts"], body["callback_id"]
        )
        return {"acknowledged": acknowledged}

    async def _edit(self, body: Body) -> Body:
        self._people.edit(body["user"], body["channel"], body["ts"], body["text"])
        return {}

    async def _delete(self, body: Body) -> Body:
        self._people.delete(body["user"], body["channel"], body["ts"])
        return {}

    async def _react(self, body: Body) -> Body:
        remove = bool(body.get("remove"))
        self._people.react(body["user"], body["channel"], body["ts"], body["name"], remove=remove)
        return {}

    async def _command(self, body: Body) -> Body:
        await self._interactions.command(body["user"], body["channel"], body["name"], body.get("text", ""))
        return {}

    async def _click(self, body: Body) -> Body:
        acknowledged = await self._interactions.click(
            body["user"], body["channel"], body["ts"], body["action_id"], body.get("value")
        )
        return {"acknowledged": acknowledged}

    async def _click_view(self, body: Body) -> Body:
        acknowledged = await self._interactions.click_view(
            body["user"], body["view_id"], body["action_id"], body.get("value"), body.get("values")
        )
        return {"acknowledged": acknowledged}

    async def _submit_view(self, body: Body) -> Body:
        return {"errors": await self._interactions.submit_view(body["user"], body["view_id"], body["values"])}

    async def _close_view(self, body: Body) -> Body:
        await self._interactions.close_view(body["user"], body["view_id"])
        return {}

    async def _open_home(self, body: Body) -> Body:
        return {"channel": self._interactions.open_home(body["user"], body.get("tab", "home")).id}


def _upload(told: Body) -> Upload:
    content = base64.b64decode(told.get("content", ""), validate=True)
    mimetype, size = str(told.get("mimetype", "")), told.get("size")
    return Upload(name=str(told["name"]), content=content, mimetype=mimetype, size=size)


async def _index(_request: web.Request) -> web.StreamResponse:
    return _file("index.html")


async def _static(request: web.Request) -> web.StreamResponse:
    return _file(request.match_info["name"])


async def _permalink(request: web.Request) -> web.StreamResponse:
    """A permalink opens the message in the page, as whoever looks at it."""
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
