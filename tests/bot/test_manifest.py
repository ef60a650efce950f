"""The Slack manifest: within Slack's limits, and with the scopes that the code needs and no others."""

import inspect
import re
from pathlib import Path
from typing import Any

import yaml

import bot.app
from bot.scopes import REQUIRED
from kb.settings import SlackSettings

ROOT = Path(__file__).parents[2]
MANIFEST: dict[str, Any] = yaml.safe_load(
    (ROOT / "deploy" / "slack-manifest.yaml").read_text(encoding="utf-8")
)

KINDS = ("channels", "groups", "im", "mpim")
SCOPES_OF_METHODS = {
    "assistant_threads_setStatus": {"chat:write"},
    "auth_test": set(),
    "chat_appendStream": {"chat:write"},
    "chat_delete": {"chat:write"},
    "chat_postEphemeral": {"chat:write"},
    "chat_postMessage": {"chat:write"},
    "chat_startStream": {"chat:write"},
    "chat_stopStream": {"chat:write"},
    "chat_update": {"chat:write"},
    "conversations_info": {f"{kind}:read" for kind in KINDS},
    "conversations_replies": {f"{kind}:history" for kind in KINDS},
    "usergroups_list": {"usergroups:read"},
    "usergroups_users_list": {"usergroups:read"},
    "users_conversations": {"channels:read", "groups:read"},
    "users_info": {"users:read"},
    "views_open": set(),
    "views_publish": set(),
}
SCOPES_OF_EVENTS = {
    "app_home_opened": set(),
    "app_mention": {"app_mentions:read"},
    **{f"message.{kind}": {f"{kind}:history"} for kind in KINDS},
}


def methods_called() -> set[str]:
    code = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "bot").glob("*.py"))
    families = "assistant|auth|chat|conversations|reactions|team|usergroups|users|views"
    return set(re.findall(rf"\.((?:{families})_[a-zA-Z_]+)\(", code))


def test_it_asks_for_the_scopes_that_its_calls_and_events_need_and_no_others() -> None:
    needed = {"commands"}
    for method in methods_called():
        needed |= SCOPES_OF_METHODS[method]
    for event in MANIFEST["settings"]["event_subscriptions"]["bot_events"]:
        needed |= SCOPES_OF_EVENTS[event]
    assert set(MANIFEST["oauth_config"]["scopes"]["bot"]) == needed == set(REQUIRED)


def test_every_subscribed_event_has_a_listener() -> None:
    listened = set(re.findall(r'app\.event\("(\w+)"\)', inspect.getsource(bot.app)))
    subscribed = {event.split(".")[0] for event in MANIFEST["settings"]["event_subscriptions"]["bot_events"]}
    assert listened == subscribed


def test_its_command_is_the_one_that_the_settings_expect() -> None:
    (command,) = MANIFEST["features"]["slash_commands"]
    assert command["command"] == SlackSettings().command


def test_each_scope_and_event_says_what_it_is_for() -> None:
    text = (ROOT / "deploy" / "slack-manifest.yaml").read_text(encoding="utf-8")
    for name in [
        *MANIFEST["oauth_config"]["scopes"]["bot"],
        *MANIFEST["settings"]["event_subscriptions"]["bot_events"],
    ]:
        assert re.search(rf"- {re.escape(name)} # \w", text), name


def test_texts_are_within_slacks_limits() -> None:
    shown = MANIFEST["display_information"]
    assert len(shown["name"]) <= 35
    assert len(shown["description"]) <= 140
    assert 174 <= len(shown["long_description"]) <= 4000
    assert re.fullmatch(r"#[0-9a-f]{6}", shown["background_color"])
    assert MANIFEST["settings"]["socket_mode_enabled"] is True
    assert MANIFEST["settings"]["interactivity"]["is_enabled"] is True
