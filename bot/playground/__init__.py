"""A local Slack workspace: for the browser with `make run`, and the Slack of all our tests."""

from bot.playground.limits import Limits
from bot.playground.refusal import PlaygroundError
from bot.playground.server import Playground
from bot.playground.sharing import Upload
from bot.playground.workspace import Channel, Person, Shortcut, SlashCommand, Workspace, sample_workspace

__all__ = [
    "Channel",
    "Limits",
    "Person",
    "Playground",
    "PlaygroundError",
    "Shortcut",
    "SlashCommand",
    "Upload",
    "Workspace",
    "sample_workspace",
]
