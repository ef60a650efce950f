"""The playground's app is installed as the manifest says, and the sample workspace holds what the handbook needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.playground import sample_workspace
from bot.playground.events import SUBSCRIPTIONS


@pytest.fixture
def manifest() -> dict[str, Any]:
    path = Path(__file__).parents[3] / "deploy" / "slack-manifest-agent.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_scopes_are_the_manifests(manifest: dict[str, Any]) -> None:
    assert sorted(sample_workspace().scopes) == sorted(manifest["oauth_config"]["scopes"]["bot"])


def test_the_subscriptions_are_the_manifests(manifest: dict[str, Any]) -> None:
    assert sorted(SUBSCRIPTIONS) == sorted(manifest["settings"]["event_subscriptions"]["bot_events"])


def test_the_command_is_the_manifests(manifest: dict[str, Any]) -> None:
    (command,) = sample_workspace().commands
    (declared,) = manifest["features"]["slash_commands"]
    assert (command.name, command.hint, command.description) == (
        declared["command"],
        declared["usage_hint"],
        declared["description"],
    )


def test_the_sample_workspace_has_a_private_channel_with_the_bot_and_one_without() -> None:
    workspace = sample_workspace()
    private = {one.name: workspace.bot_user_id in one.members for one in workspace.channels if one.is_private}
    assert private == {"people-leads": True, "board": False}
    assert any(person.is_admin for person in workspace.people)
    known = {person.id for person in workspace.everyone()}
    assert all(set(channel.members) <= known for channel in workspace.channels)
