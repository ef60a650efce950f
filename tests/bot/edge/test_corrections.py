"""A thread hears once that what its answer quoted has changed, expired
or been replaced; and nothing that it may not read.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from datetime import date, timedelta
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.listening import exactly_once
from bot.notices.corrections import Corrections
from bot.playground import SlackLimits
from bot.questions.cited_answers import KEEP
from bot.slack.errors import SLACK_FAILURES
from bot.slack.events import Message, answer_metadata
from kb.models import Chunk, Page, PageDates
from tests.fakes.answers import a_citation, a_quote, an_answer, quotes_of
from tests.fakes.office import NOW, Office, a_bot, open_office

ASKED = "How many days of holiday do I get?"
THEN = "Full-time employees get 25 days of paid holiday a year. Ask your lead first."
NOW_IT_SAYS = "Full-time employees get 30 days of paid holiday a year. Ask your lead first."
TODAY = NOW.date()


def a_page(page_id: str = "handbook:leave.md", **fields: Any) -> Page:
    source, _, path = page_id.partition(":")
    known: dict[str, Any] = {"title": "Leave policy", "url": f"https://kb.example/{path}", "revision": "1"}
    return Page(id=page_id, source=source, path=path, **(known | fields))


def passages(page: Page, *texts: str, section: tuple[str, ...] = ("Annual leave",)) -> list[Chunk]:
    return [
        Chunk(id=f"{page.id}#{at}", page=page, position=at, text=text, section=section, url=page.url)
        for at, text in enumerate(texts)
    ]


class Shelf:
    """The index: what its pages say now."""

    def __init__(self) -> None:
        self.chunks: dict[str, list[Chunk]] = {}
        self.error: Exception | None = None

    def put(self, page: Page, *texts: str, section: tuple[str, ...] = ("Annual leave",)) -> None:
        self.chunks[page.id] = passages(page, *texts, section=section)

    async def every_page(self) -> list[Page]:
        if self.error is not None:
            raise self.error
        return [chunks[0].page for chunks in self.chunks.values()]

    async def passages(self, *, audience: Any, of_pages: Any = None) -> AsyncIterator[list[Chunk]]:
        for page_id, chunks in self.chunks.items():
            if page_id in of_pages and audience.may_read(chunks[0].page.audience):
                yield chunks


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def looking(shelf: Shelf) -> Any:
    """A bot's corrections over that shelf: what a look of its own would do."""

    async def pause(_: float) -> None:
        await asyncio.sleep(0.02)

    def make(office: Office, **changes: Any) -> Corrections:
        return dataclasses.replace(
            office.edge.wiring.corrections, index=shelf, **{"pause": pause, "clock": lambda: NOW, **changes}
        )

    return make


def a_quoting_answer(page: Page, text: str = THEN, **given: Any) -> Any:
    (chunk,) = passages(page, text)
    citation = a_citation(chunk=chunk, quote=text.split(". ")[0])
    return quotes_of(a_quote(text, citation=citation), question=ASKED, **given)


async def asked(
    office: Office, shelf: Shelf, channel: str = "#general", user: str = "alice", **page: Any
) -> str:
    """Asks, is answered from the leave policy, and tells the thread."""
    told = a_page(**page)
    shelf.put(told, THEN)
    office.knowledge.answers[ASKED] = a_quoting_answer(told)
    words = ASKED if channel.startswith("D") else f"@footnote {ASKED}"
    ts = await office.ask(user, channel, words)
    await office.answers(channel, ts)
    return ts


def notes(office: Office, ts: str, channel: str = "#general") -> list[str]:
    return [
        str(message["text"])
        for message in office.replies(channel, ts)
        if (mark := answer_metadata(Message.model_validate(message).metadata)) is not None
        and mark.state == "note"
    ]


LINKED = "*<https://kb.example/leave.md|Leave policy>*"


async def test_a_changed_page_is_told_of_once_with_what_it_says_now(
    office: Office, shelf: Shelf, looking: Any
) -> None:
    ts = await asked(office, shelf)
    corrections = looking(office)
    assert await corrections.look()
    assert notes(office, ts) == []
    shelf.put(a_page(revision="2", dates=PageDates(edited=TODAY)), NOW_IT_SAYS)
    for _ in range(3):
        assert await corrections.look()
    assert notes(office, ts) == [
        f"This answer quoted {LINKED}; since 27 November 2026 it says:\n"
        "> Full-time employees get 30 days of paid holiday a year."
    ]
    shelf.put(a_page(revision="3"), "Everything is different.")
    assert await corrections.look()
    assert len(notes(office, ts)) == 1


