"""When Footnote speaks among people, what it hears of them, and what it offers them, as they see it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from importlib.resources import as_file, files
from typing import Any

import pytest

from tests.fakes.browser import need_chromium
from tests.journeys.colleague import Colleague
from tests.journeys.conftest import RunningPlayground, started
from tests.journeys.test_asking import HOLIDAYS

pytestmark = [
    pytest.mark.series,
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.timeout(300),
]

SICK = "How do I report sick?"
BIKES = """---
title: Lease bikes
owner: Dana Levi
---

A lease bike costs 40 euros a month, for three years. Dana orders the bikes on the first Monday of a month.
"""
CANTEENS = {
    "Utrecht": "The canteen in Utrecht opens at 12:00.",
    "Leeds": "The canteen in Leeds opens at 13:00.",
}
TALK = (
    ("bram", "Oh, that's more than I thought"),
    ("alice", "Are you taking some off in May?"),
    ("bram", "Yes, with Chidi. What about you?"),
    ("alice", "Maybe. When do you leave?"),
    ("bram", "On the 12th"),
    ("alice", "What time?"),
    ("bram", "Early! Can you water my plants?"),
    ("alice", "Sure, how often?"),
    ("bram", "Twice a week. Is that ok?"),
    ("alice", "And the cactus?"),
    ("bram", "Who waters a cactus?"),
    ("alice", "lol"),
    ("bram", "Shall we have lunch?"),
    ("alice", "Where do we go?"),
)


@pytest.fixture(scope="module")
def footnote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningPlayground]:
    """The sample handbook, a page whose owner is a colleague, and two pages between which one word does not decide."""
    need_chromium()
    home = tmp_path_factory.mktemp("colleagues")
    with as_file(files("ingest") / "sample" / "handbook") as sample:
        shutil.copytree(sample, home / "handbook")
    company = home / "handbook" / "company"
    (company / "lease-bikes.md").write_text(BIKES, encoding="utf-8")
    for place, text in CANTEENS.items():
        (company / f"canteen-{place}.md").write_text(f"# Canteen in {place}\n\n{text}\n", encoding="utf-8")
    with started(home, home / "output") as url:
        yield RunningPlayground(url=url, handbook=home / "handbook")


async def test_two_people_write_to_each_other_in_peace(sit_down: Any, look: Any) -> None:
    alice: Colleague = await sit_down("alice")
    bram: Colleague = await sit_down("bram")
    await alice.ask(HOLIDAYS)
    await alice.answer()
    await bram.sees_in_a_thread("25 days")
    people = {"alice": alice, "bram": bram}
    for name, text in TALK:
        await people[name].reply(text)
        for one in people.values():
            await one.thread.get_by_text(text, exact=True).wait_for()
    await alice.reply("@footnote and when do they expire?")
    answer = await alice.answer(
        2
    )  # what it had said before would be counted, as a thread's questions go in order
    assert "31 March" in await answer.inner_text()
    assert await answers(alice) == 2
    await look("two-people", alice.page)


async def test_a_mention_below_a_colleagues_question_answers_that(sit_down: Any, look: Any) -> None:
    bram: Colleague = await sit_down("bram", "garden-shop")
    alice: Colleague = await sit_down("alice", "garden-shop")
    question = "How many weeks of parental leave are there for each child?"
    await write(bram, question, "#garden-shop")
    asked = alice.messages.get_by_role("article").filter(has_text=question).last
    await asked.hover()
    await asked.get_by_role("button", name="Reply in thread").click()
    await alice.reply("@footnote do you know?")
    answer = await alice.answer()
    assert "26 weeks" in await answer.inner_text()
    await look("mention-below", alice.page)


async def test_the_reply_to_its_own_question_is_heard(sit_down: Any, look: Any) -> None:
    farid: Colleague = await sit_down("farid")
    await farid.ask("canteen")
    asked = await (await farid.answer()).inner_text()
    offered = re.search(r"Do you mean Canteen in (\w+) or Canteen in (\w+)\?", asked)
    assert offered
    await farid.reply("the second one")
    said = await (await farid.answer(2)).inner_text()
    assert CANTEENS[offered[2]] in said
    assert CANTEENS[offered[1]] not in said
    await look("asked-back", farid.page)


async def test_a_direct_message_goes_on_without_a_thread(sit_down: Any, look: Any) -> None:
    emma: Colleague = await sit_down("emma")
    await emma.page.get_by_role("button", name="footnote").click()
    for question, told in ((HOLIDAYS, "25 days"), ("and when do they expire?", "31 March")):
        await emma.field("Message footnote").fill(question)
        await emma.page.keyboard.press("Enter")
        asked = emma.messages.get_by_role("article").filter(has_text=question).last
        await asked.get_by_role("button", name=re.compile("1 reply")).click()
        assert told in await (await emma.answer()).inner_text()
    await look("direct", emma.page)


async def test_a_mention_that_an_edit_adds_is_answered_once(sit_down: Any, look: Any) -> None:
    dana: Colleague = await sit_down("dana")
    await write(dana, SICK)
    await dana.correct(SICK, f"@footnote {SICK}")
    assert "09:00" in await (await dana.answer()).inner_text()
    await dana.reply("@footnote and how many days of holiday do I get?")
    assert "25 days" in await (await dana.answer(2)).inner_text()
    assert await answers(dana) == 2
    await look("edited", dana.page)


async def test_the_owner_is_asked_in_the_thread_and_once(sit_down: Any, look: Any) -> None:
    alice: Colleague = await sit_down("alice")
    await alice.ask("Which insurance company insures my bike against theft?")
    answer = await alice.answer()
    await look("owner-offered", alice.page)
    await answer.get_by_role("button", name="Ask the owner").click()
    asked = await (await alice.answer(2)).inner_text()
    assert re.search("@Dana Levi.*@Alice Anderson would like to know this.*Lease bikes", asked, re.DOTALL)
    await answer.get_by_text("Asked in this thread: @Dana Levi").wait_for()
    assert await answer.get_by_role("button", name="Ask the owner").count() == 0
    dana: Colleague = await sit_down("dana")
    await dana.sees_in_a_thread("would like to know this")
    await look("owner-asked", dana.page)


@pytest.mark.parametrize("where", ["Only me", "Everybody, in the thread"])
async def test_footnote_is_asked_about_somebodys_message(sit_down: Any, look: Any, where: str) -> None:
    bram: Colleague = await sit_down("bram", "garden-shop")
    alice: Colleague = await sit_down("alice", "garden-shop")
    question = f"I wonder how I book the meeting room in Utrecht ({where})"
    await write(bram, question, "#garden-shop")
    about = alice.messages.get_by_role("article").filter(has_text=question).last
    await about.hover()
    await about.get_by_role("button", name="More actions").click()
    await alice.page.get_by_role("menuitem", name="Ask Footnote about this").click()
    await alice.dialog.get_by_label("Question", exact=True).fill("How do I book a meeting room?")
    await alice.dialog.get_by_label(where).check()
    await look(f"shortcut-dialog-{where[:4]}", alice.page)
    await alice.dialog.get_by_role("button", name="Ask", exact=True).click()
    await alice.dialog.wait_for(state="hidden")
    if where == "Only me":
        await alice.messages.get_by_text("Only visible to you").last.wait_for()
        await look("shortcut-alone", alice.page)
        assert await bram.messages.get_by_role("article", name=re.compile("^footnote,")).count() == 0
        return
    await about.get_by_role("button", name=re.compile("1 reply")).click()
    await alice.answer()
    await bram.sees_in_a_thread("Meeting rooms are booked in")
    await look("shortcut-thread", alice.page)


async def write(who: Colleague, text: str, where: str = "#general") -> None:
    """In the channel, without a mention."""
    await who.field(f"Message {where}").fill(text)
    await who.page.keyboard.press("Enter")
    await who.messages.get_by_role("article").filter(has_text=text).last.wait_for()


async def answers(who: Colleague) -> int:
    """Of the bot, in the open thread."""
    return int(await who.thread.get_by_role("article", name=re.compile("^footnote,")).count())
