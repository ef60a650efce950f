"""`footnote settings`, and docs/settings.md, which is made of the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli.settings_help import Setting, all_settings, manual, show
from kb.config.configuration import load_settings
from kb.config.settings import Settings
from kb.errors import SettingsError

MANUAL = Path(__file__).resolve().parents[2] / "docs" / "settings.md"


def test_the_manual_is_what_the_code_says() -> None:
    assert MANUAL.read_text(encoding="utf-8") == manual(), "run `make docs`"


@pytest.mark.parametrize("setting", list(all_settings(Settings())), ids=lambda setting: setting.name)
def test_every_setting_says_what_it_means_and_is_read_by_its_name(setting: Setting) -> None:
    assert setting.meaning.endswith((".", ")")), setting
    assert setting.takes
    if setting.default != "none" and setting.default[0] not in "[{":
        load_settings(environ={setting.environment: setting.default.strip('"')})
    else:
        try:
            load_settings(environ={setting.environment: "?"})
        except SettingsError as error:
            assert "unknown setting" not in str(error)  # noqa: PT017 (it may be refused or not, but is known)


def test_no_secret_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    settings = load_settings(
        environ={
            "ANTHROPIC_API_KEY": "sk-hidden",
            "SLACK_BOT_TOKEN": "xoxb-hidden",
            "QDRANT_URL": "https://me:hidden@kb.example.com",
            "REDIS_URL": "redis://:hidden@kb.example.com",
        }
    )
    show(settings, as_json=True)
    show(settings, as_json=False)

    told = capsys.readouterr().out
    assert "hidden" not in told
    now = {one["name"]: one["now"] for one in json.loads(told[: told.index("\n]\n") + 2])}
    assert (now["model.api_key"], now["store.redis_url"]) == ("set", "set")
    assert now["index.qdrant_url"] == '"https://kb.example.com"'


def test_what_is_set_is_told_beside_its_default(capsys: pytest.CaptureFixture[str]) -> None:
    (keep,) = [
        one
        for one in all_settings(load_settings(environ={"FOOTNOTE_SEARCH__KEEP": "8"}))
        if one.name == "search.keep"
    ]

    assert (keep.now, keep.default, keep.takes, keep.environment) == (
        "8",
        "5",
        "1 to 50",
        "FOOTNOTE_SEARCH__KEEP",
    )