async def test_a_day_on_which_the_answer_still_held_is_not_named(
    office: Office, shelf: Shelf, looking: Any
) -> None:
    ts = await asked(office, shelf)
    shelf.put(a_page(revision="2", dates=PageDates(edited=date(2024, 5, 3))), NOW_IT_SAYS)
    assert await looking(office).look()
    assert notes(office, ts)[0].startswith(f"This answer quoted {LINKED}; it now says:\n> Full-time")


@pytest.mark.parametrize(
    "text",
    [
        "- **Full-time** employees get 25 days of paid [holiday](https://kb.example/h) a year\n- Ask your lead first",
        "Ask your lead first. And by the way: full-time employees get 25 days of paid holiday a year.",
    ],
)
async def test_a_page_that_was_only_written_in_another_form_is_not_told_of(
    office: Office, shelf: Shelf, looking: Any, text: str
) -> None:
    ts = await asked(office, shelf)
    shelf.put(a_page(revision="2"), text, section=("Holidays",))
    assert await looking(office).look()
    assert notes(office, ts) == []
    assert await office.cited.by_page() == {"handbook:leave.md": {f"T0HAVIK-C0GENERAL-{ts}": "2"}}
    shelf.put(a_page(revision="3"), NOW_IT_SAYS)
    assert await looking(office).look()
    assert len(notes(office, ts)) == 1


async def test_where_nothing_clearly_stands_in_its_place_the_passage_is_said_to_be_gone(
    office: Office, shelf: Shelf, looking: Any
) -> None:
    ts = await asked(office, shelf)
    shelf.put(a_page(revision="2"), "Holidays are agreed on within each team.")
    assert await looking(office).look()
    assert notes(office, ts) == [
        f"This answer quoted {LINKED}; the page has changed since, and that passage is gone."
    ]


async def test_what_a_model_wrote_is_held_against_what_it_cited(
    office: Office, shelf: Shelf, looking: Any
) -> None:
    page = a_page()
    shelf.put(page, THEN)
    (chunk,) = passages(page, THEN)
    for quote in ("Full-time employees get 25 days of paid holiday a year.", ""):
        office.knowledge.answers[ASKED] = an_answer(
            "You get twenty-five days of holiday.", citations=(a_citation(chunk=chunk, quote=quote),)
        )
        ts = await office.ask("alice", "#general", f"@footnote {ASKED}")
        await office.answers("#general", ts)
        shelf.put(a_page(revision="2"), NOW_IT_SAYS)
        assert await looking(office).look()
        assert "30 days" in notes(office, ts)[0]
        shelf.put(page, THEN)


async def test_a_page_that_expires_is_told_of_on_the_day_after(
    office: Office, shelf: Shelf, looking: Any
) -> None:
    ts = await asked(office, shelf, dates=PageDates(expires=TODAY))
    assert await looking(office).look()
    assert notes(office, ts) == []
    assert await looking(office, clock=lambda: NOW + timedelta(days=1)).look()
    assert notes(office, ts) == [f"This answer quoted {LINKED}, which expired on 27 November 2026."]


async def test_what_the_answer_itself_has_warned_of_is_not_told_again(
    office: Office, shelf: Shelf, looking: Any
) -> None:
    ts = await asked(office, shelf, dates=PageDates(expires=TODAY - timedelta(days=3)))
    assert await looking(office).look()
    assert notes(office, ts) == []


async def test_a_replaced_page_is_told_of_with_its_successor_where_that_may_be_read(
    office: Office, shelf: Shelf, looking: Any
) -> None:
    open_thread = await asked(office, shelf)
    new = a_page("handbook:leave-2027.md", title="Leave 2027", replaces=("Leave policy",))
    shelf.put(new, NOW_IT_SAYS)
    assert await looking(office).look()
    assert notes(office, open_thread) == [
        f"This answer quoted {LINKED}, which has been replaced by <https://kb.example/leave-2027.md|Leave 2027>."
    ]


