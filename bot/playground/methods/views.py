"""views.*: modals and the App Home."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from bot.playground.arguments import Arguments
from bot.playground.block_kit import check_view
from bot.playground.refusal import Refused, invalid
from bot.playground.slack import Method, Slack


def open_view(slack: Slack, args: Arguments) -> dict[str, Any]:
    trigger_id = args.required("trigger_id")
    view = args.structure("view")
    check_view(view, kinds=("modal",))
    return {"view": deepcopy(slack.surfaces.open(slack.surfaces.exchange(trigger_id), view))}


def push(slack: Slack, args: Arguments) -> dict[str, Any]:
    trigger_id = args.required("trigger_id")
    view = args.structure("view")
    check_view(view, kinds=("modal",))
    return {"view": deepcopy(slack.surfaces.push(slack.surfaces.exchange(trigger_id), view))}


def update(slack: Slack, args: Arguments) -> dict[str, Any]:
    if not args.text("view_id") and not args.text("external_id"):
        raise invalid("invalid_arguments", "[ERROR] missing required field: view_id or external_id")
    view = args.structure("view")
    check_view(view, kinds=("modal", "home"))
    user, old = slack.surfaces.find(view_id=args.text("view_id"), external_id=args.text("external_id"))
    if args.text("hash") and args.text("hash") != old["hash"]:
        raise Refused("hash_conflict")
    return {"view": deepcopy(slack.surfaces.update(old, view, user=user))}


def publish(slack: Slack, args: Arguments) -> dict[str, Any]:
    user = args.required("user_id")
    view = args.structure("view")
    check_view(view, kinds=("home",))
    if not any(person.id == user for person in slack.workspace.people):
        raise Refused("user_not_found")
    return {"view": deepcopy(slack.surfaces.publish(user, view, expected_hash=args.text("hash") or None))}


METHODS = (
    Method(name="views.open", call=open_view, tier=4),
    Method(name="views.push", call=push, tier=4),
    Method(name="views.update", call=update, tier=4),
    Method(name="views.publish", call=publish, tier=4),
)
