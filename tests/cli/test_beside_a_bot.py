"""Commands while a bot owns the data folder: they go through it and load no model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import FOLLOW_UP, HOLIDAY, Bot, Run, write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

ANSWER = {
    "question",
    "answer",
    "outcome",
    "mode",
    "language",
    "rewritten",
    "interpreted",
    "is_follow_up",
    "topics",
    "confidence",
    "citations",
    "quotes",
    "left_open",
    "unfound",
    "warnings",
    "notes",
    "timings_ms",
}
QUOTE = {
    "citation",
    "title",
    "section",
    "url",
    "owner",
    "language",
    "blocks",
    "best",
    "shown",
    "total",
    "part",
}
CITATION = {"n", "title", "section", "url", "date", "score", "freshness", "quote"}
STAGES = {"rewrite", "embed", "search", "rerank", "answer", "verify", "total"}
REPORT = {"added", "changed", "removed", "unchanged", "failed", "chunks", "seconds"}


def test_ask_prints_the_documented_json_and_nothing_else(bot: Bot, footnote: Run) -> None:
    ended = footnote("ask", HOLIDAY, "--json", data=bot.data)
    told = ended.json
    assert (ended.code, ended.err) == (0, "")
    assert set(told) == ANSWER
    assert "25 days" in told["answer"]
    assert (told["outcome"], told["mode"], told["language"]) == ("answered", "extractive", "en")
    assert (told["rewritten"], told["is_follow_up"], told["notes"]) == (None, False, ["extractive mode"])
    assert set(told["timings_ms"]) == STAGES
    citation = told["citations"][0]
    assert set(citation) == CITATION
    assert (citation["n"], citation["title"], citation["date"]) == (1, "Annual leave", "2021-01-10")
    assert citation["freshness"] == "outdated"
    assert citation["quote"] in (bot.pages / "leave.md").read_text(encoding="utf-8")
    quote = told["quotes"][0]
    assert set(quote) == QUOTE
    assert (quote["citation"], quote["shown"], quote["total"], quote["part"]) == (1, 0, 0, "")
    warning = told["warnings"][0]
    assert set(warning) == {"kind", "title", "date", "text"}
    assert (warning["kind"], warning["title"], warning["date"]) == ("outdated", "Annual leave", "2021-07-10")


def test_why_adds_how_the_answer_came_about(bot: Bot, footnote: Run) -> None:
    told = footnote("ask", HOLIDAY, "--json", "--why", data=bot.data).json
    assert set(told) == ANSWER | {"nearest", "trace"}
    assert told["trace"]["hits"][0]["title"] == "Annual leave"


def test_a_person_reads_the_answer_its_warning_and_its_source(bot: Bot, footnote: Run) -> None:
    told = footnote("ask", HOLIDAY, data=bot.data).out
    assert "25 days" in told
    assert "was due for review on 10 July 2021" in " ".join(told.split())
    assert "Annual leave" in told.split(" says:")[0]
    assert "[1]" not in told


def test_what_no_page_says_ends_with_3(bot: Bot, footnote: Run) -> None:
    ended = footnote("ask", "Which wine goes with a risotto?", "--json", data=bot.data)
    assert (ended.code, ended.json["outcome"], ended.json["citations"]) == (3, "declined", [])


def test_a_named_thread_goes_on_in_the_next_process_and_only_there(bot: Bot, footnote: Run) -> None:
    footnote("ask", HOLIDAY, "--thread", "mine", data=bot.data)
    followed = footnote("ask", FOLLOW_UP, "--thread", "mine", "--json", data=bot.data)
    elsewhere = footnote("ask", FOLLOW_UP, "--thread", "other", "--json", data=bot.data)
    nowhere = footnote("ask", FOLLOW_UP, "--json", data=bot.data)
    assert followed.code == 0
    assert followed.json["is_follow_up"]
    assert "leave" in followed.json["rewritten"]
    assert "31 March" in followed.json["answer"]
    assert elsewhere.json["rewritten"] is None
    assert nowhere.json["rewritten"] is None


def test_another_data_folder_knows_neither_pages_nor_threads(bot: Bot, footnote: Run, tmp_path: Path) -> None:
    footnote("ask", HOLIDAY, "--thread", "mine", data=bot.data)
    ended = footnote("ask", FOLLOW_UP, "--thread", "mine", "--json", FOOTNOTE_DATA=str(tmp_path))
    assert (ended.code, ended.json["outcome"], ended.json["citations"]) == (3, "declined", [])
    assert (ended.json["rewritten"], ended.json["is_follow_up"]) == (None, False)


def test_an_ingest_tells_what_changed_and_goes_on_behind_a_broken_page(
    bot: Bot, footnote: Run, tmp_path: Path
) -> None:
    pages = tmp_path / "more"
    kept = {"parking.md": "# Parking\n\nThe car park behind the depot has 40 places.\n"}
    gone = {"crane.md": "# Crane\n\nThe yellow crane lifts 900 kilograms.\n"}
    write(pages, kept | gone | {"broken.md": "# Gr\udcfc\udcdfe\n"})

    first = footnote("ingest", pages, "--json", data=bot.data)
    assert first.code == 3
    assert set(first.json) == REPORT
    assert first.json["added"] == ["crane.md", "parking.md"]
    assert [set(one) for one in first.json["failed"]] == [{"path", "reason"}]
    assert first.json["failed"][0]["path"] == "broken.md"
    assert "UTF-8" in first.json["failed"][0]["reason"]
    assert "900 kilograms" in footnote("ask", "What does the yellow crane lift?", data=bot.data).out

    (pages / "broken.md").unlink()
    again = footnote("ingest", pages, "--json", data=bot.data)
    assert again.code == 0
    assert again.json | {"seconds": 0, "chunks": 0} == {
        "added": [],
        "changed": [],
        "removed": [],
        "unchanged": 2,
        "failed": [],
        "chunks": 0,
        "seconds": 0,
    }

    (pages / "crane.md").unlink()
    write(pages, {"parking.md": "# Parking\n\nThe car park behind the depot has 55 places.\n"})
    swept = footnote("reindex", "more", "--json", data=bot.data)
    assert swept.code == 0
    assert "ERROR" not in swept.err
    assert (swept.json["changed"], swept.json["removed"]) == (["parking.md"], ["crane.md"])
    lifts = footnote("ask", "What does the yellow crane lift?", "--json", data=bot.data)
    assert "900" not in lifts.out
    assert "55 places" in footnote("ask", "How many places has the car park?", data=bot.data).out


def test_status_and_stats_are_the_running_bots(bot: Bot, footnote: Run) -> None:
    status = footnote("status", "--json", data=bot.data).json
    assert (status["status"], status["running"], status["playground"]) == ("ok", "playground", bot.url)
    assert status["pages"] >= 2
    assert footnote("status", "--quiet", data=bot.data).code == 0
    before = footnote("stats", "--json", data=bot.data).json["questions"]
    footnote("ask", HOLIDAY, data=bot.data)
    assert footnote("stats", "--json", data=bot.data).json["questions"] == before + 1


def test_gaps_and_stale_pages_are_the_running_bots(bot: Bot, footnote: Run) -> None:
    footnote("ask", "Who painted the ceiling of that chapel?", data=bot.data)
    told = footnote("gaps", "--json", data=bot.data).json
    assert "Who painted the ceiling of that chapel?" in [gap["question"] for gap in told["gaps"]]
    shown = footnote("gaps", "--again", data=bot.data).out
    assert "Asked anew: 0 of the questions are answered by now." in shown
    assert "Who painted the ceiling of that chapel?" in shown
    assert "asked once by one person · not found once" in shown
    [leave] = [
        page for page in footnote("stale", "--json", data=bot.data).json if page["title"] == "Annual leave"
    ]
    assert (leave["reason"], leave["since"]) == ("review_overdue", "2021-07-10")
    assert "review overdue since 2021-07-10" in footnote("stale", data=bot.data).out


@pytest.mark.parametrize("command", [("playground", "--port", "0", "--no-browser"), ("serve",)])
def test_a_second_bot_says_who_owns_the_folder_and_stops(
    bot: Bot, footnote: Run, command: tuple[str, ...]
) -> None:
    ended = footnote(*command, data=bot.data)
    assert ended.code == 1
    assert ended.err.count("\n") == 1, ended.err
    assert f"belongs to `footnote playground` (pid {bot.process.pid})" in ended.err


def test_after_kill_9_the_next_command_takes_the_folder_over_with_its_threads(
    bot: Bot, footnote: Run
) -> None:
    """The last one of this file: there is no bot behind it."""
    footnote("ask", HOLIDAY, "--thread", "survivor", data=bot.data)
    bot.kill()
    assert footnote("status", "--quiet", data=bot.data).code == 1
    followed = footnote("ask", FOLLOW_UP, "--thread", "survivor", "--json", data=bot.data)
    assert followed.code == 0, followed.err
    assert "leave" in followed.json["rewritten"]
    assert "31 March" in followed.json["answer"]
