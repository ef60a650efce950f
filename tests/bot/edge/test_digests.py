"""What is said by the clock, once over all replicas: the week's gaps to a channel,
the month's stale pages to their owners; and what an admin sees of both at any time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.edge.slack_app import Edge, open_edge
from bot.listening import exactly_once as once_module
from bot.playground import SlackLimits, sample_workspace
from bot.questions.answer_record import AskedIn
from kb.answer import NearestPage
from kb.models import PageDates
from tests.fakes.answers import an_answer
from tests.fakes.office import Office, backend_of, open_office

MONDAY = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
PARKING = NearestPage(title="Parking", url="https://kb.example/p", owner="Dana Levi", page_id="handbook:p.md")
SECRET = NearestPage(title="Pay of leads", url="https://kb.example/s", page_id="handbook:s.md")


class Clock:
    def __init__(self) -> None:
        self.now = MONDAY

    def __call__(self) -> datetime:
        return self.now


@asynccontextmanager
async def replica(office: Office, clock: Clock, **settings: Any) -> AsyncIterator[Edge]:
    """A bot that hears nothing, and looks what is due when it is told to."""
    async with open_edge(
        settings=office.settings.model_copy(update=settings), backend=backend_of(office), clock=clock
    ) as edge:
        yield edge


@pytest.fixture
async def office(redis: Redis, limits: SlackLimits) -> AsyncIterator[Office]:
    workspace = sample_workspace()
    scopes = (*workspace.scopes, "im:write")
    async with open_office(redis, limits, workspace=replace(workspace, scopes=scopes)) as office:
        office.pages.add("handbook:p.md", "Parking")
        office.pages.add("handbook:s.md", "Pay of leads", "#people-leads")
        yield office


async def ask(
    office: Office, question: str, *, place: str = "public", channel: str = "C0GENERAL", **given: Any
) -> None:
    """A question that was declined."""
    answer = replace(
        an_answer(question=question, outcome="declined", citations=(), nearest=(given.pop("near", PARKING),)),
        sentences=(),
    )
    asked_in = AskedIn.model_validate(
        {"place": place, "team": "T0HAVIK", "channel": channel, "user": "U0ALICE"} | given
    )
    await office.analytics.record(f"{channel}-{question}", answer, asked_in)


def digests(office: Office, channel: str = "#garden-shop") -> list[dict[str, Any]]:
    return [one for one in office.slack.messages(channel) if one.get("bot_id")]


def to_owner(office: Office, user: str = "dana") -> list[dict[str, Any]]:
    return office.slack.messages(office.slack.dm(user))


async def told_more(office: Office, user: str, than: int) -> None:
    """Waits until somebody was told something more that only they see."""
    await office.slack.wait_for(lambda: len(office.slack.ephemerals(user)) > than)


async def test_two_replicas_tell_the_gaps_of_a_week_once_and_of_the_next_again(office: Office) -> None:
    clock = Clock()
    await ask(office, "Is there parking in Ghent?")
    async with (
        replica(office, clock, gaps_digest="#garden-shop") as one,
        replica(office, clock, gaps_digest="C0GARDEN") as other,
    ):
        for day in range(7):
            clock.now = MONDAY + timedelta(days=day)
            await asyncio.gather(
                one.wiring.digests.look(), other.wiring.digests.look(), one.wiring.digests.look()
            )
        assert len(digests(office)) == 1
        clock.now = MONDAY + timedelta(days=6, hours=22)  # Monday, seven in the morning
        await one.wiring.digests.look()
        assert len(digests(office)) == 1
        clock.now = MONDAY + timedelta(days=7)
        await asyncio.gather(one.wiring.digests.look(), other.wiring.digests.look())
        assert len(digests(office)) == 2
    [first, _] = digests(office)
    said = json.dumps(first["blocks"])
    assert "Is there parking in Ghent?" in said
    assert "<#C0GENERAL>" in said
    assert "owner: Dana Levi" in said


async def test_a_digest_says_nothing_that_its_channel_may_not_read(office: Office) -> None:
    await ask(office, "Is there parking in Ghent?", near=SECRET)
    await ask(office, "May I be fired while ill?", place="private", channel="G0PEOPLE")
    await ask(office, "How do I tell my manager?", place="private", channel="D0ALICE")
    await ask(office, "What did the operator try?", place="terminal", channel="")
    await ask(office, "Which salary has the board?", channel="G0PEOPLE")  # public once, private now
    async with replica(office, Clock(), gaps_digest="garden-shop") as edge:
        await edge.wiring.digests.look()
    [digest] = digests(office)
    said = json.dumps(digest)
    assert "Is there parking in Ghent?" in said
    for hidden in (
        "Pay of leads",
        "fired",
        "manager",
        "operator",
        "salary",
        "G0PEOPLE",
        "D0ALICE",
        "U0ALICE",
    ):
        assert hidden not in said
    assert "4 times more by one person" in said


async def test_without_gaps_or_without_the_setting_nothing_is_said(office: Office) -> None:
    async with replica(office, Clock(), gaps_digest="garden-shop") as edge:
        await edge.wiring.digests.look()
    await ask(office, "Is there parking in Ghent?")
    async with replica(office, Clock()) as edge:
        await edge.wiring.digests.look()
    assert digests(office) == []


@pytest.mark.parametrize(
    "fault", [{"drop": True}, {"drop": True, "after": True}, {"error": "internal_error"}]
)
async def test_a_digest_whose_post_went_wrong_stands_there_once_in_the_end(
    office: Office, fault: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(once_module, "LEASE", timedelta(milliseconds=100))
    await ask(office, "Is there parking in Ghent?")
    async with replica(office, Clock(), gaps_digest="garden-shop") as edge:
        office.slack.faults.add("chat.postMessage", **fault)
        await edge.wiring.digests.look()
        for _ in range(3):
            await asyncio.sleep(0.15)
            await edge.wiring.digests.look()
    assert len(digests(office)) == 1


async def test_a_channel_that_we_are_not_in_is_logged_and_holds_up_nothing(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    await ask(office, "Is there parking in Ghent?")
    office.pages.dates["handbook:p.md"] = PageDates(expires=date(2026, 1, 1))
    office.contacts["handbook"] = "@dana"
    async with replica(office, Clock(), gaps_digest="random", owner_digest=True) as edge:
        await edge.wiring.digests.look()
    assert "digest.no_channel" in [record.message for record in caplog.records]
    assert len(to_owner(office)) == 1


async def test_an_owner_is_told_once_a_month_which_of_their_pages_are_stale(office: Office) -> None:
    clock = Clock()
    office.contacts["handbook"] = "bram@havik.example, @dana"
    office.pages.dates["handbook:p.md"] = PageDates(review_due=date(2026, 5, 3))
    office.pages.dates["handbook:s.md"] = PageDates(expires=date(2026, 6, 4))
    async with (
        replica(office, clock, owner_digest=True) as one,
        replica(office, clock, owner_digest=True) as other,
    ):
        for _ in range(2):
            await asyncio.gather(one.wiring.digests.look(), other.wiring.digests.look())
        [dana] = to_owner(office)
        said = json.dumps(dana["blocks"])
        assert "Parking" in said
        assert "review overdue since 3 May 2026" in said
        assert "Pay of leads" in said  # she is in #people-leads
        clock.now = datetime(2026, 12, 1, 9, tzinfo=UTC)
        await asyncio.gather(one.wiring.digests.look(), other.wiring.digests.look())
        assert len(to_owner(office)) == 2


async def test_an_owner_reads_of_no_page_that_they_may_not_and_who_has_none_gets_nothing(
    office: Office,
) -> None:
    office.contacts["handbook"] = "@farid"
    office.pages.dates["handbook:p.md"] = PageDates(review_due=date(2026, 5, 3))
    office.pages.dates["handbook:s.md"] = PageDates(expires=date(2026, 6, 4))
    async with replica(office, Clock(), owner_digest=True) as edge:
        await edge.wiring.digests.look()
    [farid] = to_owner(office, "farid")
    assert "Parking" in json.dumps(farid)
    assert "Pay of leads" not in json.dumps(farid)
    assert to_owner(office) == []


async def test_the_owners_digest_is_off_by_default(office: Office) -> None:
    office.contacts["handbook"] = "@dana"
    office.pages.dates["handbook:p.md"] = PageDates(review_due=date(2026, 5, 3))
    async with replica(office, Clock()) as edge:
        await edge.wiring.digests.look()
    assert to_owner(office) == []


async def test_an_admin_sees_gaps_and_stale_pages_as_far_as_they_may_read_them(office: Office) -> None:
    await ask(office, "Is there parking in Ghent?")
    await ask(office, "Is there parking in Ghent at night?", place="private", channel="D0BRAM", user="U0BRAM")
    await ask(office, "How is pay set?", near=SECRET)
    office.pages.dates["handbook:p.md"] = PageDates(review_due=date(2026, 5, 3))
    office.pages.dates["handbook:s.md"] = PageDates(expires=date(2026, 6, 4))
    for admin, sees_pay in (("chidi", False), ("dana", True)):
        for command in ("gaps", "stale"):
            before = len(office.slack.ephemerals(admin))
            await office.slack.command(admin, "#general", "/kb", command)
            await told_more(office, admin, before)
        gaps, stale = (json.dumps(one["blocks"]) for one in office.slack.ephemerals(admin)[-2:])
        assert "Is there parking in Ghent?" in gaps
        assert "asked 2 times by 2 people in <#C0GENERAL> \\u00b7 one of them privately" in gaps
        assert "at night" not in gaps
        assert "D0BRAM" not in gaps
        assert ("Pay of leads" in gaps) is ("Pay of leads" in stale) is sees_pay
        assert "Parking" in stale
    await office.slack.command("alice", "#general", "/kb", "gaps")
    await office.slack.wait_for(lambda: office.slack.ephemerals("alice"))
    assert "parking" not in json.dumps(office.slack.ephemerals("alice"))
