"""Settings fail at start, with the fix in the message, and never show a secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.config.configuration import load_settings
from kb.config.settings import Settings
from kb.errors import SettingsError


def test_the_defaults_need_no_environment_at_all():
    assert load_settings(environ={}) == Settings()


def test_the_environment_wins_over_the_file(tmp_path: Path):
    file = tmp_path / "footnote.toml"
    file.write_text("[search]\nkeep = 7\nleg_limit = 40\n")
    settings = load_settings(environ={"FOOTNOTE_SEARCH__KEEP": "9"}, file=file)
    assert (settings.search.keep, settings.search.leg_limit) == (9, 40)


def test_well_known_names_work_without_a_prefix():
    settings = load_settings(environ={"ANTHROPIC_API_KEY": "k", "QDRANT_URL": "http://q:6333"})
    assert settings.model.effective_provider == "anthropic"
    assert settings.index.qdrant_url == "http://q:6333"


def test_an_empty_well_known_name_counts_as_not_set():
    assert load_settings(environ={"ANTHROPIC_API_KEY": ""}).model.effective_provider == "none"


def test_a_list_comes_from_the_environment_with_commas():
    assert load_settings(environ={"FOOTNOTE_SLACK__ADMINS": "U1, U2"}).slack.admins == ("U1", "U2")


@pytest.mark.parametrize(
    ("name", "hint"),
    [("FOOTNOTE_SERCH__KEEP", "'search'"), ("FOOTNOTE_SEARCH__KEP", "'search.keep'")],
)
def test_a_misspelt_name_is_refused_with_the_nearest_right_one(name: str, hint: str):
    with pytest.raises(SettingsError, match=f"did you mean {hint}"):
        load_settings(environ={name: "8"})


def test_a_value_out_of_bounds_names_its_setting():
    with pytest.raises(SettingsError, match=r"search\.keep: .*less than or equal to 50"):
        load_settings(environ={"FOOTNOTE_SEARCH__KEEP": "800"})


def test_a_wrong_secret_is_not_shown():
    with pytest.raises(SettingsError) as raised:
        load_settings(environ={"FOOTNOTE_SLACK__PORT": "xoxb-secret-1", "SLACK_BOT_TOKEN": "xoxb-secret-2"})
    assert "secret" not in str(raised.value)
    assert "secret-2" not in repr(load_settings(environ={"SLACK_BOT_TOKEN": "xoxb-secret-2"}))


def test_a_missing_settings_file_is_an_error_only_when_it_was_asked_for(tmp_path: Path):
    with pytest.raises(SettingsError, match="no settings file"):
        load_settings(environ={}, file=tmp_path / "absent.toml")


def test_a_broken_settings_file_names_the_place(tmp_path: Path):
    file = tmp_path / "footnote.toml"
    file.write_text("[search\n")
    with pytest.raises(SettingsError, match="not valid TOML"):
        load_settings(environ={}, file=file)
