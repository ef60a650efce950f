"""Performs what people do with an app's controls: slash commands, buttons, modals, App Home."""

from __future__ import annotations

import secrets
from copy import deepcopy
from typing import Any

from bot.playground.arguments import Arguments
from bot.playground.controls import acted, find_element, view_state
from bot.playground.delivery import Delivery, NotDelivered
from bot.playground.people import UserMessages
from bot.playground.posting import post_ephemeral
from bot.playground.refusal import PlaygroundError, Refused
from bot.playground.response_urls import ResponseUrls, respond
from bot.playground.slack import Slack
from bot.playground.state import Change, Message, Room
from bot.playground.surfaces import View
from bot.playground.workspace import WorkspaceUser


class Interactions:
    """Each method returns when the app has acknowledged, or has failed to; the person is told which, as in Slack."""

    def __init__(
        self, slack: Slack, people: UserMessages, delivery: Delivery, response_urls: ResponseUrls
    ) -> None:
        self._slack = slack
        self._people = people
        self._delivery = delivery
        self._response_urls = response_urls

    async def command(self, user: str, channel: str, name: str, text: str = "") -> None:
        person = self._people.person(user)
        room = self._people.room(person, channel)
        if name == "/invite":
            self._people.join(text.strip(), room.id, inviter=person.id)
            return
        if name not in {command.name for command in self._slack.workspace.commands}:
            self._tell(room, person, f"`{name}` is not a valid command.")
            return
        try:
            answer = await self._delivery.ask(
                "slash_commands", self._command_payload(person, room, name, text)
            )
        except NotDelivered as failure:
            reason = "operation_timeout" if "timeout" in failure.reason else "dispatch_failed"
            self._tell(room, person, f'{name} failed with the error "{reason}"')
            return
        if not answer:
            return
        try:
            respond(self._slack, room, person.id, Arguments(answer))
        except Refused as refusal:
            self._tell(room, person, f"The app's answer cannot be shown: {refusal.code}")

    async def click(
        self,
        user: str,
        channel: str,
        ts: str,
        action_id: str,
        value: str | list[str] | None = None,
    ) -> bool:
        """Presses a button of the message `ts`; `value` chooses among feedback buttons or menu entries.

        Returns whether the app acknowledged it.

        Raises:
            PlaygroundError: there is no such message or control.
        """
        person = self._people.person(user)
        room = self._people.room(person, channel)
        message = self._shown(person, room, ts)
        block, element = find_element(message.get("blocks", []), action_id)
        container: dict[str, Any] = {
            "type": "message",
            "message_ts": ts,
            "channel_id": room.id,
            "is_ephemeral": bool(message.get("is_ephemeral")),
        }
        if message.get("thread_ts"):
            container["thread_ts"] = message["thread_ts"]
        payload = self._base("block_actions", person) | {
            "container": container,
            "trigger_id": self._slack.surfaces.new_trigger(person.id),
            "channel": {"id": room.id, "name": _channel_name(room)},
            "message": _without_inner_fields(message),
            "state": view_state(message["blocks"], {block["block_id"]: {action_id: value}}),
            "response_url": self._response_urls.new(room, person.id),
            "actions": [acted(block, element, value, action_ts=self._slack.state.next_ts())],
        }
        return await self._interact(person, payload)

    async def shortcut(self, user: str, channel: str, ts: str, callback_id: str) -> bool:
        """Picks an app's entry of a message's "More actions"; returns whether the app acknowledged it.

        Raises:
            PlaygroundError: there is no such message or shortcut.
        """
        person = self._people.person(user)
        room = self._people.room(person, channel)
        if callback_id not in {shortcut.callback_id for shortcut in self._slack.workspace.shortcuts}:
            raise PlaygroundError(f"there is no shortcut {callback_id!r}")
        message = self._shown(person, room, ts)
        if message.get("is_ephemeral") or message.get("subtype") == "tombstone":
            raise PlaygroundError("this message has no actions")
        payload = self._base("message_action", person) | {
            "action_ts": self._slack.state.next_ts(),
            "callback_id": callback_id,
            "trigger_id": self._slack.surfaces.new_trigger(person.id),
            "response_url": self._response_urls.new(room, person.id),
            "message_ts": message["ts"],
            "channel": {"id": room.id, "name": _channel_name(room)},
            "message": _without_inner_fields(message),
        }
        return await self._interact(person, payload)

    async def click_view(
        self,
        user: str,
        view_id: str,
        action_id: str,
        value: str | list[str] | None = None,
        values: dict[str, dict[str, Any]] | None = None,
    ) -> bool:
        """Uses a control of a modal or of the App Home. `values`: what stands in the others, as in `submit_view`."""
        person, view = self._view(user, view_id)
        block, element = find_element(view["blocks"], action_id)
        entered = dict(values or {})
        if element["type"] != "button":
            entered[block["block_id"]] = {action_id: value}
        payload = self._base("block_actions", person) | {
            "container": {"type": "view", "view_id": view["id"]},
            "trigger_id": self._slack.surfaces.new_trigger(person.id),
            "view": deepcopy(view) | {"state": view_state(view["blocks"], entered)},
            "actions": [acted(block, element, value, action_ts=self._slack.state.next_ts())],
        }
        return await self._interact(person, payload)

    async def submit_view(
        self, user: str, view_id: str, values: dict[str, dict[str, Any]] | None = None
    ) -> dict[str, str]:
        """Sends a modal. `values`: block_id -> action_id -> what was typed or chosen.

        Returns the errors that the app answered with, by block_id; empty when it took the form.
        """
        person, view = self._view(user, view_id)
        payload = self._base("view_submission", person) | {
            "trigger_id": self._slack.surfaces.new_trigger(person.id),
            "view": deepcopy(view) | {"state": view_state(view["blocks"], values or {})},
            "response_urls": [],
        }
        try:
            answer = await self._delivery.ask("interactive", payload)
        except NotDelivered:
            self._warn(person, "We had some trouble connecting. Try again?")
            return {"": "not acknowledged"}
        match answer.get("response_action"):
            case "errors":
                return {str(block): str(problem) for block, problem in answer.get("errors", {}).items()}
            case None:
                pass
            case action:
                return {"": f"the local Slack does not know the response_action {action!r}"}
        self._slack.surfaces.close(person.id)
        return {}

    def close_view(self, user: str, view_id: str) -> None:
        person, _ = self._view(user, view_id)
        self._slack.surfaces.close(person.id)

    def open_home(self, user: str, tab: str = "home") -> str:
        """Opens the app's "home" or "messages" tab; returns the id of the DM that belongs to it."""
        person = self._people.person(user)
        room = self._slack.state.direct(person.id)
        self._slack.events.home_opened(person.id, room, tab, self._slack.surfaces.homes.get(person.id))
        return room.id

    async def _interact(self, person: WorkspaceUser, payload: dict[str, Any]) -> bool:
        try:
            await self._delivery.ask("interactive", payload)
        except NotDelivered:
            self._warn(person, "This app didn't respond. Try again?")
            return False
        return True

    def _command_payload(self, person: WorkspaceUser, room: Room, name: str, text: str) -> dict[str, Any]:
        workspace = self._slack.workspace
        return {
            "token": "playground-verification-token",
            "team_id": workspace.team_id,
            "team_domain": workspace.domain,
            "channel_id": room.id,
            "channel_name": _channel_name(room),
            "user_id": person.id,
            "user_name": person.name,
            "command": name,
            "text": text,
            "api_app_id": workspace.app_id,
            "is_enterprise_install": "false",
            "response_url": self._response_urls.new(room, person.id),
            "trigger_id": self._slack.surfaces.new_trigger(person.id),
        }

    def _base(self, kind: str, person: WorkspaceUser) -> dict[str, Any]:
        workspace = self._slack.workspace
        return {
            "type": kind,
            "user": {
                "id": person.id,
                "username": person.name,
                "name": person.name,
                "team_id": workspace.team_id,
            },
            "api_app_id": workspace.app_id,
            "token": "playground-verification-token",
            "team": {"id": workspace.team_id, "domain": workspace.domain},
            "enterprise": None,
            "is_enterprise_install": False,
        }

    def _shown(self, person: WorkspaceUser, room: Room, ts: str) -> Message:
        own = (message for message in self._slack.state.ephemerals if message["to"] == person.id)
        for message in (*room.messages.values(), *own):
            if message["ts"] == ts:
                return message
        raise PlaygroundError(f"{person.name} sees no message {ts} in this channel")

    def _view(self, user: str, view_id: str) -> tuple[WorkspaceUser, View]:
        person = self._people.person(user)
        try:
            owner, view = self._slack.surfaces.find(view_id)
        except Refused as refusal:
            raise PlaygroundError("this view is not open any more") from refusal
        if owner != person.id:
            raise PlaygroundError(f"this view is not {person.name}'s")
        return person, view

    def _tell(self, room: Room, person: WorkspaceUser, text: str) -> None:
        post_ephemeral(self._slack, room, person.id, {"text": text}, system=True)

    def _warn(self, person: WorkspaceUser, text: str) -> None:
        body = {"id": secrets.token_hex(4), "text": text}
        self._slack.state.announce(Change(kind="notice", user=person.id, body=body))


def _channel_name(room: Room) -> str:
    """Returns the name that Slack tells an app here, which hides that of a private channel."""
    kinds = {"channel": room.name, "group": "privategroup", "im": "directmessage", "mpim": room.name}
    return kinds[room.kind]


def _without_inner_fields(message: Message) -> Message:
    return {name: deepcopy(value) for name, value in message.items() if name not in ("to", "stream_touched")}
