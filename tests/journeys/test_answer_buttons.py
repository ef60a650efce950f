"""What one can do with an answer: say whether it helped, and ask where it comes from."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.journeys.colleague import Colleague

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]


async def test_a_helpful_answer_is_thanked_for_and_only_the_voter_sees_it(sit_down: Any) -> None:
    alice: Colleague = await sit_down("alice")
    bram: Colleague = await sit_down("bram")
    await alice.ask("How long is partner leave?")
    answer = await alice.answer()
    await answer.get_by_role("button", name="This answer helped").click()
    thanks = alice.thread.get_by_role("article").filter(has_text="Thank you!")
    await thanks.get_by_text("Only visible to you").wait_for()
    await alice.reply("thanks, that was it")
    await bram.sees_in_a_thread("thanks, that was it")
    assert "Thank you!" not in str(bram.heard)


async def test_what_was_wrong_with_an_answer_can_be_told(sit_down: Any) -> None:
    alice: Colleague = await sit_down("alice")
    await alice.ask("How long is partner leave?")
    answer = await alice.answer()
    await answer.get_by_role("button", name="This answer did not help").click()
    await alice.dialog.get_by_label("It is out of date").check()
    await alice.dialog.get_by_label("What should it have said?").fill("It is longer since January.")
    await alice.dialog.get_by_role("button", name="Send").click()
    await alice.dialog.wait_for(state="hidden")
    await alice.thread.get_by_text("Noted what was wrong.").wait_for()


async def test_why_shows_how_the_question_was_read_and_what_was_found(sit_down: Any, picture: Any) -> None:
    alice: Colleague = await sit_down("alice")
    await alice.ask("How many days of holiday do I get?")
    await alice.answer()
    await alice.reply("and when do they expire?")
    answer = await alice.answer(2)
    await answer.get_by_role("button", name="Why this answer?").click()
    await alice.dialog.get_by_text("Passages found").wait_for()
    told = await alice.dialog.inner_text()
    assert "Question: and when do they expire?" in told
    assert "Follow-up of the answer before: yes" in told
    assert re.search(r"\[1\]\s+Leave ", told)
    assert "Timings:" in told
    await picture("why", alice.page, alice.dialog)
    await alice.dialog.get_by_role("button", name="Close").last.click()
    await alice.dialog.wait_for(state="hidden")