async def test_a_successor_that_the_thread_may_not_read_is_not_named(
    office: Office, shelf: Shelf, looking: Any
) -> None:
    ts = await asked(office, shelf)
    shelf.put(a_page("handbook:board.md", title="Board plans", audience=("#board",)), "Secret.")
    shelf.put(a_page(revision="2", superseded_by="Board plans"), THEN)
    assert await looking(office).look()
    assert notes(office, ts) == [f"This answer quoted {LINKED}, which has been replaced."]


@pytest.mark.parametrize("how", ["limited", "gone"])
async def test_of_a_page_that_may_not_be_read_any_more_not_a_word_is_said(
    office: Office, shelf: Shelf, looking: Any, how: str
) -> None:
    ts = await asked(office, shelf)
    if how == "gone":
        del shelf.chunks["handbook:leave.md"]
    else:
        limited = a_page(revision="2", title="Secret plan", audience=("#board",))
        shelf.put(dataclasses.replace(limited, dates=PageDates(expires=date(2024, 1, 1))), "Secret.")
    assert await looking(office).look()
    assert notes(office, ts) == []
    assert "Secret" not in str(office.slack.messages("#general", ts))


async def test_a_private_page_is_told_of_in_its_own_channel_alone(
    office: Office, shelf: Shelf, looking: Any
) -> None:
    ts = await asked(office, shelf, "#people-leads", audience=("#people-leads",))
    shelf.put(a_page(revision="2", audience=("#people-leads",)), NOW_IT_SAYS)
    assert await looking(office).look()
    assert "30 days" in notes(office, ts, "#people-leads")[0]


async def test_a_direct_message_is_told_as_far_as_its_person_may_read(
    office: Office, shelf: Shelf, looking: Any
) -> None:
    dm = office.slack.dm("alice")
    ts = await asked(office, shelf, dm, audience=("#people-leads",))
    shelf.put(a_page(revision="2", audience=("#board",)), NOW_IT_SAYS)
    assert await looking(office).look()
    assert notes(office, ts, dm) == []
    shelf.put(a_page(revision="3", audience=("#people-leads",)), NOW_IT_SAYS)
    assert await looking(office).look()
    assert len(notes(office, ts, dm)) == 1


async def test_a_channel_that_wants_no_notes_gets_none(office: Office, shelf: Shelf, looking: Any) -> None:
    ts = await asked(office, shelf)
    settings = (await office.channel_settings.of("C0GENERAL")).model_copy(update={"corrections": "off"})
    await office.channel_settings.save("C0GENERAL", settings, by="U0DANA")
    shelf.put(a_page(revision="2"), NOW_IT_SAYS)
    assert await looking(office).look()
    assert notes(office, ts) == []


async def test_the_note_is_in_the_language_of_the_answer(office: Office, shelf: Shelf, looking: Any) -> None:
    shelf.put(a_page(), THEN)
    office.knowledge.answers[ASKED] = a_quoting_answer(a_page(), language="nl")
    ts = await office.ask("alice", "#general", f"@footnote {ASKED}")
    await office.answers("#general", ts)
    shelf.put(a_page(revision="2"), NOW_IT_SAYS)
    assert await looking(office).look()
    assert notes(office, ts)[0].startswith("Dit antwoord haalde ")


async def test_an_old_thread_is_not_opened_again(office: Office, shelf: Shelf, looking: Any) -> None:
    ts = await asked(office, shelf)
    shelf.put(a_page(revision="2"), NOW_IT_SAYS)
    assert await looking(office, clock=lambda: NOW + KEEP + timedelta(hours=1)).look()
    assert notes(office, ts) == []
    assert await office.cited.by_page() == {"handbook:leave.md": {}}


async def test_a_deleted_question_and_an_answer_that_was_taken_away_get_no_note(
    office: Office, shelf: Shelf, looking: Any
) -> None:
    ts = await asked(office, shelf)
    await office.slack.delete("alice", "#general", ts)
    await office.settled()
    assert await office.cited.get(f"T0HAVIK-C0GENERAL-{ts}") is None
    other = await asked(office, shelf)
    (answer,) = office.replies("#general", other)
    office.slack._state.rooms["C0GENERAL"].messages.pop(answer["ts"])
    shelf.put(a_page(revision="2"), NOW_IT_SAYS)
    assert await looking(office).look()
    assert notes(office, other) == []


