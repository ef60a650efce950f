"""Lists the scopes and events that the Slack app needs, as `deploy/slack-manifest.yaml` does. A test keeps the two
equal.
"""

from __future__ import annotations

REQUIRED: tuple[str, ...] = (
    "app_mentions:read",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "mpim:history",
    "mpim:read",
    "usergroups:read",
    "users:read",
)
OPTIONAL: tuple[str, ...] = ("im:write", "users:read.email")
"""Optional: without these the owners of pages get no digest, and are found by name
alone. An app that was installed before them works on.
"""
AGENT: tuple[str, ...] = ("assistant:write",)
"""What `deploy/slack-manifest-agent.yaml` asks for besides: questions
suggested in the messages tab, and titles there.
"""
EVENTS: tuple[str, ...] = (
    "app_home_opened",
    "app_mention",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
)


def missing_scopes(granted: str) -> list[str]:
    """Returns the required scopes that Slack's `x-oauth-scopes` header (comma-separated) does not name."""
    return [scope for scope in REQUIRED if scope not in _held(granted)]


def missing_options(granted: str) -> list[str]:
    return [scope for scope in OPTIONAL if scope not in _held(granted)]


def may_fill_pane(granted: str) -> bool:
    """Tells whether the header names what the agent view needs."""
    return set(AGENT) <= _held(granted)


def _held(granted: str) -> set[str]:
    return {scope.strip() for scope in granted.split(",")}
