"""The message of a reindex: what it names to whom, and what becomes of it when the bot dies."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.playground import SlackLimits
from bot.reindexing.progress_notes import ProgressNote
from kb.errors import IndexUnavailableError
from kb.jobs import FailedPage, ReindexProgress, SyncReport
from tests.fakes.office import NOW, Office, a_bot, open_office, shown
from tests.fakes.waiting import until

OPEN, LEADS, BOARD, NEW = "tea.md", "leads/pay.md", "board/layoffs.md", "ENG/31"
SECRETS = ("pay", "Pay", "layoffs", "Layoffs", "ENG/31", "Merger")


def step(phase: Any, **given: Any) -> ReindexProgress:
    return ReindexProgress(phase=phase, started_at=NOW, **given)


def a_report(**given: Any) -> SyncReport:
    """Every page in every list, as no real sync would have it."""
    pages = [OPEN, LEADS, BOARD, NEW]
    return SyncReport(
        added=pages,
        changed=pages,
        removed=pages,
        failed=[FailedPage(path=path, reason=f"it is broken: {path}") for path in pages],
        titles={NEW: "Merger talks"},
        seconds=1,
        **given,
    )


def index_pages(office: Office) -> None:
    """NEW is not in the index: nobody knows for whom it is."""
    office.pages.add(f"handbook:{OPEN}", "Tea")
    office.pages.add(f"handbook:{LEADS}", "Pay", "#people-leads")
    office.pages.add(f"handbook:{BOARD}", "Layoffs", "G0BOARD")


async def ended(office: Office, channel: str, command: str, report: SyncReport) -> str:
    """What stands in the channel when a reindex that Dana asked for has ended."""
    await office.slack.command("dana", channel, "/kb", command)
    office.reindexing.steps.put_nowait(step("done", report=report))
    await office.slack.wait_for(lambda: any("failed" in text for text in shown(office, channel)))
    (text,) = shown(office, channel)
    return text


@pytest.mark.parametrize("dry_run", [False, True])
async def test_a_channel_reads_no_name_of_a_page_that_is_limited_to_others(
    office: Office, dry_run: bool
) -> None:
    index_pages(office)
    text = await ended(office, "#general", "reindex", a_report(dry_run=dry_run, doubts=["Layoffs is lost"]))
    assert not [secret for secret in SECRETS if secret in text]
    assert "4 failed (tea.md: it is broken: tea.md; 3 not named here)" in text
    assert "overruled: 1" in text
    if dry_run:
        assert "\n− tea.md; 3 not named here" in text
    said_there = [call for call in office.slack.calls if call.arguments.get("channel") == "C0GENERAL"]
    assert said_there
    assert not [call for call in said_there for secret in SECRETS if secret in str(call.arguments)]


async def test_the_admin_is_told_every_name_alone(office: Office) -> None:
    index_pages(office)
    text = await ended(office, "#general", "reindex", a_report(dry_run=True))
    assert "<@U0DANA> has the rest in a direct message" in text
    (alone,) = shown(office, office.slack.dm("dana"))
    for name in (OPEN, LEADS, BOARD, f"Merger talks ({NEW})"):
        assert alone.count(name) >= 4, name


async def test_the_channel_of_a_limited_page_reads_its_name(office: Office) -> None:
    index_pages(office)
    text = await ended(office, "#people-leads", "reindex", a_report())
    assert LEADS in text
    assert "layoffs" not in text
    assert "2 not named here" in text


async def test_where_the_admin_is_alone_everything_is_named_in_one_message(office: Office) -> None:
    index_pages(office)
    text = await ended(office, office.slack.dm("dana"), "reindex --dry-run", a_report(dry_run=True))
    assert f"Merger talks ({NEW})" in text
    assert BOARD in text


async def test_a_page_of_the_same_path_in_another_source_does_not_lend_its_openness(office: Office) -> None:
    office.pages.add("shop:minutes.md", "Minutes of the shop")
    office.pages.add("board:minutes.md", "Minutes of the board", "G0BOARD")
    report = SyncReport(failed=[FailedPage(path="minutes.md", reason="encrypted")], seconds=1)
    text = await ended(office, "#general", "reindex", report)
    assert "minutes" not in text
    assert "(1 not named here)" in text


async def test_a_title_that_is_shown_is_the_open_pages_own(office: Office) -> None:
    office.pages.add("shop:ENG/31", "Tea <prices>")
    report = SyncReport(
        failed=[FailedPage(path=NEW, reason="broken")], titles={NEW: "Merger talks"}, seconds=1
    )
    text = await ended(office, "#general", "reindex", report)
    assert "Tea &lt;prices&gt; (ENG/31): broken" in text
    assert "Merger" not in text


async def test_an_index_that_does_not_answer_leaves_every_page_unnamed(office: Office) -> None:
    index_pages(office)
    office.pages.error = IndexUnavailableError("down")
    text = await ended(office, "#general", "reindex", a_report())
    assert "4 failed (4 not named here)" in text
    assert OPEN in shown(office, office.slack.dm("dana"))[0]


async def test_a_slack_that_does_not_tell_who_reads_along_leaves_every_page_unnamed(office: Office) -> None:
    index_pages(office)
    office.slack.faults.add("conversations.info", error="internal_error", times=100)
    text = await ended(office, "#general", "reindex", a_report())
    assert "4 failed (4 not named here)" in text


def a_note(office: Office, ts: str, **given: Any) -> ProgressNote:
    asked = {"source": "shop", "full": True, "dry_run": False, "force": False, "begun_at": NOW}
    return ProgressNote(channel="C0GENERAL", ts=ts, user="U0DANA", **(asked | given))


async def a_message_of_a_dead_bot(office: Office, **given: Any) -> str:
    """A bot wrote it, noted it, and is gone: nobody holds it any more."""
    ts = (await office.edge.app.client.chat_postMessage(channel="C0GENERAL", text="Reindexing shop: 43%"))[
        "ts"
    ]
    note = a_note(office, ts, **given)
    await office.notes.write(note)
    return str(ts)


def text_of(office: Office, ts: str) -> str:
    return next(str(one["text"]) for one in office.slack.messages("#general") if one["ts"] == ts)


async def noted(office: Office) -> int:
    return int(await office.redis.hlen(office.notes._notes))


async def test_the_next_bot_goes_on_with_the_message_of_one_that_died(office: Office) -> None:
    ts = await a_message_of_a_dead_bot(office)
    await until(lambda: office.reindexing.requests)
    (request,) = office.reindexing.requests
    assert (request.requested_by, request.source, request.full) == ("U0DANA", "shop", True)
    office.reindexing.steps.put_nowait(step("indexing", done=9, total=10))
    await office.slack.wait_for(lambda: "90%" in text_of(office, ts))
    office.reindexing.steps.put_nowait(step("done", report=SyncReport(added=["a.md"], seconds=3)))
    await office.slack.wait_for(lambda: "Done in 3 s: 1 added" in text_of(office, ts))
    assert text_of(office, ts).endswith(
        "I was restarted on the way: what I had read before counts as unchanged."
    )
    assert len(shown(office, "#general")) == 1
    await until(lambda: noted_is(office, 0))


async def noted_is(office: Office, count: int) -> bool:
    return await noted(office) == count


async def test_a_message_that_a_living_bot_follows_is_left_to_it(office: Office) -> None:
    await office.slack.command("dana", "#general", "/kb", "reindex shop")
    office.reindexing.steps.put_nowait(step("indexing", done=1, total=10))
    await office.slack.wait_for(lambda: "10%" in "".join(shown(office, "#general")))
    async with a_bot(office):
        await until(lambda: holds(office))
        assert await office.notes.left_behind() == []
        assert len(office.reindexing.requests) == 1
        office.reindexing.steps.put_nowait(step("done", report=SyncReport(unchanged=9, seconds=3)))
        await office.slack.wait_for(
            lambda: "Nothing changed: 9 pages (shop), asked by" in shown(office, "#general")[0]
        )
    await until(lambda: noted_is(office, 0))


async def holds(office: Office) -> bool:
    """The lease was renewed at least once: it would have run out by now."""
    (key,) = await office.redis.keys(f"{office.notes._lease_of}*")
    return 0 < await office.redis.pttl(key) <= 600


@pytest.mark.parametrize(
    "given",
    [{"source": "gone"}, {"begun_at": NOW - timedelta(days=2)}, {"times": 4}],
    ids=["its source is gone", "it is from the day before", "it was begun too often"],
)
async def test_a_reindex_that_cannot_go_on_says_so_in_its_message(office: Office, given: Any) -> None:
    ts = await a_message_of_a_dead_bot(office, **given)
    await office.slack.wait_for(lambda: "does not go on" in text_of(office, ts))
    assert office.reindexing.requests == []
    await until(lambda: noted_is(office, 0))


async def test_an_end_that_slack_did_not_take_is_shown_later(redis: Redis, limits: SlackLimits) -> None:
    async with open_office(redis, limits) as office:
        await office.slack.command("dana", "#general", "/kb", "reindex shop")
        office.slack.faults.add("chat.update", drop=True, times=2)
        office.reindexing.steps.put_nowait(step("done", report=SyncReport(unchanged=9, seconds=3)))
        await office.slack.wait_for(
            lambda: "Nothing changed: 9 pages (shop), asked by" in "".join(shown(office, "#general")),
            timeout=30,
        )
        await until(lambda: noted_is(office, 0))
        assert len(office.reindexing.requests) == 1
