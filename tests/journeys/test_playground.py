"""What the playground offers a newcomer, and what people do in Slack besides typing, with the whole bot behind it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.colleague import Colleague
from tests.journeys.conftest import VIEW, started
from tests.journeys.test_asking import NOT_FOUND

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]

LEAVE = """---
title: Leave policy
---

## Annual leave

Everybody gets 25 days of annual leave a year.

## Unpaid leave

Unpaid leave is possible for 20 days a year.
"""


async def test_five_questions_of_the_pages_are_offered_and_each_does_what_it_says(sit_down: Any) -> None:
    farid: Colleague = await sit_down("farid", "garden-shop")
    page = farid.page
    offer = page.get_by_role("button", name="Questions to try")

    async def items() -> list[str]:
        await offer.click()
        return await page.get_by_role("menuitem").locator("span:first-child").all_inner_texts()

    first, follow_up, second, dutch, unknown = await items()
    await page.keyboard.press("Escape")
    assert dutch == "Hoe meld ik me ziek?"

    async def press(question: str) -> None:
        await farid.close_thread()
        await offer.click()
        await page.get_by_role("menuitem", name=question).click()

    await press(follow_up)  # the question before it was not asked yet: it is asked first
    assert "25 days" in await (await farid.answer()).inner_text()
    assert first in await farid.thread.inner_text()
    assert "20 working days" in await (await farid.answer(2)).inner_text()
    for question, told in ((second, "25th of each month"), (dutch, "09:00"), (unknown, NOT_FOUND)):
        await press(question)
        said = await (await farid.answer()).inner_text()
        assert re.search(told, said), question


async def test_an_attached_text_is_read_as_far_as_slack_tells_it_and_other_files_are_named(
    sit_down: Any,
) -> None:
    alice: Colleague = await sit_down("alice")
    choose = alice.page.locator("#composer-main input[type=file]")
    scan = {"name": "scan.png", "mimeType": "image/png", "buffer": b"\x89PNG" * 300}
    await choose.set_input_files([scan])
    await alice.ask("How many days of holiday do I get?")
    said = await (await alice.answer()).inner_text()
    assert "25 days" in said
    assert "can't read" in said
    await alice.close_thread()
    question = {"name": "question.txt", "mimeType": "text/plain", "buffer": b"How do I report sick?"}
    await choose.set_input_files([question])
    await alice.ask("what is the answer to this?")
    said = await (await alice.answer()).inner_text()
    assert "09:00" in said


async def test_a_forwarded_question_is_answered_where_it_was_forwarded_to(sit_down: Any) -> None:
    bram: Colleague = await sit_down("bram")
    await bram.field("Message #general").fill("How many weeks of parental leave are there for each child?")
    await bram.page.keyboard.press("Enter")
    alice: Colleague = await sit_down("alice")
    asked = alice.messages.get_by_role("article").filter(has_text="weeks of parental leave").last
    await asked.hover()
    await asked.get_by_role("button", name="Forward message").click()
    await alice.dialog.get_by_label("To", exact=True).select_option("G0PEOPLE")
    await alice.dialog.get_by_label("Add a message").fill("@footnote do you know?")
    await alice.page.keyboard.press("Enter")
    assert "26 weeks" in await (await alice.answer()).inner_text()
    await alice.thread.get_by_label("Forwarded from Bram de Vries").wait_for()


@pytest.mark.series
async def test_after_a_restart_everything_is_there_and_the_thread_goes_on(
    tmp_path: Path, chromium: Any
) -> None:
    (tmp_path / "handbook").mkdir()
    (tmp_path / "handbook" / "leave.md").write_text(LEAVE, encoding="utf-8")
    context = await chromium.new_context(viewport=VIEW)
    with started(tmp_path, tmp_path / "first") as url:
        bram = Colleague(await context.new_page(), url, "bram")
        await bram.sit_down("general")
        await bram.ask("How many days of annual leave are there?")
        assert "25 days" in await (await bram.answer()).inner_text()
        await bram.page.close()
    with started(tmp_path, tmp_path / "second") as url:
        page = await context.new_page()
        await page.goto(url)  # nobody says who sits down: it is who sat here last
        assert await page.get_by_label("You are").input_value() == "U0BRAM"
        bram = Colleague(page, url, "bram")
        await bram.sit_down("general")
        await bram.sees_in_a_thread("25 days")
        link = bram.thread.get_by_role("link", name="Leave policy").first
        assert (await link.get_attribute("href") or "").startswith(url)
        await bram.reply("and unpaid?")
        assert "20 days" in await (await bram.answer(2)).inner_text()
        assert bram.problems == []
    await context.close()
