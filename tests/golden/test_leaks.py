"""A small part of `footnote eval leaks`, and proof that it finds a leak where a filter is taken away."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
import qdrant_edge as engine
from hypothesis import given, settings
from hypothesis import strategies as st

import bot.slack.audiences
import kb.index.embedded.search
import kb.index.embedded.shard
import kb.pipeline
from bot.cli.evaluation.leak_tally import LeakTally
from bot.cli.evaluation.leaks import Walk, open_walk
from bot.slack.audiences import audience_of
from bot.slack.channels import Channel
from bot.slack.memberships import Membership
from bot.slack.people import Person
from kb.config.answer_settings import AnswerSettings
from kb.config.model_settings import RerankSettings
from kb.config.settings import Settings
from kb.evaluation.leaks import Asker, Group, Reader, Room, SecretPage, World, combinations, make_world
from kb.models import EVERYONE, Audience, Turn
from tests.fakes.embedder import HashEmbedder

COMBINATIONS = 80


class Words(HashEmbedder):
    embed_queries = HashEmbedder.embed_documents


WORLD = make_world(7, pages=40)


@asynccontextmanager
async def walking(min_confidence: float | None) -> AsyncIterator[Walk]:
    quick = Settings(rerank=RerankSettings(model="off"), answer=AnswerSettings(min_confidence=min_confidence))
    async with open_walk(quick, WORLD, embedder=Words(max_tokens=200)) as walk:  # type: ignore[arg-type]
        yield walk


async def walked(
    change: Callable[[Walk], Walk] = lambda walk: walk, *, min_confidence: float | None = None
) -> LeakTally:
    """`min_confidence` 0: whatever is found is quoted, however little it says; `Words` know no similarity of meaning."""
    report = LeakTally()
    async with walking(min_confidence) as walk:
        changed = change(walk)
        for combination in combinations(WORLD, COMBINATIONS, 7):
            await changed.ask(combination, report)
    return report


@pytest.mark.parametrize("min_confidence", [None, 0.0])
async def test_nothing_gets_out_and_what_may_be_told_is_found(min_confidence: float | None) -> None:
    report = await walked(min_confidence=min_confidence)
    assert report.leaks == []
    assert report.asked == COMBINATIONS
    assert report.found >= 0.8 * report.readable > 0


async def test_a_missing_filter_in_the_search_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kb.index.embedded.shard, "is_readable", _anything)
    monkeypatch.setattr(kb.index.embedded.search, "is_readable", _anything)
    monkeypatch.setattr(kb.index.embedded.search, "readable", lambda _, *must: engine.Filter(must=[*must]))
    report = await walked()
    assert {leak.where for leak in report.leaks} >= {"message", "why", "given to the answerer", "api"}


@pytest.mark.series
async def test_a_missing_filter_in_what_the_thread_remembers_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def everything(turns: Sequence[Turn], *_: Any, **__: Any) -> Sequence[Turn]:
        return turns

    monkeypatch.setattr(kb.pipeline, "readable_turns", everything)
    report = await walked(min_confidence=0.0)
    assert {leak.kind for leak in report.leaks} <= {"follow-up", "misspelt"}
    assert {leak.where for leak in report.leaks} >= {"message", "given to the answerer"}


@pytest.mark.series
async def test_spelling_towards_pages_that_outsiders_may_not_read_is_noticed() -> None:
    def spelling(walk: Walk) -> Walk:
        retriever = walk.pipeline.retriever
        careless = replace(retriever, outside_rewriter=retriever.rewriter)
        return replace(walk, pipeline=replace(walk.pipeline, retriever=careless))

    report = await walked(spelling)
    assert {leak.kind for leak in report.leaks} == {"misspelt"}


@pytest.mark.series
async def test_a_why_view_that_asks_nobody_is_noticed() -> None:
    class Trusting(kb.pipeline.Pipeline):
        async def may_show(self, page_ids: Collection[str], audience: Audience) -> bool:
            return True

    def trusting(walk: Walk) -> Walk:
        parts = {name: getattr(walk.pipeline, name) for name in walk.pipeline.__dataclass_fields__}
        return replace(walk, pipeline=Trusting(**parts))

    report = await walked(trusting)
    assert {leak.where for leak in report.leaks} == {"why"}


@pytest.mark.series
async def test_groups_that_count_in_channels_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def generous(channel: Channel, person: Person, membership: Membership, **options: Any) -> Audience:
        audience = audience_of(channel, person, membership, **options)
        return replace(audience, groups=audience.groups | {f"@{group.handle}" for group in WORLD.groups})

    monkeypatch.setattr(bot.slack.audiences, "audience_of", generous)
    assert (await walked()).leaks


@pytest.mark.series
async def test_outsiders_that_count_as_everyone_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def naive(channel: Channel, person: Person, membership: Membership, **options: Any) -> Audience:
        return replace(audience_of(channel, person, membership, **options), everyone=True)

    monkeypatch.setattr(bot.slack.audiences, "audience_of", naive)
    assert (await walked()).leaks


def _anything(_: Audience) -> list[engine.FieldCondition]:
    pages = [f"secrets:{page.path}" for page in WORLD.pages]
    return [engine.FieldCondition(kb.index.embedded.shard.PAGE_ID, match=engine.MatchAny(pages))]


PEOPLE = st.sampled_from(WORLD.people)
ROOMS = st.one_of(st.none(), st.sampled_from(WORLD.rooms))
READERS = st.lists(
    st.builds(Reader, target=st.sampled_from((*WORLD.rooms, *WORLD.groups)), by_id=st.booleans()), max_size=3
)


@given(asker=PEOPLE, room=ROOMS, readers=READERS)
@settings(max_examples=500, deadline=None)
def test_the_rules_never_grant_what_the_world_forbids(
    asker: Asker, room: Room | None, readers: list[Reader]
) -> None:
    page = SecretPage(path="p.md", thing="x", secrets=("a", "b", "c"), readers=tuple(readers))
    marks = [reader.written for reader in readers] or [EVERYONE]
    audience = audience_of(_channel(room), _person(asker), _membership(WORLD, asker))
    if audience.may_read(marks):
        assert WORLD.may_be_told(page, asker, room)


def _channel(room: Room | None) -> Channel:
    if room is None:
        return Channel(id="D1", name=None, kind="im")
    return Channel(
        id=room.id, name=room.name, kind="group" if room.private else "channel", shared=room.shared
    )


def _person(asker: Asker) -> Person:
    return Person(id=asker.id, name=asker.name, outsider=asker.outsider)


def _membership(world: World, asker: Asker) -> Membership:
    rooms = [room for room in world.rooms if asker.id in room.members]
    groups: list[Group] = [group for group in world.groups if asker.id in group.members]
    return Membership(
        channels=frozenset(
            {mark for room in rooms for mark in (room.id, *([] if room.shared else [f"#{room.name}"]))}
        ),
        groups=frozenset({mark for group in groups for mark in (group.id, f"@{group.handle}")}),
    )
