"""The bot token's scopes, as `deploy/slack-manifest.yaml` asks for them. A test keeps the two equal."""

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


def missing_scopes(granted: str) -> list[str]:
    """Those that Slack's `x-oauth-scopes` header (comma-separated) does not name."""
    held = {scope.strip() for scope in granted.split(",")}
    return [scope for scope in REQUIRED if scope not in held]
