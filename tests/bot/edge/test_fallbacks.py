"""A way on where the pages do not answer: whose the page is, asking the owner once, reporting it as missing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.listening import exactly_once as once_module
from bot.playground import SlackLimits, sample_workspace
from bot.playground.workspace import WorkspaceUser
from bot.rendering.fallback_actions import ASK_OWNER, MISSING
from kb.answer import Answer, NearestPage
from kb.errors import StoreUnavailableError
from tests.fakes.answers import a_page, a_quote, an_answer, quotes_of
from tests.fakes.office import Office, a_bot, open_office

QUESTION = "How many days of holiday in Peru?"
LEAVE = NearestPage(
    title="Leave policy", url="https://kb.example/leave", owner="Dana Levi", page_id="handbook:leave.md"
)


def declined(page: NearestPage | None = LEAVE, **given: Any) -> Answer:
    near = (page,) if page is not None else ()
    values: dict[str, Any] = {"question": QUESTION, "outcome": "declined", "citations": (), "nearest": near}
    return replace(an_answer(**(values | given)), sentences=())


async def asked(
    office: Office, answer: Answer, *, user: str = "alice", channel: str = "#general"
) -> tuple[str, dict[str, Any]]:
    """The question's ts, and the answer's message."""
    office.pages.add("handbook:leave.md", "Leave policy")
    office.knowledge.answers[QUESTION] = answer
    mention = "" if channel == "dm" else "@footnote "
    ts = await office.ask(user, channel, f"{mention}{QUESTION}")
    (message,) = await office.answers(office.slack.dm(user) if channel == "dm" else channel, ts)
    return ts, message


def buttons(message: dict[str, Any]) -> list[str]:
    return [
        element["action_id"]
        for block in message["blocks"]
        if block["type"] == "actions"
        for element in block["elements"]
    ]


def mentions_of(office: Office, channel: str, ts: str, user: str = "U0DANA") -> list[dict[str, Any]]:
    return [one for one in office.replies(channel, ts) if one["text"].startswith(f"<@{user}>")]


def now(office: Office, ts: str, message: dict[str, Any], channel: str = "#general") -> dict[str, Any]:
    return next(one for one in office.replies(channel, ts) if one["ts"] == message["ts"])


async def told_more(office: Office, user: str, than: int) -> None:
    """Waits until somebody was told something more that only they see."""
    await office.slack.wait_for(lambda: len(office.slack.ephemerals(user)) > than)


@pytest.mark.parametrize(
    "answer",
    [
        declined(),
        quotes_of(
            a_quote(page=a_page(id="handbook:leave.md", owner="Dana Levi")),
            outcome="closest",
            question=QUESTION,
            nearest=(LEAVE,),
        ),
    ],
    ids=["declined", "closest"],
)
async def test_the_owner_is_named_and_asked_once_in_the_thread_when_the_asker_presses(
    either_office: Office, answer: Answer
) -> None:
    office = either_office
    ts, message = await asked(office, answer)
    assert message["text"].count("Dana Levi.") == 1
    assert buttons(message)[-2:] == [ASK_OWNER, MISSING]
    assert await office.slack.click("alice", "#general", message["ts"], ASK_OWNER)
    await office.slack.wait_for(lambda: ASK_OWNER not in buttons(now(office, ts, message)))
    [note] = mentions_of(office, "#general", ts)
    assert note["thread_ts"] == ts
    assert "<@U0ALICE>" in note["text"]
    assert "Leave policy" in note["text"]
    after = now(office, ts, message)
    assert "Asked in this thread: <@U0DANA>" in str(after["blocks"])
    assert after["blocks"][: len(message["blocks"]) - 1] == message["blocks"][:-1]
    assert buttons(after) == [one for one in buttons(message) if one != ASK_OWNER]
    assert after["metadata"] == message["metadata"]


async def test_a_double_press_asks_once(office: Office) -> None:
    ts, message = await asked(office, declined())
    await asyncio.gather(
        *(office.slack.click("alice", "#general", message["ts"], ASK_OWNER) for _ in range(4))
    )
    await office.slack.wait_for(lambda: mentions_of(office, "#general", ts))
    await office.settled()
    assert len(mentions_of(office, "#general", ts)) == 1


async def test_only_who_asked_the_question_may_have_the_owner_asked(office: Office) -> None:
    ts, message = await asked(office, declined())
    assert await office.slack.click("bram", "#general", message["ts"], ASK_OWNER)
    await office.slack.wait_for(lambda: office.slack.ephemerals("bram"))
    await office.settled()
    assert "Alleen wie de vraag heeft gesteld" in office.slack.ephemerals("bram")[0]["text"]
    assert mentions_of(office, "#general", ts) == []
    assert ASK_OWNER in buttons(now(office, ts, message))


async def test_a_press_whose_bot_died_is_taken_up_by_its_next_life(office: Office) -> None:
    ts, message = await asked(office, declined())
    office.slack.faults.add("chat.postMessage", drop=True, times=1)
    await office.slack.click("alice", "#general", message["ts"], ASK_OWNER)
    await office.settled()
    assert mentions_of(office, "#general", ts) == []
    await office.redis.delete(*await office.redis.keys("*:once:owner-of-*"))  # the lease has run out
    await office.edge.close()
    async with a_bot(office):
        await office.slack.wait_for(lambda: mentions_of(office, "#general", ts))
        await office.edge.wiring.digests.look()
        await office.slack.wait_for(lambda: ASK_OWNER not in buttons(now(office, ts, message)))
    assert len(mentions_of(office, "#general", ts)) == 1


async def test_a_post_whose_reply_was_lost_is_found_and_not_repeated(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(once_module, "LEASE", timedelta(milliseconds=100))
    ts, message = await asked(office, declined())
    office.slack.faults.add("chat.postMessage", drop=True, after=True, times=1)
    await office.slack.click("alice", "#general", message["ts"], ASK_OWNER)
    await office.settled()
    assert len(mentions_of(office, "#general", ts)) == 1
    assert ASK_OWNER in buttons(now(office, ts, message))
    await asyncio.sleep(0.2)
    await asyncio.gather(office.edge.wiring.digests.look(), office.edge.wiring.digests.look())
    assert ASK_OWNER not in buttons(now(office, ts, message))
    assert len(mentions_of(office, "#general", ts)) == 1


async def test_a_store_that_is_away_is_admitted_and_the_button_works_later(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    ts, message = await asked(office, declined())

    async def away(*_: object) -> None:
        raise StoreUnavailableError("away")

    with monkeypatch.context() as patched:
        patched.setattr(once_module.ExactlyOnce, "promise", away)
        assert await office.slack.click("alice", "#general", message["ts"], ASK_OWNER)
        await office.slack.wait_for(lambda: office.slack.ephemerals("alice"))
    assert "could not be asked just now" in office.slack.ephemerals("alice")[0]["text"]
    await office.slack.click("alice", "#general", message["ts"], ASK_OWNER)
    await office.slack.wait_for(lambda: mentions_of(office, "#general", ts))


async def test_an_answer_that_is_written_anew_has_the_owner_asked_no_second_time(office: Office) -> None:
    ts, message = await asked(office, declined())
    await office.slack.click("alice", "#general", message["ts"], ASK_OWNER)
    await office.slack.wait_for(lambda: ASK_OWNER not in buttons(now(office, ts, message)))
    other = "How many days of holiday in Chile?"
    office.knowledge.answers[other] = declined(question=other)
    await office.slack.edit("alice", "#general", ts, f"@footnote {other}")
    await office.slack.wait_for(lambda: ASK_OWNER in buttons(now(office, ts, message)))
    await office.slack.click("alice", "#general", message["ts"], ASK_OWNER)
    await office.slack.wait_for(lambda: office.slack.ephemerals("alice"))
    assert office.slack.ephemerals("alice")[0]["text"] == "The owner was asked already, in this thread."
    assert len(mentions_of(office, "#general", ts)) == 1


@pytest.mark.parametrize(
    "owner", ["People team", "#garden-shop", "Nobody Known", "Alice Anderson"], ids=lambda owner: owner
)
async def test_a_team_a_stranger_and_the_asker_are_named_without_a_button(office: Office, owner: str) -> None:
    _, message = await asked(office, declined(replace(LEAVE, owner=owner)))
    assert f"|Leave policy>: {owner}." in message["text"]
    assert ASK_OWNER not in buttons(message)
    assert MISSING in buttons(message)


async def test_two_people_of_one_name_are_nobody(redis: Redis, limits: SlackLimits) -> None:
    workspace = sample_workspace()
    twin = WorkspaceUser(id="U0DANA2", name="dana2", real_name="Dana Levi")
    async with open_office(
        redis, limits, workspace=replace(workspace, people=(*workspace.people, twin))
    ) as office:
        _, message = await asked(office, declined())
    assert "Dana Levi." in message["text"]
    assert ASK_OWNER not in buttons(message)


async def test_the_contact_of_the_source_is_asked_where_the_owner_is_a_team(office: Office) -> None:
    office.contacts["handbook"] = "@dana"
    ts, message = await asked(office, declined(replace(LEAVE, owner="People team")))
    assert "|Leave policy>: People team." in message["text"]
    await office.slack.click("alice", "#general", message["ts"], ASK_OWNER)
    await office.slack.wait_for(lambda: mentions_of(office, "#general", ts))


@pytest.mark.parametrize(("owner", "offered"), [("Dana Levi", True), ("Farid Haddad", False)])
async def test_in_a_private_channel_only_who_reads_along_is_asked(
    office: Office, owner: str, offered: bool
) -> None:
    _, message = await asked(office, declined(replace(LEAVE, owner=owner)), channel="#people-leads")
    assert f"{owner}." in message["text"]
    assert (ASK_OWNER in buttons(message)) is offered


async def test_a_page_that_was_limited_since_is_named_to_nobody_and_nobody_is_asked(office: Office) -> None:
    ts, message = await asked(office, declined())
    office.pages.add("handbook:leave.md", "Leave policy", "#people-leads")
    await office.slack.click("alice", "#general", message["ts"], ASK_OWNER)
    await office.slack.wait_for(lambda: office.slack.ephemerals("alice"))
    assert mentions_of(office, "#general", ts) == []
    await office.edge.wiring.digests.look()
    assert mentions_of(office, "#general", ts) == []


async def test_nothing_is_offered_under_an_answer_nor_where_no_page_is_near(office: Office) -> None:
    office.knowledge.answers["leave?"] = an_answer(question="leave?", nearest=(LEAVE,))
    ts = await office.ask("alice", "#general", "@footnote leave?")
    (message,) = await office.answers("#general", ts)
    assert not {ASK_OWNER, MISSING} & set(buttons(message))
    _, message = await asked(office, declined(None))
    assert buttons(message)[-1] == MISSING
    assert ASK_OWNER not in buttons(message)


async def test_reporting_it_as_missing_counts_each_person_once(office: Office) -> None:
    ts, message = await asked(office, declined())
    for user in ("bram", "alice", "alice"):
        before = len(office.slack.ephemerals(user))
        assert await office.slack.click(user, "#general", message["ts"], MISSING)
        await told_more(office, user, before)
    assert [one["text"] for one in office.slack.ephemerals("alice")] == [
        "Thank you! Noted that the pages don't tell this.",
        "You have reported this already.",
    ]
    [gap] = (await office.gaps.open()).gaps
    assert (gap.missed_by, gap.people, gap.wordings) == (2, 2, (QUESTION,))
    await office.slack.delete("alice", "#general", ts)
    await office.settled()
    found = await office.gaps.open()
    assert (found.gaps, found.hidden) == ((), 0)


async def test_a_question_to_us_alone_shows_whom_to_write_to_and_calls_nobody(office: Office) -> None:
    _, message = await asked(office, declined(), channel="dm")
    assert "Dana Levi (<@U0DANA>)." in message["text"]
    assert ASK_OWNER not in buttons(message)
    found = await office.gaps.open()
    assert (found.gaps, found.hidden) == ((), 1)


async def test_an_owner_who_is_not_in_the_public_channel_gets_a_link_once(
    redis: Redis, limits: SlackLimits
) -> None:
    workspace = sample_workspace()
    scopes = (*workspace.scopes, "im:write")
    async with open_office(redis, limits, workspace=replace(workspace, scopes=scopes)) as office:
        answer = declined(replace(LEAVE, owner="Bram de Vries"))
        ts, message = await asked(office, answer, channel="#study-group")
        await office.slack.click("alice", "#study-group", message["ts"], ASK_OWNER)
        await office.slack.wait_for(lambda: office.slack.messages(office.slack.dm("bram")))
        await office.settled()
        assert len(mentions_of(office, "#study-group", ts, "U0BRAM")) == 1
        [called] = office.slack.messages(office.slack.dm("bram"))
        assert called["text"].startswith("<@U0ALICE> vraagt je iets in <#C0STUDY>: http")
        assert f"p{message['ts'].replace('.', '')}" in called["text"]


async def test_without_the_scope_for_it_the_mention_in_the_thread_is_all(office: Office) -> None:
    answer = declined(replace(LEAVE, owner="Bram de Vries"))
    ts, message = await asked(office, answer, channel="#study-group")
    await office.slack.click("alice", "#study-group", message["ts"], ASK_OWNER)
    await office.slack.wait_for(
        lambda: ASK_OWNER not in buttons(now(office, ts, message, channel="#study-group"))
    )
    assert len(mentions_of(office, "#study-group", ts, "U0BRAM")) == 1
