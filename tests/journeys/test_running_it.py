"""Who may do and see what: reindexing, and a page that is meant for one private channel."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.colleague import Colleague

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]

PAY = "What does a software engineer in salary band 3 earn?"
SECRETS = re.compile(r"salary-bands|Salary bands|3[,.]620|4[,.]910|3\.8 percent|wage bill")
COFFEE = """---
title: Office coffee
date: 2026-11-02
language: en
---

The coffee subscription of the head office costs 18 euros a month for each employee.
"""


async def test_an_admin_reindexes_and_what_changed_is_answered_at_once(
    sit_down: Any, footnote: Any, picture: Any
) -> None:
    dana: Colleague = await sit_down("dana")
    await dana.ask("What does the coffee subscription cost?")
    assert "18 euros" not in await (await dana.answer()).inner_text()

    _change_pages(footnote.handbook)
    await dana.close_thread()
    await dana.command("/kb reindex")
    done = dana.messages.get_by_role("article").filter(has_text="Done in").last
    await done.wait_for()
    assert "1 added, 1 changed, 1 removed, 37 unchanged · all sources, asked by" in await done.inner_text()
    progress = dana.texts_of("Reindexing")
    assert progress[0].startswith("Reindexing all sources")
    assert progress[-1].startswith("Done in")
    await picture("reindex", dana.page, done)

    await dana.ask("What does the coffee subscription cost?")
    answer = await dana.answer()
    assert "18 euros" in await answer.inner_text()
    assert await answer.get_by_role("link", name="Office coffee").count() == 1


def _change_pages(handbook: Path) -> None:
    (handbook / "company" / "coffee.md").write_text(COFFEE, encoding="utf-8")
    (handbook / "company" / "summer-hours-2026.md").unlink()
    offices = handbook / "company" / "offices.md"
    offices.write_text(offices.read_text(encoding="utf-8") + "\nThe bicycle shed is new.\n", encoding="utf-8")


async def test_somebody_else_is_refused_politely_and_alone(sit_down: Any) -> None:
    alice: Colleague = await sit_down("alice")
    bram: Colleague = await sit_down("bram")
    await bram.command("/kb reindex")
    refusal = bram.messages.get_by_role("article").filter(has_text="alleen beheerders").last
    await refusal.wait_for()
    assert "Sorry" in await refusal.inner_text()
    assert "Only visible to you" in await refusal.inner_text()
    await bram.command("then I shall ask Dana")
    await alice.messages.get_by_text("then I shall ask Dana").last.wait_for()
    assert "beheerders" not in str(alice.heard)
    assert bram.texts_of("Reindexing") == []


async def test_the_private_page_is_answered_in_its_channel_and_unknown_elsewhere(sit_down: Any) -> None:
    emma: Colleague = await sit_down("emma", "people-leads")
    bram: Colleague = await sit_down("bram")
    await emma.ask(PAY, channel="people-leads")
    told = await (await emma.answer()).inner_text()
    assert "3,620" in told
    assert "4,910" in told
    assert "Salary bands 2026" in told

    await bram.ask(PAY)
    answer = await bram.answer()
    said = await answer.inner_text()
    assert re.search("I couldn't find this in the knowledge base|I found no direct answer", said)
    await answer.get_by_role("button", name="Why this answer?").click()
    await bram.dialog.get_by_text("Outcome").wait_for()
    assert not SECRETS.search(await bram.page.content())
    assert not SECRETS.search(str(bram.heard))
