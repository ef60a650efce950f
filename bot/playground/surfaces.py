"""Shows the app's views: each person's modal and App Home, and the triggers that open them.

Of what Slack has, modals on top of each other and `external_id` are left out: Footnote uses neither.
"""

from __future__ import annotations

import secrets
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal

from bot.playground.controls import CHOICE_OF, CHOICES_OF, TYPED
from bot.playground.refusal import Refused
from bot.playground.state import Change, State

View = dict[str, Any]


@dataclass(kw_only=True, slots=True)
class _Trigger:
    user: str
    until: float
    used: bool = False


class Surfaces:
    def __init__(self, state: State) -> None:
        self._state = state
        self._triggers: dict[str, _Trigger] = {}
        self.modals: dict[str, View] = {}
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
        """Opens a modal, in the place of one that is open."""
        self.modals[user] = self._stored(view)
        return self._announced("view", user, self.modals[user])

    def update(self, view_id: str, view: View) -> View:
        """Puts `view` in the place of another, whose id it takes over.

        Raises:
            Refused: `not_found`.
        """
        user, old = self.find(view_id)
        stored = self._stored(view, view_id=view_id)
        if self.homes.get(user) is old:
            self.homes[user] = stored
            return self._announced("home", user, stored)
        self.modals[user] = stored
        return self._announced("view", user, stored)

    def publish(self, user: str, view: View) -> View:
        old = self.homes.get(user)
        self.homes[user] = self._stored(view, view_id=old["id"] if old else None)
        return self._announced("home", user, self.homes[user])

    def close(self, user: str) -> None:
        self.modals.pop(user, None)
        self._state.announce(Change(kind="view_closed", user=user))

    def find(self, view_id: str) -> tuple[str, View]:
        """Returns a view's person and the view.

        Raises:
            Refused: `not_found`.
        """
        for user, view in (*self.modals.items(), *self.homes.items()):
            if view["id"] == view_id:
                return user, view
        raise Refused("not_found")

    def _announced(self, kind: Literal["view", "home"], user: str, view: View) -> View:
        self._state.announce(Change(kind=kind, user=user, body=deepcopy(view)))
        return view

    def _stored(self, view: View, *, view_id: str | None = None) -> View:
        workspace = self._state.workspace
        view_id = view_id or f"V{secrets.token_hex(5).upper()}"
        stored = {
            "callback_id": "",
            "private_metadata": "",
            "external_id": "",
            "state": {"values": {}},
            **deepcopy(view),
            "id": view_id,
            "team_id": workspace.team_id,
            "root_view_id": view_id,
            "previous_view_id": None,
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
