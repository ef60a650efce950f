"""The manual: its site is built without a broken link, and what it tells people to type exists."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from bot.cli.commands import app

ROOT = Path(__file__).resolve().parents[2]
ZENSICAL = Path(sys.executable).with_name("zensical")
_TYPED = re.compile(r"(?:`|^ {4})(?:\.venv/bin/)?footnote ([a-z][^`#\n]*)", re.MULTILINE)
COMMANDS = [
    pytest.param(written.strip(), id=f"{file.name}: {written.strip()[:60]}")
    for file in (*sorted((ROOT / "docs").glob("**/*.md")), ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md")
    for written in dict.fromkeys(_TYPED.findall(file.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize("written", COMMANDS)
def test_a_command_of_the_manual_exists_with_its_options(written: str) -> None:
    command = root = typer.main.get_command(app)
    words = re.sub(r"[][]|\.\.\.", " ", written).split()
    while words and (found := getattr(command, "commands", {}).get(words[0])):
        command = found
        words.pop(0)
    options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}

    assert command is not root, written
    assert {word.partition("=")[0] for word in words if word.startswith("-")} <= options | {"--help"}


def _built(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ZENSICAL, "build", "--strict"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "zensical.toml", tmp_path)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    return tmp_path


def test_the_site_is_built_and_every_page_is_in_its_navigation(manual: Path) -> None:
    built = _built(manual)

    assert built.returncode == 0, built.stdout
    navigation = (manual / "zensical.toml").read_text(encoding="utf-8")
    pages = {file.relative_to(manual / "docs").as_posix() for file in (manual / "docs").glob("**/*.md")}
    assert {page for page in pages if f'"{page}"' not in navigation} == set()
    for page in pages - {"index.md"}:
        address = page.removesuffix(".md").removesuffix("/README")
        assert (manual / "site" / address / "index.html").is_file(), page


@pytest.mark.parametrize("broken", ["[gone](gone.md)", "[gone](operations.md#gone)"])
def test_a_broken_link_fails_the_build(manual: Path, broken: str) -> None:
    page = manual / "docs" / "index.md"
    page.write_text(f"{page.read_text(encoding='utf-8')}\n{broken}\n", encoding="utf-8")

    assert _built(manual).returncode != 0
