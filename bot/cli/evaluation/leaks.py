"""`footnote eval leaks`: random askers ask in random places about random pages; nobody may get what they may not read.

The pages are ingested, searched and answered by the real pipeline; who may read what is asked of the playground's Slack
by the bot's own code. `kb.evaluation.leaks` judges what came out, by what it knows itself.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.api.concurrency import ConcurrencyLimit
from bot.api.errors import KeyRefusedError
from bot.api.keys import ApiKey
from bot.api.schemas import SearchRequest
from bot.api.service import Service
from bot.cli.composition.runtime import utc_now
from bot.cli.evaluation.leak_tally import Leak, LeakTally
from bot.cli.evaluation.report import Report, track
from bot.cli.evaluation.scratch import open_scratch
from bot.playground import Playground, SlackLimits
from bot.playground.workspace import UserGroup, Workspace, WorkspaceChannel, WorkspaceUser
from bot.questions.answer_record import AskedIn
from bot.questions.explain import trace_payload
from bot.rendering.render import answer_markdown, render
from bot.slack.audiences import Audiences
from bot.slack.channels import ChannelDirectory
from bot.slack.memberships import Memberships
from bot.slack.people import People
from kb.answer import Answer
from kb.answering.answer_json import answer_as_json, trace_as_json
from kb.answering.excerpts import Excerpt
from kb.answering.quoting import Librarian
from kb.config.settings import Settings
from kb.config.sources import FolderSettings
from kb.evaluation.leaks import Asker, Combination, Room, World, combinations, make_world
from kb.inference.embedder import Embedder
from kb.models import Chunk, Hit, Question, Retrieved, Turn
from kb.pipeline import Pipeline

SOURCE = "secrets"
API_EVERY = 20
"""Every how many-th combination is also asked of the HTTP API, whose key speaks for nobody in particular."""
KEY = ApiKey(name="nobody", prefix="", digest="", created_at=datetime.min.replace(tzinfo=UTC))


async def leaks(settings: Settings, *, count: int, seed: int) -> Report:
    """Asks so many combinations. The exit code is 1 if anything leaks, or no page is found by those who may read it."""
    world = make_world(seed)
    tally = LeakTally()
    async with open_walk(settings, world) as walk:
        asked = list(combinations(world, count, seed))
        for combination in track(asked, "Asking"):
            await walk.ask(combination, tally)
    return Report(
        figures=tally.as_json(),
        shown=tally.shown(),
        code=1 if tally.leaks or not tally.found else 0,
    )


@dataclass(frozen=True, kw_only=True)
class Walk:
    """Asks as one person in one place, and overhears what the answerer was given."""

    world: World
    pipeline: Pipeline
    audiences: Audiences
    direct: dict[str, str]
    """Person id -> id of the direct message with the bot."""
    api: Service

    async def ask(self, combination: Combination, tally: LeakTally) -> None:
        asker, room, page = combination.asker, combination.room, combination.page
        channel = room.id if room else self.direct[asker.id]
        audience = await self.audiences.of(channel, asker.id)
        librarian = _Overhearing(self.pipeline.quoted.librarian)
        pipeline = replace(self.pipeline, quoted=replace(self.pipeline.quoted, librarian=librarian))
        question = Question(id=f"q{combination.number}", text=combination.question, audience=audience)
        answer = await pipeline.answer(question, _thread(combination))
        tally.asked += 1
        tally.outcomes[answer.outcome] += 1
        if combination.kind == "direct" and self.world.may_be_told(page, asker, room):
            tally.readable += 1
            tally.found += any(hit.chunk.page.path == page.path for hit in answer.trace.hits)
        for where, text in (*_surfaces(answer, channel), ("given to the answerer", librarian.heard)):
            tally.leaks += self._leaks(where, text, combination, asker)
        tally.leaks += await self._why(answer, channel, combination)
        if combination.number % API_EVERY == 0:
            tally.leaks += await self._asked_by_key(combination)

    def _leaks(self, where: str, text: str, combination: Combination, reader: Asker) -> list[Leak]:
        room: Room | None = combination.room
        without_question = text.replace(combination.question, "")  # what the asker said themselves is no leak
        return [
            Leak(
                where=where,
                page=path,
                asker=reader.id,
                room=room.name if room else "direct message",
                kind=combination.kind,
                number=combination.number,
            )
            for path in self.world.leaked(without_question, reader, room)
        ]

    async def _why(self, answer: Answer, channel: str, combination: Combination) -> list[Leak]:
        """Has somebody else in the room press "Why this answer?"."""
        reader = combination.reader
        trace = trace_payload(answer, channel=channel)
        audience = await self.audiences.of(channel, reader.id)
        if not await self.pipeline.may_show(trace["pages"], audience):
            return []
        return self._leaks("why", json.dumps(trace, ensure_ascii=False), combination, reader)

    async def _asked_by_key(self, combination: Combination) -> list[Leak]:
        """Asks by a key without an audience. It sees what everyone in the company may read: an employee in no room."""
        wanted = SearchRequest(query=combination.question, include_answer=True, top_k=50)
        text = (await self.api.search(KEY, wanted)).model_dump_json()
        nobody = Asker(id="", name="")
        return [
            replace(leak, room="")
            for leak in self._leaks("api", text, replace(combination, room=None), nobody)
        ]


@asynccontextmanager
async def open_walk(
    settings: Settings, world: World, *, embedder: Embedder | None = None
) -> AsyncIterator[Walk]:
    with TemporaryDirectory(prefix="footnote-leaks-") as name:
        folder = Path(name)
        for page in world.pages:
            (folder / page.path).write_text(page.markdown, encoding="utf-8")
        source = FolderSettings(name=SOURCE, path=folder, base_url="https://kb.example", git_dates=False)
        async with (
            open_scratch(settings, [source], embedder=embedder) as scratch,
            Playground(_workspace(world), limits=SlackLimits(rate_limited=False)) as slack,
            aiohttp.ClientSession() as http,
        ):
            client = AsyncWebClient(token=slack.workspace.bot_token, base_url=slack.api_url, session=http)
            yield Walk(
                world=world,
                pipeline=scratch.pipeline,
                audiences=Audiences(
                    channels=ChannelDirectory(client, clock=utc_now),
                    people=People(client, clock=utc_now),
                    memberships=Memberships(client, clock=utc_now),
                    outsiders=settings.slack.outsiders,
                ),
                direct={person.id: slack.dm(person.id) for person in world.people},
                api=_service(scratch.pipeline),
            )


def _service(pipeline: Pipeline) -> Service:
    async def well() -> bool:
        return True

    async def no_figures() -> str:
        return ""

    return Service(
        pipeline=pipeline,
        freshness=pipeline.quoted.freshness,
        keys=_NoKeys(),
        figures=_Uncounted(),
        concurrency=ConcurrencyLimit(1),
        is_well=well,
        is_ready=well,
        metrics=no_figures,
    )


class _NoKeys:
    async def admit(self, _: str, /) -> ApiKey:
        raise KeyRefusedError


class _Uncounted:
    """Drops questions of an evaluation, which are in nobody's figures."""

    async def record(self, question_id: str, answer: Answer, asked_in: AskedIn | None = None) -> None:
        """Forgets it."""

    async def count_language(self, language: str) -> None:
        """Forgets it."""


