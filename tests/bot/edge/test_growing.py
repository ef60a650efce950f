"""What people asked becomes cases: of answers that were voted up and
gaps that were closed, naming nobody, and they run.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot.cli.evaluation.scratch import Scratch, open_scratch
from bot.playground import SlackLimits
from bot.rendering.render import HELPFUL, NOT_HELPFUL
from bot.stats.gaps import Gaps
from bot.stats.grown_cases import CaseGrower, Grown, facts_of
from ingest.sources.folder import FolderSource
from ingest.sync.sync import Sync
from kb.config.answer_settings import AnswerSettings
from kb.config.model_settings import RerankSettings
from kb.config.settings import Settings
from kb.config.sources import FolderSettings
from kb.evaluation.answer_sets import read_answer_set, run_answer_case
from kb.retrieval.golden import read_questions
from kb.retrieval.lexical import LexicalEncoder
from tests.fakes.knowing_office import Words
from tests.fakes.office import NOW, Office, WordSimilarity, clock, open_office

LEAVE = "# Leave policy\n\n## Annual leave\n\nFull-time employees get 25 days of paid holiday a year.\n"
EXPIRY = "\n## Carry-over\n\nUnused holiday days expire on 31 March of the next year.\n"
SECRET = "---\naudience: ['#people-leads']\n---\n# Salaries\n\nThe salary of a lead is 91000 euro a year.\n"


@dataclass(kw_only=True)
class Growing:
    office: Office
    scratch: Scratch
    folder: Path
    sync: Sync

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    async def asked(
        self, text: str, channel: str = "#general", user: str = "alice", thread: str | None = None
    ) -> tuple[str, str]:
        """The ts of the question and of its answer."""
        before = len(self.office.replies(channel, thread)) if thread else 0
        ts = await self.office.ask(user, channel, text, thread)
        answers = await self.office.answers(channel, thread or ts, before + 1)
        return ts, str(answers[-1]["ts"])

    async def vote(
        self, ts: str, action: str = HELPFUL, channel: str = "#general", user: str = "bram"
    ) -> None:
        assert await self.office.slack.click(user, channel, ts, action)
        await self.office.settled()

    async def grow(self, *, private: bool = False) -> Grown:
        gaps = Gaps(records=self.office.analytics, similarity=WordSimilarity(), pages=self.scratch.index)
        return await CaseGrower(
            records=self.office.analytics,
            gaps=gaps,
            cited=self.office.cited,
            conversations=self.office.conversations,
            index=self.scratch.index,
            answerer=self.scratch.pipeline,
            today=NOW.date(),
        ).grow(private=private)


@asynccontextmanager
async def a_growing_office(redis: Redis, limits: SlackLimits, folder: Path) -> AsyncIterator[Growing]:
    folder.mkdir()
    for name, text in (("leave.md", LEAVE + EXPIRY), ("salaries.md", SECRET)):
        (folder / name).write_text(text, encoding="utf-8")
    source = FolderSettings(name="kb", path=folder, base_url="https://kb.example", git_dates=False)
    embedder = Words(max_tokens=200)
    # An embedder that compares words is never as sure as the one that the confidence was fitted with.
    settings = Settings(rerank=RerankSettings(model="off"), answer=AnswerSettings(min_confidence=0.25))
    async with (
        open_scratch(settings, [source], embedder=embedder, clock=clock) as scratch,  # type: ignore[arg-type]
        open_office(redis, limits, pipeline=scratch.pipeline) as office,
    ):
        sync = Sync(
            index=scratch.index,
            embedder=embedder,
            lexical=LexicalEncoder(),
            sources=lambda: [FolderSource(source)],
            clock=clock,
        )
        yield Growing(office=office, scratch=scratch, folder=folder, sync=sync)


@pytest.fixture
async def growing(redis: Redis, limits: SlackLimits, tmp_path: Path) -> AsyncIterator[Growing]:
    async with a_growing_office(redis, limits, tmp_path / "pages") as made:
        yield made


async def test_an_answer_that_was_voted_up_becomes_a_case_that_passes(
    growing: Growing, tmp_path: Path
) -> None:
    _, answer = await growing.asked(
        "@footnote how many days of paid holiday do full-time employees get, as @Chidi Okafor asked in #garden-shop?"
    )
    await growing.vote(answer)
    grown = await growing.grow()
    (case,) = grown.cases
    assert case.question.startswith(
        "how many days of paid holiday do full-time employees get, as person-1 asked"
    )
    assert case.question.endswith("in channel-1?")
    assert (case.page, case.category, case.channel) == ("leave.md", "voted-up", None)
    assert case.keywords == (("25 days", "25"),)
    assert "chidi" not in case.model_dump_json().casefold()

    file = tmp_path / "cases.json"
    file.write_text(json.dumps({"cases": [case.model_dump(mode="json")]}), encoding="utf-8")
    (read,) = read_answer_set(file).cases
    assert (await run_answer_case(growing.scratch.pipeline, read)).problems == {}

    golden = tmp_path / "golden.jsonl"
    golden.write_text(
        "".join(one.model_dump_json(exclude_defaults=True) + "\n" for one in grown.golden), "utf-8"
    )
    assert [(one.question, one.page) for one in read_questions(golden)] == [(case.question, "kb:leave.md")]


async def test_a_follow_up_takes_its_thread_along(growing: Growing) -> None:
    root, _ = await growing.asked("@footnote how many days of paid holiday do full-time employees get?")
    _, answer = await growing.asked("@footnote and when do unused holiday days expire?", thread=root)
    await growing.vote(answer)
    (case,) = (await growing.grow()).cases
    assert case.question == "and when do unused holiday days expire?"
    assert [one.role for one in case.chat_history] == ["user", "assistant"]
    assert "25 days" in case.chat_history[1].content
    assert any("31" in ways[0] for ways in case.keywords)
    assert (await run_answer_case(growing.scratch.pipeline, case)).problems == {}


async def test_votes_down_and_no_votes_grow_nothing(growing: Growing) -> None:
    _, answer = await growing.asked("@footnote how many days of paid holiday do full-time employees get?")
    assert (await growing.grow()).cases == ()
    await growing.vote(answer)
    await growing.vote(answer, NOT_HELPFUL, user="chidi")
    assert (await growing.grow()).cases == ()


async def test_what_was_asked_privately_needs_to_be_asked_for(growing: Growing) -> None:
    _, answer = await growing.asked("@footnote what is the salary of a lead a year?", "#people-leads")
    await growing.vote(answer, channel="#people-leads", user="dana")
    grown = await growing.grow()
    assert (grown.cases, grown.golden, grown.left_out) == ((), (), {"asked privately": 1})
    (case,) = (await growing.grow(private=True)).cases
    assert (case.page, case.channel) == ("salaries.md", "#people-leads")
    assert (await run_answer_case(growing.scratch.pipeline, case)).problems == {}


async def test_what_no_longer_stands_on_its_page_is_no_case(growing: Growing) -> None:
    _, answer = await growing.asked("@footnote how many days of paid holiday do full-time employees get?")
    await growing.vote(answer)
    growing.write("leave.md", "# Leave policy\n\nEverything is agreed on with your lead in person.\n")
    await growing.sync.run()
    grown = await growing.grow()
    assert (grown.cases, grown.left_out) == ((), {"no longer says it": 1})
    (growing.folder / "leave.md").unlink()
    await growing.sync.run()
    assert (await growing.grow()).left_out == {"page gone": 1}


async def test_a_gap_that_the_pages_have_closed_becomes_a_case(growing: Growing) -> None:
    question = "how much is the bicycle allowance per kilometre?"
    await growing.asked(f"@footnote {question}")
    assert (await growing.grow()).cases == ()
    growing.write("bicycle.md", "# Bicycle allowance\n\nThe bicycle allowance is 23 cents per kilometre.\n")
    await growing.sync.run()
    gaps = Gaps(records=growing.office.analytics, similarity=WordSimilarity(), pages=growing.scratch.index)
    assert await gaps.look_again(growing.scratch.pipeline) == 1
    (case,) = (await growing.grow()).cases
    assert (case.question, case.page, case.category) == (question, "bicycle.md", "gap-closed")
    assert case.keywords == (("23 cents", "23"),)
    assert (await run_answer_case(growing.scratch.pipeline, case)).problems == {}


@pytest.mark.parametrize(
    ("statements", "facts"),
    [
        (["You get 25 days a year."], (("25 days", "25"),)),
        (["Ask first.", "It is 12 days, then 14.", "Not 99."], (("12 days", "12"), ("14",))),
        (["| 1 | Nobody can order | 15 minutes |"], (("15 minutes", "15"),)),
        (["It is 5 days."], (("5 days",),)),
        (["| Ghent | 20 parking places | € 45 |"], (("20 parking", "20"), ("€ 45",))),
        (["The [form](/forms/1186466179) takes 20 minutes."], (("20 minutes", "20"),)),
        (["Call +31 6 1234 5678."], ()),
        (["Ask the Facilities department."], (("facilities", "department"),)),
        ([], ()),
    ],
)
def test_facts_are_the_figures_of_what_was_quoted_else_a_telling_word(
    statements: list[str], facts: tuple[tuple[str, ...], ...]
) -> None:
    told = facts_of(statements, "How many?")
    assert [set(ways) for ways in told] == [set(ways) for ways in facts]
