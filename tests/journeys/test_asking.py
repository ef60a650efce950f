"""What somebody who asks goes through, in a real browser with the whole bot behind it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.journeys.colleague import Colleague

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.timeout(300),  # the first journey waits for the bot to start
]

HOLIDAYS = "How many days of holiday do I get?"
NOT_FOUND = re.compile(r"I couldn't find this in the knowledge base|I found no direct answer")


async def test_a_mention_is_answered_in_its_thread_with_sources_dates_and_the_warning(
    sit_down: Any, picture: Any
) -> None:
    alice: Colleague = await sit_down("alice")
    alice.hold_back()
    await alice.ask(HOLIDAYS)
    searching = alice.messages.get_by_role("status").filter(has_text="Searching the knowledge base…")
    await searching.wait_for()
    alice.let_go()
    answer = await alice.answer()
    await searching.wait_for(state="detached")

    said = await answer.inner_text()
    assert "25 days" in said
    assert "⚠️ Leave policy was due for review on 3 May 2025" in said
    assert "reviewed 3 May 2024" in said
    assert "Leave policy › Annual leave" in said
    assert not re.search(r"\[\d\]", said), "the head is the source"
    await picture("answer", alice.page, alice.thread.get_by_role("log").get_by_role("article").first, answer)

    page = await alice.follow(answer.get_by_role("link", name="Leave policy").first)
    assert page.url.endswith("/people/leave-policy.md#annual-leave")
    assert await _is_in_view(page.get_by_role("heading", name="Annual leave"))
    assert "25 days of paid holiday" in await page.get_by_role("main").inner_text()


async def _is_in_view(heading: Any) -> bool:
    return await heading.evaluate(
        "(it) => it.getBoundingClientRect().top >= 0 && it.getBoundingClientRect().bottom <= innerHeight"
    )


async def test_a_follow_up_needs_no_mention(sit_down: Any, picture: Any) -> None:
    alice: Colleague = await sit_down("alice")
    await alice.ask(HOLIDAYS)
    await alice.answer()
    await alice.reply("and when do they expire?")
    answer = await alice.answer(2)
    said = await answer.inner_text()
    assert "31 March" in said
    interpreted = re.search(r"Interpreted as: (.+)", said)
    assert interpreted
    assert "holiday" in interpreted[1]
    assert "expire" in interpreted[1]
    question = alice.thread.get_by_role("article").filter(has_text="and when do they expire?").first
    await picture("follow-up", alice.page, question, answer)


async def test_dutch_is_answered_in_dutch(sit_down: Any) -> None:
    bram: Colleague = await sit_down("bram", "garden-shop")
    await bram.ask("Wat is houtmulch?", channel="garden-shop")
    answer = await bram.answer()
    assert "fijn gemalen hout" in await answer.inner_text()
    await bram.reply("en de prijs?")
    said = await (await bram.answer(2)).inner_text()
    assert "45 euro per kuub" in said
    assert re.search(r"Opgevat als: .*houtmulch", said, re.IGNORECASE)
    assert "Interpreted as" not in said
    assert "nagekeken 16 maart 2026" in said


async def test_what_no_page_says_is_declined(sit_down: Any) -> None:
    alice: Colleague = await sit_down("alice")
    await alice.ask("What is the capital of Australia?")
    answer = await alice.answer()
    said = await answer.inner_text()
    assert NOT_FOUND.search(said)
    assert "Canberra" not in said
    assert not re.search(r"\[\d\]", said)


async def test_correcting_the_question_corrects_the_answer_in_place(sit_down: Any) -> None:
    farid: Colleague = await sit_down("farid")
    await farid.ask("How many weeks of parental leave are there for each child?")
    answer = await farid.answer()
    assert "26 weeks" in await answer.inner_text()
    before = await answer.get_attribute("data-ts")
    await farid.correct("parental leave", "@footnote How do I report sick?")
    corrected = farid.thread.get_by_role("article").filter(has_text="09:00")
    await corrected.wait_for()
    assert await corrected.get_attribute("data-ts") == before
    assert "26 weeks" not in await farid.thread.inner_text()
    assert await farid.thread.get_by_role("article", name=re.compile("^footnote,")).count() == 1


async def test_markup_in_a_question_is_only_ever_text(sit_down: Any) -> None:
    # The composer escapes all of this, as Slack's does; a plain "<!channel>" the playground would take for a mention.
    evil = "<script>alert(1)</script> <!channel|all> <img src=x onerror=alert(2)> what is partner leave?"
    alice: Colleague = await sit_down("alice")
    bram: Colleague = await sit_down("bram")
    await alice.ask(evil)
    answer = await alice.answer()
    await answer.get_by_role("button", name="Why this answer?").click()
    await alice.dialog.get_by_text(evil).first.wait_for()
    await bram.messages.get_by_text(evil).last.wait_for()
    for who in (alice, bram):
        assert await who.page.locator(":is(.messages, dialog) :is(script, img, .loud)").count() == 0
        assert "<!" not in who.said_by_the_bot()
