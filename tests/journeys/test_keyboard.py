"""The first journey again, without a mouse."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.browser import until_true
from tests.journeys.colleague import Colleague

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]

STOPS = 60
"""More stops of the Tab key than there are before anything in a short thread."""


async def test_asking_reading_and_looking_into_an_answer_needs_no_mouse(sit_down: Any) -> None:
    farid: Colleague = await sit_down("farid")
    keyboard = farid.page.keyboard
    await until_true(farid.page, "document.activeElement?.tagName === 'TEXTAREA'")
    await keyboard.type("@foot")
    await farid.page.get_by_role("option", name="@footnote").wait_for()
    await keyboard.press("Tab")
    await keyboard.type("How many days of holiday do I get?")
    await keyboard.press("Enter")
    answer = await farid.answer()

    await _tab_to(farid, "A", "Leave policy")
    async with farid.page.context.expect_page() as opening:
        await keyboard.press("Enter")
    opened = await opening.value
    assert "/people/leave-policy.md" in opened.url
    await opened.close()
    await farid.page.bring_to_front()

    await _tab_to(farid, "BUTTON", "Why this answer?")
    await keyboard.press("Enter")
    await farid.dialog.get_by_text("Passages found").wait_for()
    await keyboard.press("Escape")
    await farid.dialog.wait_for(state="hidden")
    assert await _focused(farid) == ["BUTTON", "Why this answer?"]

    question = await farid.thread.get_by_role("article").first.get_attribute("data-ts")
    await keyboard.press("Escape")
    await farid.thread.wait_for(state="hidden")
    await until_true(farid.page, "(ts) => document.activeElement?.dataset.ts === ts", question)
    assert await answer.count() == 0


async def _tab_to(colleague: Colleague, tag: str, text: str) -> None:
    """Presses Tab until what has the focus is that."""
    passed = []
    for _ in range(STOPS):
        await colleague.page.keyboard.press("Tab")
        focused = await _focused(colleague)
        if focused == [tag, text]:
            return
        passed.append(focused)
    raise AssertionError(f"{STOPS} stops of Tab and no {text!r}: {passed}")


async def _focused(colleague: Colleague) -> list[str]:
    return await colleague.page.evaluate(
        "[document.activeElement.tagName, document.activeElement.textContent]"
    )
