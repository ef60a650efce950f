"""The slash command."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.messages.catalog import LANGUAGES, Messages
from bot.views.slash_command import FOR_ADMINS, FOR_EVERYBODY
from kb.errors import StoreUnavailableError
from kb.jobs import FailedPage, ReindexProgress, SourceState, SyncRecord, SyncReport
from tests.fakes.office import NOW, Office, shown

REPORT = SyncReport(
    added=["a"] * 12,
    changed=["c"] * 5,
    removed=["r", "r"],
    unchanged=271,
    failed=[FailedPage(path="Travel.pdf", reason="encrypted")],
    seconds=108,
)


def step(phase: Any, **given: Any) -> ReindexProgress:
    return ReindexProgress(phase=phase, started_at=NOW, **given)


async def whispered(office: Office, user: str, channel: str, count: int = 1) -> str:
    await office.slack.wait_for(lambda: len(office.slack.ephemerals(user, channel)) >= count)
    return str(office.slack.ephemerals(user, channel)[-1]["text"])


@pytest.mark.parametrize(
    "text", ["reindex", "status", "stats", "sources", "reindex handbook --full", "forget x"]
)
async def test_who_is_no_admin_is_refused_politely_and_alone(office: Office, text: str) -> None:
    await office.slack.command("alice", "#general", "/kb", text)
    assert (await whispered(office, "alice", "#general")).startswith("Sorry, only admins can do that.")
    assert office.reindexing.requests == []
    assert shown(office) == []


async def test_everybody_gets_help_with_what_they_may_and_in_their_language(either_office: Office) -> None:
    office = either_office
    await office.slack.command("dana", "#general", "/kb", "help")
    told = await whispered(office, "dana", "#general")
    assert [f"`/kb {word}" in told for word in (*FOR_EVERYBODY, *FOR_ADMINS)] == [True] * 10
    await office.slack.command("alice", "#general", "/kb", "help")
    told = await whispered(office, "alice", "#general")
    assert [f"`/kb {word}" in told for word in FOR_EVERYBODY] == [True] * 3
    assert [f"`/kb {word}" in told for word in FOR_ADMINS] == [False] * 7
    await office.slack.command("bram", "#general", "/kb", "")
    assert "antwoordt aan jou alleen" in await whispered(office, "bram", "#general")


@pytest.mark.parametrize("words", LANGUAGES.values())
def test_the_help_names_every_subcommand_in_every_language(words: Messages) -> None:
    assert all(f"`{{command}} {word}" in words.usage_everyone for word in FOR_EVERYBODY)
    assert all(f"`{{command}} {word}" in words.usage for word in FOR_ADMINS)


async def test_what_nobody_knows_is_answered_with_what_this_person_may(office: Office) -> None:
    await office.slack.command("alice", "#general", "/kb", "holidays?")
    told = await whispered(office, "alice", "#general")
    assert told.startswith("I don't know `holidays?`")
    assert "`/kb ask QUESTION`" in told
    assert "reindex" not in told


async def test_somebody_whom_the_settings_name_is_an_admin(office: Office) -> None:
    await office.slack.command("chidi", "#general", "/kb", "sources")
    assert await whispered(office, "chidi", "#general") == "• handbook\n• shop"


async def test_a_reindex_is_one_message_that_ends_in_the_diff(either_office: Office) -> None:
    office = either_office
    office.pages.add("handbook:Travel.pdf", "Travel")
    await office.slack.command("dana", "#general", "/kb", "reindex handbook --full")
    office.reindexing.steps.put_nowait(step("indexing", done=180, total=290, seconds_left=40.0))
    await office.slack.wait_for(lambda: any("62%" in text for text in shown(office)))
    assert shown(office) == ["Reindexing handbook ▓▓▓▓▓▓░░░░ 62% · 180 of 290 pages · about 40 s left"]
    office.reindexing.steps.put_nowait(step("done", report=REPORT))
    await office.slack.wait_for(lambda: any("Done" in text for text in shown(office)))
    assert shown(office) == [
        "Done in 1 min 48 s: 12 added, 5 changed, 2 removed, 271 unchanged, 1 failed (Travel.pdf: encrypted)"
        " · handbook, asked by <@U0DANA>"
    ]
    (request,) = office.reindexing.requests
    assert (request.requested_by, request.source, request.full) == ("U0DANA", "handbook", True)
    assert office.slack.ephemerals("dana", "#general") == []  # the message says it all


async def test_progress_is_shown_at_most_every_three_seconds_and_the_end_always(office: Office) -> None:
    await office.slack.command("dana", "#general", "/kb", "reindex")
    for done in range(100):
        office.reindexing.steps.put_nowait(step("indexing", done=done, total=100))
    office.reindexing.steps.put_nowait(step("done", report=REPORT))
    await office.slack.wait_for(lambda: any("Done" in text for text in shown(office)))
    assert len(office.calls("chat.update")) == 2  # the clock stands still: the first step, and the end


async def test_a_second_request_joins_the_first_and_says_so(office: Office) -> None:
    await office.slack.command("dana", "#general", "/kb", "reindex")
    office.reindexing.steps.put_nowait(step("reading", joined=True))
    assert (await whispered(office, "dana", "#general")).startswith("A reindex is already under way")
    office.reindexing.steps.put_nowait(step("done", report=REPORT))
    await office.slack.wait_for(lambda: any("Done" in text for text in shown(office)))


async def test_a_failed_reindex_is_told_politely_and_without_its_reason(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    await office.slack.command("emma", "#general", "/kb", "reindex shop")
    office.reindexing.steps.put_nowait(step("failed", error="OSError: /srv/secret/path"))
    await office.slack.wait_for(lambda: any("mislukt" in text for text in shown(office)))
    assert "secret" not in " ".join(str(call.arguments) for call in office.slack.calls)
    assert any(getattr(record, "cause", "") == "OSError: /srv/secret/path" for record in caplog.records)


async def test_where_the_bot_is_not_in_the_channel_progress_comes_by_direct_message(office: Office) -> None:
    (board,) = [one for one in office.slack.workspace.channels if one.name == "board"]
    assert office.slack.workspace.bot_user_id not in board.members
    (admin, *_) = [
        one.name for one in office.slack.workspace.people if one.is_admin and one.id in board.members
    ]
    await office.slack.command(admin, "#board", "/kb", "reindex")
    office.reindexing.steps.put_nowait(step("done", report=REPORT))
    dm = office.slack.dm(admin)
    await office.slack.wait_for(lambda: any("1 min 48 s" in text for text in shown(office, dm)))
    assert (await whispered(office, admin, "#board")).endswith(("direct message.", "privébericht."))


async def test_a_source_that_does_not_exist_is_answered_with_those_that_do(office: Office) -> None:
    await office.slack.command("dana", "#general", "/kb", "reindex shopp")
    assert await whispered(office, "dana", "#general") == (
        "There is no source `shopp`. There are: `shop`, `handbook`."
    )
    await office.slack.command("dana", "#general", "/kb", "reindex --fast")
    assert "`/kb status`" in await whispered(office, "dana", "#general", 2)
    await office.slack.command("dana", "#general", "/kb", "<!channel>")
    assert "`&lt;!channel&gt;`" in await whispered(office, "dana", "#general", 3)
    assert office.reindexing.requests == []


async def test_status_and_stats_are_told_in_words(office: Office) -> None:
    await office.slack.command("dana", "#general", "/kb", "status")
    assert (await whispered(office, "dana", "#general")).startswith(
        "• Pages in the index: 30 (412 passages)\n• Questions waiting: 0\n"
        "• No model: answers are quotes from the pages\n• The reranker is off\n• Last event from Slack: 5 s ago"
    )
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    await office.answers("#general", ts)
    await office.slack.command("dana", "#general", "/kb", "stats")
    assert (await whispered(office, "dana", "#general", 2)).startswith("• Questions: 1\n")


async def test_a_command_that_breaks_is_one_polite_sentence(office: Office) -> None:
    async def broken() -> None:
        raise ValueError("secret detail")

    office.analytics.stats = broken  # type: ignore[method-assign,assignment]
    await office.slack.command("dana", "#general", "/kb", "stats")
    assert await whispered(office, "dana", "#general") == "Sorry, that did not work. It has been logged."

    async def away() -> None:
        raise StoreUnavailableError("away")

    office.analytics.stats = away  # type: ignore[method-assign,assignment]
    await office.slack.command("dana", "#general", "/kb", "stats")
    assert "does not answer" in await whispered(office, "dana", "#general", 2)


async def test_a_reindex_without_its_own_time_is_timed_from_its_start(office: Office) -> None:
    await office.slack.command("dana", "#general", "/kb", "reindex")
    report = REPORT.model_copy(update={"seconds": 0.0})
    office.reindexing.steps.put_nowait(
        ReindexProgress(phase="done", started_at=NOW - timedelta(seconds=7), report=report)
    )
    await office.slack.wait_for(lambda: any("Done in 7 s" in text for text in shown(office)))


async def test_a_page_is_forgotten_by_its_address_and_an_unknown_one_is_told(office: Office) -> None:
    await office.slack.command("dana", "#general", "/kb", "forget https://kb.example/tea")
    assert (await whispered(office, "dana", "#general")).startswith("Forgotten: Tea.")
    await office.slack.command("dana", "#general", "/kb", "forget https://kb.example/none")
    assert "No page in the index" in await whispered(office, "dana", "#general", 2)
    assert office.reindexing.forgotten == ["https://kb.example/tea", "https://kb.example/none"]


async def test_forget_without_an_address_shows_how_it_is_meant(office: Office) -> None:
    await office.slack.command("dana", "#general", "/kb", "forget")
    assert "`/kb forget URL`" in await whispered(office, "dana", "#general")
    assert office.reindexing.forgotten == []


async def test_a_dry_run_is_asked_for_and_told_as_what_would_be(office: Office) -> None:
    office.pages.add("shop:tea.md", "Tea")
    office.pages.add("shop:ENG/7", "Old <tea>")
    await office.slack.command("dana", "#general", "/kb", "reindex shop --dry-run")
    would = SyncReport(
        changed=["tea.md"], removed=["ENG/7"], titles={"ENG/7": "Old <tea>"}, dry_run=True, seconds=1
    )
    office.reindexing.steps.put_nowait(step("done", report=would))
    await office.slack.wait_for(lambda: "It would be: 1 changed, 1 removed · shop" in "".join(shown(office)))
    (text,) = shown(office)
    assert text.split("\n")[1:] == ["~ tea.md", "− Old &lt;tea&gt; (ENG/7)"]
    (request,) = office.reindexing.requests
    assert (request.source, request.dry_run, request.full, request.force) == ("shop", True, False, False)


async def test_a_refused_rebuild_is_told_openly_and_its_reason_to_the_admin_alone(office: Office) -> None:
    await office.slack.command("dana", "#general", "/kb", "reindex --full --force")
    why = "4 of 10 indexed pages would be gone; first that could not be read: board/layoffs.md"
    office.reindexing.steps.put_nowait(step("failed", error=why, refusal=why))
    dm = office.slack.dm("dana")
    await office.slack.wait_for(lambda: why in "".join(shown(office, dm)))
    await office.slack.wait_for(lambda: "was refused" in "".join(shown(office)))
    (text,) = shown(office)
    assert "`--force` overrules" in text
    assert "layoffs" not in text
    assert office.reindexing.requests[0].force


async def test_status_tells_of_each_source_when_it_was_synced_and_when_it_is_next(office: Office) -> None:
    def synced(**how: Any) -> SyncRecord:
        return SyncRecord(at=NOW - timedelta(hours=2), **how)

    office.status.sources = (
        SourceState(
            name="handbook",
            pages=1039,
            every=timedelta(hours=6),
            next_in=timedelta(hours=3, minutes=58),
            last=synced(added=3, changed=1, failed=2),
        ),
        SourceState(name="shop", pages=None, every=timedelta(minutes=30), last=synced(error="secret host")),
        SourceState(name="wiki", pages=7, last=synced(alone=False, removed=4)),
        SourceState(name="new", pages=0),
    )
    await office.slack.command("dana", "#general", "/kb", "status")
    told = [line for line in (await whispered(office, "dana", "#general")).split("\n") if line[:3] == "• *"]
    assert told == [
        "• *handbook*: 1,039 pages · synced 2 hours ago: 3 added, 1 changed, 2 failed"
        " · synced every 6 hours, next in about 3 hours 58 min",
        "• *shop*: ? pages · the sync 2 hours ago failed; the reason is in Footnote's log"
        " · synced every 30 min, next in a moment",
        "• *wiki*: 7 pages · synced 2 hours ago, all sources together: 4 removed · synced on request only",
        "• *new*: 0 pages · not synced yet · synced on request only",
    ]
