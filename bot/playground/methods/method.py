"""Defines what the dispatcher knows of a Web API method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot.playground.arguments import Arguments
from bot.playground.slack import Slack

SPECIAL = 0
"""The tier of methods that Slack allows hundreds of times a minute."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Method:
    """`scopes`: any one of them will do; none is needed when it is empty. `app_token`: takes that, not the bot's."""

    name: str
    call: Callable[[Slack, Arguments], dict[str, Any]]
    scopes: tuple[str, ...] = ()
    tier: int = SPECIAL
    app_token: bool = False
