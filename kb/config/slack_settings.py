"""Settings of Slack: how it is reached, and how the bot behaves there."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, SecretStr

from kb.config.sections import Section
from kb.config.sources import as_span

SECOND, DAY = timedelta(seconds=1), timedelta(days=1)

Outsiders = Literal["marked", "open"]
FollowUps = Literal["auto", "mention", "everyone"]
Corrections = Literal["note", "off"]


class SlackSettings(Section):
    """How to reach Slack. Socket Mode with an app token, or signed HTTP events with a signing secret."""

    bot_token: SecretStr | None = None
    """xoxb-..., of the installed app."""
    app_token: SecretStr | None = None
    """xapp-..., for Socket Mode."""
    signing_secret: SecretStr | None = None
    """For HTTP events, instead of `app_token`."""
    api_url: str = "https://slack.com/api/"
    """Where Slack's Web API is. Change it in tests only."""
    port: Annotated[int, Field(ge=0, le=65535)] = 3000
    """Where HTTP events are listened for."""
    host: str = "127.0.0.1"
    """The address to listen on. A container needs 0.0.0.0; everything else a proxy that ends TLS in front."""
    command: Annotated[str, Field(pattern=r"^/[a-z0-9_-]{1,31}$")] = "/kb"
    """The slash command, as the app's manifest has it."""
    admins: tuple[str, ...] = ()
    """Who may reindex besides the workspace's owners and admins: people (U0123), user groups (S0123, or @handle)."""
    workers: Annotated[int, Field(ge=1, le=64)] = 4
    """Questions that are worked on at the same time."""
    answer_within: Annotated[timedelta, BeforeValidator(as_span), Field(ge=SECOND, le=DAY)] = timedelta(
        minutes=30
    )
    """How long a question may wait for its answer, while Slack is away
    above all. Later its asker is told, in one sentence, to ask again."""
    stream: Literal["auto", "off"] = "auto"
    """Shows an answer while the model writes it, where the workspace has streams; "off": whole, when it is done."""
    gaps_digest: str = ""
    """The channel (C0123, or its name) that is told once a week what was asked and the
    pages do not answer; "": none. Only questions of public channels are quoted there."""
    owner_digest: bool = False
    """Whether the owners of pages are told once a month, in a direct message, which of theirs are overdue or expired.
    """
    outsiders: Outsiders = "marked"
    """What guests, and channels that are shared with another organisation, may read: pages that are marked for their
    channel, or every page without a limit as well ("open")."""
    follow_ups: FollowUps = "auto"
    """Messages in a thread without a mention: "auto" judges whether they are meant for Footnote, "mention" takes none,
    "everyone" takes each. A channel's own setting wins."""
    corrections: Corrections = "note"
    """Whether a thread is told when what its answer quoted has changed,
    expired or been replaced. A channel's own setting wins.
    """
