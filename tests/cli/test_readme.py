"""What the README promises exists: its commands parse, its settings are read, its links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer.main
import yaml

from bot.cli.commands import app
from ingest.front_matter.page_fields import split_front_matter
from kb.config.configuration import load_settings

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"\.venv/bin/footnote ([^\n#`]+)", README)
TARGETS = re.findall(r"^ {4}make (\w+)", README + (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
PATHS = re.findall(r"\]\(((?!https?:)[^)#]+)", README)
SETTINGS = re.findall(r"`(FOOTNOTE_[A-Z_]+)(?:=([^`]+))?`", README)
EXAMPLES = {"FOOTNOTE_ANSWER__MIN_CONFIDENCE": "0.5", "FOOTNOTE_FRESHNESS__MAX_AGE_DAYS": "30"}


def test_there_is_something_to_check():
    assert min(len(COMMANDS), len(TARGETS), len(PATHS), len(SETTINGS)) > 3


@pytest.mark.parametrize("line", COMMANDS)
def test_its_commands_are_understood(line: str):
    name, *arguments = shlex.split(line)
    group = typer.main.get_command(app)
    command = group.get_command(None, name)  # type: ignore[attr-defined]
    assert command is not None, name
    command.make_context(name, arguments)


@pytest.mark.parametrize("target", TARGETS)
def test_its_make_targets_exist(target: str):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("path", PATHS)
def test_its_links_lead_to_files(path: str):
    assert (ROOT / path).exists()


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, value in SETTINGS if "DATA" not in name])
def test_its_settings_are_read(name: str, value: str):
    section, key = name.removeprefix("FOOTNOTE_").lower().split("__")
    wanted = value or EXAMPLES.get(name, "1" if key == "port" else "some-name")
    changed = load_settings(environ={name: wanted})
    assert getattr(changed, section) != getattr(load_settings(environ={}), section)


def test_its_settings_file_is_valid(tmp_path: Path):
    file = tmp_path / "footnote.toml"
    file.write_text(re.search(r"```toml\n(.*?)```", README, re.DOTALL)[1])  # type: ignore[index]
    (source,) = load_settings(environ={}, file=file).sources
    assert source.base_url is not None


def test_its_front_matter_is_understood():
    block = re.search(r"```yaml\n(.*?)```", README, re.DOTALL)[1]  # type: ignore[index]
    front, _ = split_front_matter(f"---\n{block}---\ntext\n")
    assert front.notes == ()
    assert set(yaml.safe_load(block)) == {
        "title",
        "owner",
        "last_reviewed_on",
        "review_in",
        "expires",
        "superseded_by",
        "audience",
        "language",
    }
    assert front.audience == ("#people-leads",)
