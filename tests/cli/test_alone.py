"""Commands without a bot: help, mistakes and outages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import FOLLOW_UP, Run
from tests.fakes.serving import environment

NOWHERE = "127.0.0.1:1"
COMMANDS = (
    "ask",
    "ingest",
    "reindex",
    "status",
    "stats",
    "gaps",
    "stale",
    "serve",
    "worker",
    "playground",
    "eval",
    "doctor",
)
HEAVY = ("torch", "sentence_transformers", "numpy", "aiohttp", "qdrant_edge", "anthropic")

HELP = f"""
import contextlib, io, json, sys
from bot.cli import main

told = {{}}
for command in {("", *COMMANDS)}:
    sys.argv = ["footnote", *command.split(), "--help"]
    with contextlib.redirect_stdout(io.StringIO()) as said:
        try:
            main()
        except SystemExit as end:
            assert not end.code, (command, end.code)
    told[command] = said.getvalue(), [name for name in {HEAVY} if name in sys.modules]
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def helped() -> dict[str, tuple[str, list[str]]]:
    """By command: what it says of itself, and the heavy modules that were loaded by then. All in one process."""
    done = subprocess.run([sys.executable, "-c", HELP], env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("command", ["", *COMMANDS], ids=lambda one: one or "none")
def test_help_is_there_and_loads_nothing_heavy(
    helped: dict[str, tuple[str, list[str]]], command: str
) -> None:
    said, heavy = helped[command]
    assert "Usage: " in said
    assert all(name in said for name in ([command] if command else COMMANDS))
    assert heavy == []


@pytest.mark.parametrize(
    ("variable", "nearest"),
    [("FOOTNOTE_SERCH__KEEP", "'search'"), ("FOOTNOTE_SEARCH__KEPE", "'search.keep'")],
)
def test_an_unknown_setting_is_one_line_with_the_nearest_name(
    footnote: Run, tmp_path: Path, variable: str, nearest: str
) -> None:
    ended = footnote("status", data=tmp_path, **{variable: "8"})
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.count("\n") == 1, ended.err
    assert f"did you mean {nearest}?" in ended.err


@pytest.mark.parametrize("command", [("ingest",), ("playground", "--port", "0", "--no-browser")])
def test_a_folder_that_is_not_there_is_one_line(
    footnote: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    ended = footnote(*command, tmp_path / "nope", data=tmp_path / "data")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == f"footnote: there is no folder or file {tmp_path / 'nope'}\n"
    assert not (tmp_path / "data").exists()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["ingest", "reindex"])
def test_without_any_source_it_is_said_how_to_name_one(footnote: Run, tmp_path: Path, command: str) -> None:
    ended = footnote(command, data=tmp_path)
    assert (ended.code, ended.out) == (1, "")
    told = [line for line in ended.err.splitlines() if line.startswith("footnote: ")]
    assert len(told) == 1
    for way in ("`footnote ingest FOLDER`", "[[sources]] to footnote.toml", "--sample"):
        assert way in told[0]
    assert "Traceback" not in ended.err


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_ingest_without_a_path_reads_the_sources_of_the_settings_and_status_tells_of_each(
    footnote: Run, tmp_path: Path
) -> None:
    for name in ("tea", "board"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.md").write_text(f"# {name}\n\nAll about {name}.\n", encoding="utf-8")
    config = tmp_path / "footnote.toml"
    config.write_text(
        f"[[sources]]\nname = 'tea'\npath = '{tmp_path / 'tea'}'\nsync_every = '6h'\n"
        f"[[sources]]\nname = 'board'\npath = '{tmp_path / 'board'}'\n",
        encoding="utf-8",
    )
    known = {"data": tmp_path / "data"}
    read = footnote("ingest", "--json", "--config", config, **known)
    assert read.code == 0, read.err
    assert read.json["added"] == ["board.md", "tea.md"]

    (tmp_path / "tea" / "green.md").write_text("# Green tea\n\nSteep it for two minutes.\n", encoding="utf-8")
    assert footnote("reindex", "tea", "--config", config, **known).code == 0

    status = footnote("status", "--json", "--config", config, **known).json
    assert status["running"] is None
    tea, board = status["syncs"]
    assert (tea["name"], tea["pages"], tea["sync_every_s"], tea["next_sync_in_s"]) == ("tea", 2, 21600, None)
    assert (board["name"], board["pages"], board["sync_every_s"]) == ("board", 1, None)
    assert [one["last_sync"]["error"] for one in (tea, board)] == [None, None]
    assert (tea["last_sync"]["alone"], tea["last_sync"]["added"]) == (True, 1)
    assert (board["last_sync"]["alone"], board["last_sync"]["added"]) == (False, 2)
    assert tea["last_sync"]["at"] > board["last_sync"]["at"]

    (tmp_path / "board" / "board.md").unlink()
    (tmp_path / "board").rmdir()
    assert footnote("reindex", "board", "--config", config, **known).code == 1
    shown = footnote("status", "--config", config, **known).out
    told = " ".join(shown.split())
    assert (
        "freshness by replaced by another page, marked as deprecated, expires, review date, last review"
        in told
    )
    lines = {line.split()[0]: line for line in shown.splitlines() if line.split()[:1] in (["tea"], ["board"])}
    assert "1 added, 0 changed, 0 removed, 0 failed" in lines["tea"]
    assert "6 h 0 min" in lines["tea"]
    assert "when a bot runs" in lines["tea"]
    assert "failed: " in lines["board"]
    assert "on request" in lines["board"]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_ingest_says_what_it_made_of_drafts_dates_and_limits(footnote: Run, tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    for name, text in {
        "sabbatical.md": "---\ndraft: true\n---\nEverybody gets a sabbatical.\n",
        "travel.md": "---\nexpires: 03/04/2025\n---\nTravel is booked by the office.\n",
        "pay.md": '{"title": "Pay", "visibility": "private"}\n\nBand 3 earns 5000.\n',
        "tea.md": "Tea is free.\n",
    }.items():
        (pages / name).write_text(text, encoding="utf-8")

    read = footnote("ingest", pages, data=tmp_path / "data")

    shown = " ".join(read.out.split())
    assert read.code == 3  # the page whose readers are not known
    assert "2 added, 0 changed, 0 removed, 0 unchanged, 1 failed" in shown
    assert "pay.md: its visibility 'private' is no channel or user group" in shown
    assert "2 to look at:" in shown
    assert (
        "sabbatical.md: it is a draft (`draft: true` in its front matter): nothing of it is indexed" in shown
    )
    assert (
        "travel.md: expires '03/04/2025' may be 2025-03-04 or 2025-04-03: write it as one of these" in shown
    )


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_an_outage_is_told_as_an_outage_and_ends_with_5(footnote: Run, tmp_path: Path) -> None:
    servers = {"QDRANT_URL": f"http://{NOWHERE}", "REDIS_URL": f"redis://{NOWHERE}"}
    ended = footnote("ask", FOLLOW_UP, "--thread", "mine", "--json", data=tmp_path, **servers)
    assert (ended.code, ended.json["outcome"]) == (5, "unavailable")
    assert "history unavailable" in ended.json["notes"]
    assert "Traceback" not in ended.err


def test_a_bot_without_a_model_and_servers_imports_neither_of_their_sdks() -> None:
    """Each takes two seconds of every start."""
    code = "import sys, bot.cli.serving.serve; print([one for one in ('anthropic', 'qdrant_client', 'torch') if one in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")
