"""The real bot, a real page that is edited, and kill -9 between the sync and the note: the thread hears of it once."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

from bot.playground import SlackLimits, sample_workspace
from bot.slack.events import Message, answer_metadata
from tests.fakes.playground import Playground
from tests.fakes.serving import FOOTNOTE, Serve, environment, slack_of

LIMITS = SlackLimits(rate_limited=False, ack_timeout_s=3.0, retry_delays_s=(0.0, *[1.0] * 100))
LATE_S = 120.0
THEN = "Full-time employees get 25 days of paid holiday a year."
NOW = "Full-time employees get 30 days of paid holiday a year."


def write(pages: Path, leave: str) -> None:
    (pages / "leave.md").write_text(
        f"# Leave policy\n\n## Annual leave\n\n{leave} Ask your lead before you book.\n", encoding="utf-8"
    )


def ingest(pages: Path, data: Path) -> None:
    subprocess.run(
        [FOOTNOTE, "ingest", pages, "--json", "--data", data],
        cwd=data.parent,
        env=environment(),
        stdout=subprocess.PIPE,
        check=True,
        timeout=300,
    )


def notes(slack: Playground, thread_ts: str) -> list[str]:
    marked = [
        (message, answer_metadata(Message.model_validate(message).metadata))
        for message in slack.messages("#general", thread_ts)
        if message.get("bot_id")
    ]
    return [str(message["text"]) for message, mark in marked if mark is not None and mark.state == "note"]


async def test_a_page_that_is_edited_is_told_of_once_though_the_bot_is_killed_before_it_could(
    tmp_path: Path,
) -> None:
    pages, data = tmp_path / "pages", tmp_path / "data"
    pages.mkdir()
    write(pages, THEN)
    (pages / "parking.md").write_text("# Parking\n\nParking is free behind the office.\n", encoding="utf-8")
    ingest(pages, data)
    async with Playground(sample_workspace(), limits=LIMITS) as slack:
        bot = Serve(data, slack_of(slack))
        try:
            await bot.start()
            ts = await slack.say(
                "alice", "#general", "@footnote How many days of paid holiday do employees get?"
            )
            await slack.wait_for(
                lambda: any(
                    "25 days" in str(one) for one in slack.messages("#general", ts) if one.get("bot_id")
                ),
                timeout=LATE_S,
            )
            write(pages, NOW)
            await slack.command("dana", "#general", "/kb", "reindex")
            await slack.wait_for(
                lambda: any("Done" in one["text"] for one in slack.messages("#general")), timeout=LATE_S
            )
            await bot.kill()
            assert notes(slack, ts) == []
            await bot.start()
            await slack.wait_for(lambda: notes(slack, ts), timeout=LATE_S)
            (note,) = notes(slack, ts)
            assert "Leave policy" in note
            assert note.endswith(f"\n> {NOW}")
            await slack.command("dana", "#general", "/kb", "reindex --full")
            await asyncio.sleep(20)  # longer than the pause between two looks
            assert len(notes(slack, ts)) == 1
        finally:
            await bot.stop()
