"""Shows the app's views: a stack of modals for each person, their App Home, and the triggers that open them."""

from __future__ import annotations

import secrets
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from bot.playground.controls import CHOICE_OF, CHOICES_OF, TYPED
from bot.playground.refusal import Refused, invalid
from bot.playground.state import Change, State

View = dict[str, Any]
MAX_MODALS = 3
"""Slack's limit of modals on top of each other."""


@dataclass(kw_only=True, slots=True)
class _Trigger:
    user: str
    until: float
    used: bool = False


class Surfaces:
    def __init__(self, state: State) -> None:
        self._state = state
        self._triggers: dict[str, _Trigger] = {}
        self.modals: dict[str, list[View]] = {}
        self.homes: dict[str, View] = {}

    def new_trigger(self, user: str) -> str:
        """Returns a `trigger_id` of something that a person just did; it opens one view within 3 seconds."""
        trigger_id = f"{secrets.randbelow(10**12)}.{secrets.token_hex(12)}"
        until = self._state.now() + self._state.limits.trigger_s
        self._triggers[trigger_id] = _Trigger(user=user, until=until)
        return trigger_id

    def exchange(self, trigger_id: str) -> str:
        """Returns the person whose trigger it is.

        Raises:
            Refused: `invalid_trigger_id`, `exchanged_trigger_id` or `expired_trigger_id`.
        """
        trigger = self._triggers.get(trigger_id)
        if trigger is None:
            raise Refused("invalid_trigger_id")
        if trigger.used:
            raise Refused("exchanged_trigger_id")
        if self._state.now() > trigger.until:
            raise Refused("expired_trigger_id")
        trigger.used = True
        return trigger.user

    def open(self, user: str, view: View) -> View:
        self._reject_taken_external_id(view)
        stored = self._stored(view, root=None, previous=None)
        self.modals[user] = [stored]
        self._show(user, stored)
        return stored

    def push(self, user: str, view: View) -> View:
        stack = self.modals.get(user, [])
        if not stack:
            raise invalid("invalid_arguments", "[ERROR] there is no open view to push on")
        if len(stack) >= MAX_MODALS:
            raise Refused("push_limit_reached")
        self._reject_taken_external_id(view)
        stored = self._stored(view, root=stack[0]["id"], previous=stack[-1]["id"])
        stack.append(stored)
        self._show(user, stored)
        return stored

    def update(self, old: View, view: View, *, user: str) -> View:
        """Puts `view` in the place of `old`, which keeps its id."""
        stored = self._stored(view, root=old["root_view_id"], previous=old["previous_view_id"])
        stored["id"] = old["id"]
        if self.homes.get(user) is old:
            self.homes[user] = stored
            self._state.announce(Change(kind="home", user=user, body=deepcopy(stored)))
            return stored
        stack = self.modals[user]
        stack[stack.index(old)] = stored
        self._show(user, stack[-1])
        return stored

    def publish(self, user: str, view: View, *, expected_hash: str | None) -> View:
        old = self.homes.get(user)
        if old is not None and expected_hash is not None and old["hash"] != expected_hash:
            raise Refused("hash_conflict")
        stored = self._stored(view, root=None, previous=None)
        if old is not None:
            stored["id"] = stored["root_view_id"] = old["id"]
        self.homes[user] = stored
        self._state.announce(Change(kind="home", user=user, body=deepcopy(stored)))
        return stored

    def close(self, user: str, *, every: bool = False) -> None:
        """Takes the top modal away, or the whole stack."""
        stack = self.modals.get(user, [])
        if len(stack) > 1 and not every:
            stack.pop()
            self._show(user, stack[-1])
            return
        self.modals.pop(user, None)
        self._state.announce(Change(kind="view_closed", user=user))

    def find(self, *, view_id: str = "", external_id: str = "") -> tuple[str, View]:
        """Returns a view's person and the view.

        Raises:
            Refused: `not_found`.
        """
        modals = ((user, view) for user, stack in self.modals.items() for view in stack)
        for user, view in (*modals, *self.homes.items()):
            if view["id"] == view_id or (external_id and view["external_id"] == external_id):
                return user, view
        raise Refused("not_found")

    def _show(self, user: str, view: View) -> None:
        self._state.announce(Change(kind="view", user=user, body=deepcopy(view)))

    def _reject_taken_external_id(self, view: View) -> None:
        taken = {other["external_id"] for stack in self.modals.values() for other in stack} - {"", None}
        if view.get("external_id") in taken:
            raise Refused("duplicate_external_id")

    def _stored(self, view: View, *, root: str | None, previous: str | None) -> View:
        workspace = self._state.workspace
        view_id = f"V{secrets.token_hex(5).upper()}"
        stored = {
            "callback_id": "",
            "private_metadata": "",
            "external_id": "",
            "state": {"values": {}},
            **deepcopy(view),
            "id": view_id,
            "team_id": workspace.team_id,
            "root_view_id": root or view_id,
            "previous_view_id": previous,
            "app_id": workspace.app_id,
            "bot_id": workspace.bot_id,
            "app_installed_team_id": workspace.team_id,
            "hash": f"{int(self._state.now())}.{secrets.token_hex(4)}",
        }
        name_blocks(stored["blocks"])
        return stored


def name_blocks(blocks: list[dict[str, Any]]) -> None:
    """Gives each block without a `block_id` one, and each interactive element without an `action_id`, as Slack does."""
    for block in blocks:
        block.setdefault("block_id", secrets.token_urlsafe(4)[:5])
        for element in (block.get("accessory"), block.get("element"), *block.get("elements", [])):
            if isinstance(element, dict) and element.get("type") in _ACTING:
                element.setdefault("action_id", secrets.token_urlsafe(4)[:5])


_ACTING = {"button", "feedback_buttons", "icon_button", *CHOICE_OF, *CHOICES_OF, *TYPED}
