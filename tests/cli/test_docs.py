"""The manual: its site is built without a broken link, and what it tells people to type exists."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
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


def test_the_architecture_names_every_folder_in_the_order_of_its_layer() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = {one["containers"][0]: one["layers"] for one in contracts if one["type"] == "layers"}

    for room, names in layers.items():
        table = text.partition(f"| {room}, from top to bottom |")[2].partition("\n\n")[0]
        first = " ".join(line.split("|")[1] for line in table.splitlines()[2:])
        told = [name.removesuffix(".py") for name in re.findall(r"`([^`]+)`", first)]
        assert [name for name in told if name in names] == names, room


_NAMED = re.compile(
    r"`([\w./*{},-]+\.(?:py|toml|lua|md|yaml|json|js))`|`((?:bot|kb|ingest|tests|deploy)/[\w./-]*)`"
)


def _missing(line: str) -> list[str]:
    """Files that a line names and that are not there. A bare name stands in the folder of the path before it."""
    folder, missing = ROOT, []
    for file, place in _NAMED.findall(line):
        named = file or place
        whole = ROOT / named if "/" in named else folder / named
        if "*" not in named and not whole.exists():
            missing.append(named)
        if "/" in named:
            folder = whole if place else whole.parent
    return missing


@pytest.mark.parametrize(
    "file", ["CONTRIBUTING.md", *sorted(f"docs/{one.name}" for one in (ROOT / "docs").glob("*.md"))]
)
def test_every_file_that_a_guide_names_is_there(file: str) -> None:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    rows = [
        line
        for line in lines
        if file == "CONTRIBUTING.md" or "`bot/" in line or "`kb/" in line or "`ingest/" in line
    ]

    assert {missing: line[:60] for line in rows for missing in _missing(line)} == {}


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
