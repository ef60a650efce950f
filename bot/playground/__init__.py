"""A local Slack workspace: for the browser with `make run`, and the Slack of all our tests."""

from bot.playground.refusal import PlaygroundError
from bot.playground.server import Playground
from bot.playground.sharing import Upload
from bot.playground.slack_limits import SlackLimits
from bot.playground.workspace import (
    CommandDefinition,
    Shortcut,
    Workspace,
    WorkspaceChannel,
    WorkspaceUser,
    sample_workspace,
)

__all__ = [
    "CommandDefinition",
    "Playground",
    "PlaygroundError",
    "Shortcut",
    "SlackLimits",
    "Upload",
    "Workspace",
    "WorkspaceChannel",
    "WorkspaceUser",
    "sample_workspace",
]