async def test_two_bots_that_look_at_once_say_one_note(office: Office, shelf: Shelf, looking: Any) -> None:
    ts = await asked(office, shelf)
    shelf.put(a_page(revision="2"), NOW_IT_SAYS)
    one, other = looking(office), looking(office)
    await asyncio.gather(one.look(), other.look())
    assert await one.look()
    assert len(notes(office, ts)) == 1


@pytest.mark.parametrize("dies", ["before the post", "after the post"])
async def test_a_bot_that_dies_on_the_way_leaves_one_note(
    office: Office, shelf: Shelf, looking: Any, monkeypatch: pytest.MonkeyPatch, dies: str
) -> None:
    """The next life looks at its start, waits for the lease of the one that died, and looks into the thread."""
    monkeypatch.setattr(exactly_once, "LEASE", timedelta(seconds=2))
    ts = await asked(office, shelf)
    shelf.put(a_page(revision="2"), NOW_IT_SAYS)
    dying = looking(office)
    post = dying.notices.post

    class Dying:
        async def post(self, notice: Any) -> None:
            if dies == "after the post":
                await post(notice)
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await dataclasses.replace(dying, notices=Dying()).look()
    assert len(notes(office, ts)) == (1 if dies == "after the post" else 0)
    await office.stop_working()
    await office.edge.close()
    async with a_bot(office):
        living = looking(office)
        assert not await living.look()  # the dead one's claim still holds
        running = asyncio.create_task(living.run())
        await office.slack.wait_for(lambda: len(notes(office, ts)) == 1)
        await asyncio.sleep(2.1)
        running.cancel()
        assert await living.look()
    assert len(notes(office, ts)) == 1


async def test_slack_that_does_not_answer_is_asked_again_and_says_it_once(
    office: Office, shelf: Shelf, looking: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exactly_once, "LEASE", timedelta(seconds=0.1))
    ts = await asked(office, shelf)
    shelf.put(a_page(revision="2"), NOW_IT_SAYS)
    corrections = looking(office)
    post = corrections.notices.post

    class Lossy:
        async def post(self, notice: Any) -> None:
            await post(notice)
            raise SLACK_FAILURES[-1]("lost on the way back")

    assert not await dataclasses.replace(corrections, notices=Lossy()).look()
    await asyncio.sleep(0.2)
    assert await corrections.look()
    assert len(notes(office, ts)) == 1


async def test_a_mass_change_does_not_flood(
    office: Office, shelf: Shelf, looking: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.notices.corrections.MOST", 2)
    monkeypatch.setattr("bot.notices.corrections.MOST_A_MINUTE", 1)
    monkeypatch.setattr("bot.notices.corrections.MINUTE", timedelta(seconds=0.3))
    threads = [await asked(office, shelf) for _ in range(4)]
    shelf.put(a_page(revision="2"), NOW_IT_SAYS)
    loop = asyncio.get_running_loop()
    began = loop.time()
    assert await looking(office).look()
    assert loop.time() - began > 0.25  # the second has waited for its minute
    assert sum(len(notes(office, ts)) for ts in threads) == 2
    assert await looking(office).look()
    assert sum(len(notes(office, ts)) for ts in threads) == 2


async def test_the_bot_looks_by_itself_when_a_sync_has_ended(
    redis: Redis, limits: SlackLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.notices.corrections.LOOK_S", 0.05)
    async with open_office(redis, limits) as office:
        page = a_page()
        office.pages.add(page.id, page.title)
        office.pages.said[page.id] = passages(page, THEN)
        office.knowledge.answers[ASKED] = a_quoting_answer(page)
        ts = await office.ask("alice", "#general", f"@footnote {ASKED}")
        await office.answers("#general", ts)
        await asyncio.sleep(0.3)
        office.pages.said[page.id] = passages(a_page(revision="2"), NOW_IT_SAYS)
        await asyncio.sleep(0.3)
        assert notes(office, ts) == []
        office.synced += 1
        await office.slack.wait_for(lambda: notes(office, ts))
        assert len(notes(office, ts)) == 1