class _Overhearing(Librarian):
    """A librarian that notes what it was given: whatever a model would have read."""

    def __init__(self, inner: Librarian) -> None:
        self._inner = inner
        self.heard = ""

    async def quotes(self, query: str, passages: Sequence[Hit], **options: Any) -> list[Excerpt]:
        texts = [hit.chunk.embedded_text + hit.chunk.url for hit in passages]
        self.heard = "\n".join([self.heard, query, *texts, *options.get("already_quoted", ())])
        return await self._inner.quotes(query, passages, **options)

    def excerpt_of(self, chunk: Chunk, statement: str, **options: Any) -> Excerpt:
        self.heard += f"\n{chunk.embedded_text}"
        return self._inner.excerpt_of(chunk, statement, **options)


def _surfaces(answer: Answer, channel: str) -> Iterable[tuple[str, str]]:
    """Yields everything of an answer that somebody may come to see, as text."""
    rendered = render(answer, question_id="q", today=utc_now().date())
    yield "message", json.dumps([rendered.text, rendered.blocks], ensure_ascii=False)
    yield "answer as JSON", json.dumps([answer_as_json(answer), trace_as_json(answer)], ensure_ascii=False)
    yield "why", json.dumps(trace_payload(answer, channel=channel), ensure_ascii=False)
    yield (
        "in a terminal",
        "\n".join([answer_markdown(answer), *(warning.text for warning in answer.warnings)]),
    )


def _thread(combination: Combination) -> list[Turn]:
    """Makes the thread before a follow-up: an answer from the page, when its readers, or this room's, were others."""
    if combination.kind == "direct":
        return []
    page = combination.page
    page_id = f"{SOURCE}:{page.path}"
    code, passphrase, _ = page.secrets
    return [
        Turn(
            question=f"What is the passphrase of the {page.thing}?",
            answer=f"The passphrase of the {page.thing} is {passphrase}. Its budget is kept by **{code}**.",
            rewritten=f"What is the passphrase of the {page.thing} ({code})?",
            topics=(code, page.thing),
            retrieved=(
                Retrieved(
                    page_id=page_id, chunk_id=f"{page_id}#0", title=f"The {page.thing} ({code})", cited=True
                ),
            ),
        ),
        Turn(
            question=f"Is the {page.thing} expensive?",
            answer="",
            rewritten=f"Is {code} expensive?",
            topics=(code,),
        ),
    ]


def _workspace(world: World) -> Workspace:
    bot = Workspace().bot_user_id
    return Workspace(
        people=tuple(
            WorkspaceUser(
                id=person.id,
                name=person.name,
                real_name=person.name.capitalize(),
                is_guest=person.guest,
                team_id="T0ELSEWHERE" if person.stranger else None,
            )
            for person in world.people
        ),
        channels=tuple(
            WorkspaceChannel(
                id=room.id,
                name=room.name,
                is_private=room.private,
                is_shared=room.shared,
                members=(*sorted(room.members), bot),
            )
            for room in world.rooms
        ),
        user_groups=tuple(
            UserGroup(id=group.id, handle=group.handle, members=tuple(sorted(group.members)))
            for group in world.groups
        ),
    )
