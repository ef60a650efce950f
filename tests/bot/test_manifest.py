"""The Slack manifests: within Slack's limits, with the scopes that the
code needs and no others, and alike but for the pane.
"""

import inspect
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

import bot.edge.app
from bot.playground import sample_workspace
from bot.slack.scopes import AGENT, EVENTS, OPTIONAL, REQUIRED
from bot.views.shortcut import SHORTCUT
from bot.views.slash_command import FOR_ADMINS, FOR_EVERYBODY
from kb.config.slack_settings import SlackSettings

DEPLOY = Path(__file__).parents[2] / "deploy"
ROOT = DEPLOY.parent
NAMES = ("slack-manifest.yaml", "slack-manifest-agent.yaml")


def manifest_in(name: str) -> dict[str, Any]:
    told: dict[str, Any] = yaml.safe_load((DEPLOY / name).read_text(encoding="utf-8"))
    return told


MANIFEST, AGENTS = (manifest_in(name) for name in NAMES)
BOTH = pytest.mark.parametrize("name", NAMES)

KINDS = ("channels", "groups", "im", "mpim")
SCOPES_OF_METHODS = {
    "assistant_threads_setStatus": {"chat:write"},
    "assistant_threads_setSuggestedPrompts": set(AGENT),
    "assistant_threads_setTitle": set(AGENT),
    "auth_test": set(),
    "chat_appendStream": {"chat:write"},
    "chat_delete": {"chat:write"},
    "chat_postEphemeral": {"chat:write"},
    "chat_postMessage": {"chat:write"},
    "chat_startStream": {"chat:write"},
    "chat_stopStream": {"chat:write"},
    "chat_update": {"chat:write"},
    "conversations_history": {f"{kind}:history" for kind in KINDS},
    "conversations_info": {f"{kind}:read" for kind in KINDS},
    "conversations_open": {"im:write"},
    "conversations_replies": {f"{kind}:history" for kind in KINDS},
    "usergroups_list": {"usergroups:read"},
    "usergroups_users_list": {"usergroups:read"},
    "users_conversations": {"channels:read", "groups:read"},
    "users_info": {"users:read"},
    "users_list": {"users:read"},
    "users_lookupByEmail": {"users:read.email"},
    "views_open": set(),
    "views_publish": set(),
    "views_update": set(),
}
SCOPES_OF_EVENTS = {
    "app_home_opened": set(),
    "app_mention": {"app_mentions:read"},
    **{f"message.{kind}": {f"{kind}:history"} for kind in KINDS},
}
LEGACY = {"assistant_thread_started", "assistant_thread_context_changed"}
"""Events of the former assistant view, which an app that was made with it still has."""


def methods_called() -> set[str]:
    elsewhere = {ROOT / "bot" / room for room in ("api", "cli", "playground")}
    files = (file for file in (ROOT / "bot").rglob("*.py") if not elsewhere & set(file.parents))
    code = "".join(file.read_text(encoding="utf-8") for file in files)
    families = "assistant|auth|chat|conversations|reactions|usergroups|users|views"
    return set(re.findall(rf"\.((?:{families})_[a-zA-Z_]+)(?=[(,])", code))


def test_it_asks_for_the_scopes_that_its_calls_and_events_need_and_no_others() -> None:
    needed = {"commands"}
    for method in methods_called():
        needed |= SCOPES_OF_METHODS[method]
    for event in MANIFEST["settings"]["event_subscriptions"]["bot_events"]:
        needed |= SCOPES_OF_EVENTS[event]
    assert set(MANIFEST["oauth_config"]["scopes"]["bot"]) == needed - set(AGENT) == {*REQUIRED, *OPTIONAL}
    assert set(AGENTS["oauth_config"]["scopes"]["bot"]) == needed


def test_an_agents_manifest_is_the_same_but_for_the_pane() -> None:
    plain = deepcopy(AGENTS)
    view = plain["features"].pop("agent_view")
    scopes = plain["oauth_config"]["scopes"]["bot"]
    plain["oauth_config"]["scopes"]["bot"] = [one for one in scopes if one not in AGENT]
    assert plain == MANIFEST
    assert "assistant_view" not in AGENTS["features"]
    assert len(view["agent_description"]) <= 300
    assert 1 <= len(view["suggested_prompts"]) <= 4
    assert all(set(one) == {"title", "message"} for one in view["suggested_prompts"])


@BOTH
def test_every_subscribed_event_has_a_listener(name: str) -> None:
    listened = set(re.findall(r'app\.event\("(\w+)"\)', inspect.getsource(bot.edge.app)))
    events = manifest_in(name)["settings"]["event_subscriptions"]["bot_events"]
    assert listened - LEGACY == {event.split(".")[0] for event in events}
    assert set(events) == set(EVENTS)


@BOTH
def test_its_command_is_the_one_that_the_settings_expect_and_its_hint_names_every_subcommand(
    name: str,
) -> None:
    (command,) = manifest_in(name)["features"]["slash_commands"]
    assert command["command"] == SlackSettings().command
    words = [one.split()[0] for one in command["usage_hint"].split(" | ")]
    assert set(words) == {*FOR_EVERYBODY, *FOR_ADMINS}
    assert len(words) == len(set(words))
    assert len(command["usage_hint"]) <= 1000
    assert len(command["description"]) <= 2000


@BOTH
def test_its_shortcut_is_the_one_that_is_listened_to(name: str) -> None:
    (shortcut,) = manifest_in(name)["features"]["shortcuts"]
    assert (shortcut["type"], shortcut["callback_id"]) == ("message", SHORTCUT)
    assert len(shortcut["name"]) <= 24
    assert len(shortcut["description"]) <= 150


@BOTH
def test_each_scope_and_event_says_what_it_is_for(name: str) -> None:
    text, manifest = (DEPLOY / name).read_text(encoding="utf-8"), manifest_in(name)
    for one in [
        *manifest["oauth_config"]["scopes"]["bot"],
        *manifest["settings"]["event_subscriptions"]["bot_events"],
    ]:
        assert re.search(rf"- {re.escape(one)} # \w", text), one


def test_the_playgrounds_workspace_has_it_installed() -> None:
    workspace = sample_workspace()
    (command,) = AGENTS["features"]["slash_commands"]
    (shortcut,) = AGENTS["features"]["shortcuts"]
    assert set(workspace.scopes) == set(AGENTS["oauth_config"]["scopes"]["bot"])
    assert (workspace.commands[0].name, workspace.commands[0].hint) == (
        command["command"],
        command["usage_hint"],
    )
    assert (workspace.shortcuts[0].callback_id, workspace.shortcuts[0].name) == (
        shortcut["callback_id"],
        shortcut["name"],
    )
    assert workspace.agent_view is ("agent_view" in AGENTS["features"])


@BOTH
def test_texts_are_within_slacks_limits(name: str) -> None:
    manifest = manifest_in(name)
    shown = manifest["display_information"]
    assert len(shown["name"]) <= 35
    assert len(shown["description"]) <= 140
    assert 174 <= len(shown["long_description"]) <= 4000
    assert re.fullmatch(r"#[0-9a-f]{6}", shown["background_color"])
    assert manifest["settings"]["socket_mode_enabled"] is True
    assert manifest["settings"]["interactivity"]["is_enabled"] is True
