"""assistant.threads.*: what an app says about a thread while it works."""

from __future__ import annotations

from typing import Any

from bot.playground.arguments import Arguments
from bot.playground.refusal import Refused, invalid
from bot.playground.slack import SPECIAL, Method, Slack
from bot.playground.state import Change

MAX_PROMPTS = 4


def set_status(slack: Slack, args: Arguments) -> dict[str, Any]:
    """Shows a status until the app replies, an empty status comes, or two minutes have passed."""
    room = slack.joined_room(args.required("channel_id"))
    thread_ts = args.required("thread_ts")
    if "status" not in args:
        raise invalid("invalid_arguments", "[ERROR] missing required field: status")
    if thread_ts not in room.messages:
        raise Refused("thread_not_found")
    slack.state.set_status(room, thread_ts, args.text("status"))
    return {}


def set_suggested_prompts(slack: Slack, args: Arguments) -> dict[str, Any]:
    room = slack.joined_room(args.required("channel_id"))
    prompts = args.structure("prompts") or []
    if not prompts or len(prompts) > MAX_PROMPTS:
        raise invalid(
            "invalid_arguments", f"[ERROR] between 1 and {MAX_PROMPTS} prompts [json-pointer:/prompts]"
        )
    if not all(
        isinstance(prompt, dict) and prompt.get("title") and prompt.get("message") for prompt in prompts
    ):
        raise invalid("invalid_arguments", "[ERROR] title and message are required [json-pointer:/prompts]")
    thread_ts = args.text("thread_ts")
    if thread_ts and slack.workspace.agent_view:  # "the call will silently fail", Slack says of agents
        return {}
    body = {"thread_ts": thread_ts, "title": args.text("title"), "prompts": prompts}
    slack.state.suggestions[room.id, thread_ts] = body
    slack.state.announce(Change(kind="suggestions", channel=room.id, body=body))
    return {}


def set_title(slack: Slack, args: Arguments) -> dict[str, Any]:
    room = slack.joined_room(args.required("channel_id"))
    if not room.is_im:
        raise Refused("channel_not_supported")
    title = args.required("title")
    thread_ts = slack.message(room, args.required("thread_ts"))["ts"]
    slack.state.titles[room.id, thread_ts] = title
    body = {"thread_ts": thread_ts, "title": title}
    slack.state.announce(Change(kind="title", channel=room.id, body=body))
    return {}


_SCOPES = ("assistant:write", "chat:write")
_AGENT = ("assistant:write",)
METHODS = (
    Method(name="assistant.threads.setStatus", call=set_status, scopes=_SCOPES, tier=SPECIAL),
    Method(name="assistant.threads.setSuggestedPrompts", call=set_suggested_prompts, scopes=_AGENT, tier=4),
    Method(name="assistant.threads.setTitle", call=set_title, scopes=_AGENT, tier=4),
)
