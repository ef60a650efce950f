"""A Slack app's own manifest beside what Footnote needs: `footnote doctor --manifest FILE`.

No token tells which events an app is subscribed to, and which commands and shortcuts it has.
Slack shows that under "App Manifest"; saved to a file, as YAML or JSON, it can be checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from bot.cli.checks.check import Check
from bot.slack.scopes import AGENT, EVENTS, REQUIRED
from bot.views.shortcut import SHORTCUT
from kb.errors import SettingsError

WANTED = "as in deploy/slack-manifest.yaml"
LEGACY = ("assistant_thread_started",)
"""What the former assistant view needs in addition."""


def manifest_checks(path: Path, command: str) -> list[Check]:
    """Raises `SettingsError` where the file holds no manifest."""
    manifest = _read(path)
    return [
        _lacking(
            "manifest scopes",
            REQUIRED,
            _at(manifest, "oauth_config", "scopes", "bot"),
            "without them calls fail",
        ),
        _lacking(
            "manifest events",
            EVENTS,
            _at(manifest, "settings", "event_subscriptions", "bot_events"),
            "Slack does not tell Footnote of them",
        ),
        _command(manifest, command),
        _shortcut(manifest),
        *_switches(manifest),
        _pane(manifest),
    ]


def _read(path: Path) -> Mapping[str, Any]:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))  # JSON is YAML as well
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"{path} cannot be read as a manifest ({type(error).__name__})") from error
    if not isinstance(document, dict) or "display_information" not in document:
        raise SettingsError(f"{path} is no manifest of a Slack app: it has no display_information")
    return document


def _lacking(name: str, wanted: Sequence[str], held: Any, because: str) -> Check:
    there = set(held) if isinstance(held, list) else set()
    if missing := [name for name in wanted if name not in there]:
        mend = f"add them {WANTED}, and reinstall the app: {because}"
        return Check.broken(name, f"missing: {', '.join(missing)}", mend)
    return Check.ok(name, "all there")


def _command(manifest: Mapping[str, Any], command: str) -> Check:
    name = "manifest command"
    held = [entry.get("command") for entry in _objects(manifest, "features", "slash_commands")]
    if command in held:
        return Check.ok(name, command)
    others = f" (it has {', '.join(map(str, held))})" if held else ""
    mend = f"add it {WANTED}, or set slack.command"
    return Check.broken(name, f"{command} is not there{others}", mend)


def _shortcut(manifest: Mapping[str, Any]) -> Check:
    name = "manifest shortcut"
    for shortcut in _objects(manifest, "features", "shortcuts"):
        if shortcut.get("callback_id") == SHORTCUT and shortcut.get("type") == "message":
            return Check.ok(name, str(shortcut.get("name")))
    mend = f"add it {WANTED}, with the callback id {SHORTCUT}"
    return Check.warning(name, "messages have no shortcut to Footnote", mend)


def _switches(manifest: Mapping[str, Any]) -> Iterator[Check]:
    """Checks the features that have to be switched on."""
    switches = {
        "manifest buttons": ("settings", "interactivity", "is_enabled"),
        "manifest home tab": ("features", "app_home", "home_tab_enabled"),
        "manifest messages tab": ("features", "app_home", "messages_tab_enabled"),
    }
    for name, keys in switches.items():
        if _at(manifest, *keys) is True:
            yield Check.ok(name, "on")
        else:
            yield Check.broken(name, "off", f"set {'.'.join(keys)} to true")
    if _at(manifest, "features", "app_home", "messages_tab_read_only_enabled") is True:
        yield Check.broken(
            "manifest messages tab",
            "read only: nobody can write to Footnote",
            "set features.app_home.messages_tab_read_only_enabled to false",
        )


def _pane(manifest: Mapping[str, Any]) -> Check:
    """Checks that the agent's view, or the former assistant's, has the scope and events that belong to it."""
    name = "manifest agent view"
    scopes = _at(manifest, "oauth_config", "scopes", "bot") or []
    events = _at(manifest, "settings", "event_subscriptions", "bot_events") or []
    may = set(AGENT) <= set(scopes)
    if _at(manifest, "features", "agent_view") is not None:
        if may:
            return Check.ok(name, "on")
        return Check.warning(name, f"on, without {AGENT[0]}", f"add the scope {AGENT[0]}")
    if _at(manifest, "features", "assistant_view") is not None:
        missing = [event for event in LEGACY if event not in events] + ([] if may else list(AGENT))
        if missing:
            finding = f"the former assistant view, without {', '.join(missing)}"
            return Check.warning(name, finding, "add them, or turn to agent_view")
        return Check.ok(name, "the former assistant view", "Slack asks to turn to agent_view")
    if may:
        finding = f"off, though {AGENT[0]} is asked for"
        return Check.warning(name, finding, "add features.agent_view, or leave the scope out")
    return Check.ok(name, "off: a plain bot")


def _at(manifest: Mapping[str, Any], *keys: str) -> Any:
    found: Any = manifest
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _objects(manifest: Mapping[str, Any], *keys: str) -> list[Mapping[str, Any]]:
    found = _at(manifest, *keys)
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
