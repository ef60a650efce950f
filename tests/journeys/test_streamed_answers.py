"""What somebody sees while a model writes the answer: half of it, all of it, and what the check took out.

The bot is a `footnote playground` of its own, whose model is scripted on the wire.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import Any

import pytest
import pytest_asyncio

from kb.config.model_settings import ModelSettings
from tests.fakes.browser import Windows, need_chromium
from tests.fakes.messages_server import MessagesServer, Say, say_json
from tests.journeys.colleague import Colleague
from tests.journeys.conftest import started

pytestmark = [
    pytest.mark.series,
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.timeout(300),
]

QUESTION = "How does paid holiday work here?"
FIRST, SECOND = (
    "Full-time employees get 25 days of paid holiday a year.",
    "Public holidays come on top of these days.",
)
WRONG = "Unused holiday days can be sold at the end of the year."
LAST = "Unused days expire on 31 March of the following year."
JUDGE = ModelSettings().rewrite_model
REMOVED = "One sentence removed: not on the page."


class Author:
    """A model that writes all but `LAST`, waits to be told, and writes that; its judge finds `WRONG` wrong."""

    def __init__(self) -> None:
        self.goes_on = asyncio.Event()

    def __call__(self, body: Mapping[str, Any]) -> Say:
        if body["model"] == JUDGE:
            return judged(body)
        begun, rest = LAST[:40], LAST[40:]
        pieces = [*(f"{sentence} [1] " for sentence in (FIRST, SECOND, WRONG)), begun, f"{rest} [3]"]
        return Say(*pieces, until=self.goes_on, after=1 + 4 * EVENTS_A_PIECE)


EVENTS_A_PIECE = 4
"""Its start, two halves, its end."""


def judged(body: Mapping[str, Any]) -> Say:
    content = body["messages"][-1]["content"]
    text = content if isinstance(content, str) else content[-1]["text"]
    document, _ = json.JSONDecoder().raw_decode(text)
    verdicts = [
        {
            "sentence": one["number"],
            "verdict": "contradicted" if one["sentence"] == WRONG else "supported",
            "sure": 95,
        }
        for one in document["sentences"]
    ]
    return say_json({"verdicts": verdicts})


@dataclass(frozen=True, kw_only=True)
class Desk:
    colleague: Colleague
    author: Author


@pytest_asyncio.fixture(loop_scope="session")
async def desk(tmp_path_factory: pytest.TempPathFactory, windows: Windows) -> AsyncIterator[Desk]:
    need_chromium()
    home = tmp_path_factory.mktemp("streamed")
    with as_file(files("ingest") / "sample" / "handbook") as sample:
        shutil.copytree(sample / "people", home / "handbook" / "people")
    author = Author()
    async with MessagesServer(answering=author) as model:
        variables = {
            "ANTHROPIC_API_KEY": model.key,
            "ANTHROPIC_BASE_URL": model.url,
            "FOOTNOTE_REWRITE__MODE": "heuristic",
            "FOOTNOTE_MODEL__ANSWER_DEADLINE_S": "60",
        }
        running = started(home, home / "output", **variables)
        url = await asyncio.to_thread(running.__enter__)
        try:
            async with windows.window() as page:
                alice = Colleague(page, url, "alice")
                await alice.sit_down("general")
                yield Desk(colleague=alice, author=author)
            assert alice.problems == []
            assert model.refusals == []
        finally:
            author.goes_on.set()
            await asyncio.to_thread(running.__exit__, None, None, None)


async def test_an_answer_is_read_while_it_is_written_and_loses_what_the_check_rejects(
    desk: Desk, picture: Any
) -> None:
    alice = desk.colleague
    await alice.ask(QUESTION)
    draft = await alice.answer()
    await draft.get_by_text(WRONG).wait_for()
    said = await draft.inner_text()
    assert FIRST in said
    assert SECOND in said
    assert LAST not in said
    assert await draft.get_by_label("still writing").count() == 1
    assert await draft.get_by_role("button", name="Why this answer?").count() == 0
    mark = draft.get_by_role("link", name="1", exact=True).first
    assert "/people/leave-policy.md#annual-leave" in str(await mark.get_attribute("href"))
    question = alice.thread.get_by_role("log").get_by_role("article").first
    await picture("stream-half", alice.page, question, draft)

    desk.author.goes_on.set()
    answer = await alice.answer()
    await answer.get_by_role("button", name="Why this answer?").wait_for()
    said = await answer.inner_text()
    assert FIRST in said
    assert LAST in said
    assert WRONG not in said
    assert REMOVED in said
    await _each_mark_leads_to_its_source(answer)
    assert await answer.get_by_label("still writing").count() == 0
    assert await answer.get_attribute("data-ts") == await draft.get_attribute("data-ts")
    assert await alice.messages.get_by_role("status").count() == 0
    await picture("stream-done", alice.page, question, answer)


async def _each_mark_leads_to_its_source(answer: Any) -> None:
    """Every [n] in the text opens what the source with that number opens, and there is no other."""
    marks = answer.get_by_role("link", name=re.compile(r"^\[\d+\]$"))
    marked = {await one.inner_text(): await one.get_attribute("href") for one in await marks.all()}
    assert marked
    lines = (await answer.locator(".block-context").filter(has_text="[1]").inner_text()).splitlines()
    sources = answer.locator(".block-context").filter(has_text="[1]").get_by_role("link")
    addresses = [await one.get_attribute("href") for one in await sources.all()]
    assert marked == {line.split()[0]: address for line, address in zip(lines, addresses, strict=True)}
