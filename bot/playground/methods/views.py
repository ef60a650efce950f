"""views.*: modals and the App Home."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from bot.playground.arguments import Arguments
from bot.playground.block_kit import check_view
from bot.playground.refusal import Refused
from bot.playground.slack import Method, Slack
from bot.playground.surfaces import View


def open_view(slack: Slack, args: Arguments) -> dict[str, Any]:
    trigger_id, view = args.required("trigger_id"), _checked(args, "modal")
    return {"view": deepcopy(slack.surfaces.open(slack.surfaces.exchange(trigger_id), view))}


def update(slack: Slack, args: Arguments) -> dict[str, Any]:
    view_id, view = args.required("view_id"), _checked(args, "modal", "home")
    return {"view": deepcopy(slack.surfaces.update(view_id, view))}


def publish(slack: Slack, args: Arguments) -> dict[str, Any]:
    user, view = args.required("user_id"), _checked(args, "home")
    if not any(person.id == user for person in slack.workspace.people):
        raise Refused("user_not_found")
    return {"view": deepcopy(slack.surfaces.publish(user, view))}


def _checked(args: Arguments, *kinds: str) -> View:
    view: View = args.structure("view")
    check_view(view, kinds=kinds)
    return view


METHODS = (
    Method(name="views.open", call=open_view, tier=4),
    Method(name="views.update", call=update, tier=4),
    Method(name="views.publish", call=publish, tier=4),
)
