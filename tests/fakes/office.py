"""The whole edge at work: real Bolt over Socket Mode or HTTP, a real queue in Valkey, the playground as Slack.

Only the knowledge behind it is a stand-in, at the seam that `bot.questions.ports.PipelinePort` names.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from redis.asyncio import Redis

from bot.edge.backend import Backend
from bot.edge.slack_app import PATH, Edge, open_edge
from bot.listening.channel_settings import ChannelSettings, ChannelSettingsStore
from bot.listening.deferred_messages import DeferredMessages
from bot.listening.exactly_once import ExactlyOnce
from bot.listening.known_threads import KnownThreads
from bot.playground import SlackLimits, sample_workspace
from bot.playground.workspace import Workspace
from bot.questions.cited_answers import CitedAnswers
from bot.questions.ports import PipelinePort
from bot.queue.queue import QuestionQueue
from bot.reindexing.progress_notes import ProgressNotes
from bot.stats.analytics import Analytics
from bot.stats.gaps import Gaps
from bot.stats.status import BotStatus
from kb.answer import Answer
from kb.answering.progress import Progress
from kb.config.slack_settings import SlackSettings
from kb.conversation.conversations import RedisConversations
from kb.errors import StoreUnavailableError
from kb.index.port import PageAddress
from kb.jobs import ReindexProgress, ReindexRequest, SourceState
from kb.models import EVERYONE, Audience, Chunk, Page, PageDates, Question, Retrieved, Turn
from tests.fakes.answers import an_answer
from tests.fakes.playground import Playground
from tests.fakes.ports import free_port
from tests.fakes.waiting import until

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)


def clock() -> datetime:
    return NOW


def wall_clock() -> datetime:
    return datetime.now(UTC)


class Knowledge:
    """Answers in the pipeline's place: with `answers` by question, else with one sentence that repeats the question."""

    def __init__(self) -> None:
        self.asked: list[tuple[Question, list[Turn]]] = []
        self.answers: dict[str, Answer] = {}
        self.error: Exception | None = None
        self.hold: asyncio.Event | None = None
        self.write: Callable[[Progress], Awaitable[None]] | None = None
        """What is told on the way to the answer."""
        self.hidden: set[str] = set()

    async def answer(
        self, question: Question, turns: Sequence[Turn] = (), *, progress: Progress | None = None
    ) -> Answer:
        self.asked.append((question, list(turns)))
        if self.write is not None and progress is not None:
            await self.write(progress)
        if self.hold is not None:
            await self.hold.wait()
        if self.error is not None:
            raise self.error
        return self.answers.get(question.text) or an_answer(f"About: {question.text}", question=question.text)

    async def may_show(self, page_ids: Collection[str], audience: Audience) -> bool:
        return self.hidden.isdisjoint(page_ids)

    def turn(self, answer: Answer, *, question_ts: str | None = None) -> Turn:
        return Turn(
            question=answer.question,
            answer=answer.text,
            rewritten=answer.rewritten,
            outcome=answer.outcome,
            retrieved=tuple(
                Retrieved(
                    page_id=citation.chunk.page.id,
                    chunk_id=citation.chunk.id,
                    title=citation.chunk.page.title,
                    cited=True,
                )
                for citation in answer.citations
            ),
            asked_at=NOW,
            question_ts=question_ts,
        )


class Reindexing:
    """Gives out the steps that a test feeds it."""

    def __init__(self) -> None:
        self.requests: list[ReindexRequest] = []
        self.steps: asyncio.Queue[ReindexProgress] = asyncio.Queue()
        self.forgotten: list[str] = []
        self.pages = [PageAddress(page_id="shop:tea.md", url="https://kb.example/tea", title="Tea")]

    async def forget(self, address: str) -> list[PageAddress]:
        self.forgotten.append(address)
        return [page for page in self.pages if page.url == address]

    def sources(self) -> list[str]:
        return ["handbook", "shop"]

    async def reindex(self, request: ReindexRequest) -> AsyncIterator[ReindexProgress]:
        self.requests.append(request)
        while True:
            step = await self.steps.get()
            yield step
            if step.phase in {"done", "failed"}:
                return


class Pages:
    """The index, as far as names of pages are read from it."""

    def __init__(self) -> None:
        self.indexed: dict[str, tuple[PageAddress, tuple[str, ...]]] = {}
        self.dates: dict[str, PageDates] = {}
        self.error: Exception | None = None
        self.said: dict[str, list[Chunk]] = {}
        """Page id -> its passages."""

    def add(self, page_id: str, title: str, *marks: str) -> None:
        """`marks`: who may read it; everyone where there is none."""
        url = f"https://kb.example/{page_id}"
        self.indexed[page_id] = (PageAddress(page_id=page_id, url=url, title=title), marks or (EVERYONE,))

    async def addresses(self) -> list[PageAddress]:
        if self.error is not None:
            raise self.error
        return [address for address, _ in self.indexed.values()]

    async def readable(self, page_ids: Collection[str], *, audience: Audience) -> frozenset[str]:
        return frozenset(
            page_id
            for page_id in page_ids
            if page_id in self.indexed and audience.may_read(self.indexed[page_id][1])
        )

    async def every_page(self) -> list[Page]:
        if self.error is not None:
            raise self.error
        return [
            Page(
                id=address.page_id,
                source=address.page_id.partition(":")[0],
                path=address.page_id.partition(":")[2],
                title=address.title,
                url=address.url,
                audience=marks,
                dates=self.dates.get(address.page_id, PageDates()),
            )
            for address, marks in self.indexed.values()
        ]

    async def passages(
        self, *, audience: Audience, of_pages: Sequence[str] | None = None
    ) -> AsyncIterator[Sequence[Chunk]]:
        for page in await self.every_page():
            if audience.may_read(page.audience) and (of_pages is None or page.id in of_pages):
                yield self.said.get(page.id, [])


class WordSimilarity:
    """Questions are alike by the words that they share: the share of all their words."""

    async def among(self, texts: Sequence[str]) -> NDArray[np.float32]:
        words = [set(re.findall(r"\w+", text.lower())) for text in texts]
        return np.array(
            [[len(a & b) / max(1, len(a | b)) for b in words] for a in words], dtype=np.float32
        ).reshape(len(texts), len(texts))


class Status:
    sources: tuple[SourceState, ...] = ()

    async def status(self) -> BotStatus:
        return BotStatus(
            pages=30,
            passages=412,
            waiting=0,
            model=None,
            reranker=False,
            last_event=NOW - timedelta(seconds=5),
            sources=self.sources,
        )


class FlakyQueue:
    """The real queue, with a Redis that is away for the next `outages` acceptances."""

    def __init__(self, queue: QuestionQueue) -> None:
        self.queue = queue
        self.outages = 0

    async def accept(self, question: Any) -> bool:
        if self.outages > 0:
            self.outages -= 1
            raise StoreUnavailableError("away")
        return await self.queue.accept(question)

    async def delete(self, deletion: Any, *, certain: bool = False) -> bool:
        return await self.queue.delete(deletion, certain=certain)

    async def is_known(self, message_id: str) -> bool:
        return await self.queue.is_known(message_id)

    async def is_deleted(self, message_id: str) -> bool:
        return await self.queue.is_deleted(message_id)


@dataclass(kw_only=True)
class Office:
    """Everything that a test looks at or pulls at."""

    slack: Playground
    settings: SlackSettings
    queue: FlakyQueue
    conversations: RedisConversations
    analytics: Analytics
    redis: Redis
    notes: ProgressNotes
    channel_settings: ChannelSettingsStore
    cited: CitedAnswers
    edge: Edge = field(init=False)
    knowledge: Knowledge = field(default_factory=Knowledge)
    pipeline: PipelinePort | None = None
    """A real one in the place of `knowledge`."""
    reindexing: Reindexing = field(default_factory=Reindexing)
    pages: Pages = field(default_factory=Pages)
    status: Status = field(default_factory=Status)
    now: Callable[[], datetime] = field(default=clock)
    contacts: dict[str, str] = field(default_factory=dict)
    """Source -> whom to ask about its pages."""
    namespace: str = ""
    synced: int = 0
    """How many syncs have ended."""
    working: asyncio.Task[None] | None = None

    async def syncs(self) -> int:
        return self.synced

    @property
    def gaps(self) -> Gaps:
        return Gaps(records=self.analytics, similarity=WordSimilarity(), pages=self.pages)

    async def ask(self, user: str, channel: str, text: str, thread_ts: str | None = None) -> str:
        return await self.slack.say(user, channel, text, thread_ts)

    def replies(self, channel: str, ts: str) -> list[dict[str, Any]]:
        """Returns the bot's messages in a thread, copied."""
        return deepcopy(self._replies(channel, ts))

    def _replies(self, channel: str, ts: str) -> list[dict[str, Any]]:
        thread = self.slack._room(channel).thread(ts)
        return [message for message in thread if message.get("bot_id")]

    async def answers(self, channel: str, ts: str, count: int = 1) -> list[dict[str, Any]]:
        """Waits until a thread has `count` replies and nothing is left to do, and returns them all."""
        await self.slack.wait_for(lambda: len(self._replies(channel, ts)) >= count)
        await self.idle()
        return self.replies(channel, ts)

    async def idle(self) -> None:
        """Waits until no question is waiting or running."""
        await until(self._has_no_question, pause=0.01)

    async def heard(self) -> None:
        """Waits until the bot has taken every event and ended what it began with it, or Slack has given up."""
        await until(lambda: not self._hears, pause=0.01)

    async def settled(self) -> None:
        """Waits until every event was heard and worked on: for tests in which nothing may happen."""
        await until(self._is_still, pause=0.01)

    @property
    def _hears(self) -> bool:
        return bool(
            self.slack._delivery._under_way or self.edge.app._handling or self.edge.wiring.background._tasks
        )

    async def _has_no_question(self) -> bool:
        depth = await self.queue.queue.depth()
        return depth.waiting + depth.running == 0

    async def _is_still(self) -> bool:
        """What is heard becomes a question, and what is answered may be heard again: both are looked at twice."""
        for _ in range(2):
            if self._hears or not await self._has_no_question():
                return False
        return not self._hears

    async def accepted(self, count: int) -> None:
        """Waits until so many messages were accepted, whatever may keep them from being answered."""
        claims = f"{{{self.namespace}}}:queue:claim:*"

        async def all_there() -> bool:
            return len([key async for key in self.redis.scan_iter(match=claims)]) >= count

        await until(all_there, pause=0.05)

    def calls(self, method: str) -> list[Any]:
        return [call for call in self.slack.calls if call.method == method]

    def start_working(self) -> None:
        self.working = asyncio.create_task(
            self.queue.queue.run(
                self.edge.handler, workers=2, on_giving_up=self.edge.handler.on_giving_up, drain_s=1.0
            )
        )

    async def stop_working(self) -> None:
        if self.working is not None:
            self.working.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.working
        self.working = None


def shown(office: Office, channel: str = "#general") -> list[str]:
    """The bot's messages there, oldest first."""
    return [message["text"] for message in office.slack.messages(channel) if message.get("bot_id")]


@asynccontextmanager
async def open_office(
    redis: Redis,
    limits: SlackLimits,
    how: Literal["socket", "http"] = "socket",
    *,
    working: bool = True,
    admins: tuple[str, ...] = ("U0CHIDI",),
    workspace: Workspace | None = None,
    pipeline: PipelinePort | None = None,
    stream: Literal["auto", "off"] = "auto",
    settle_s: float = 0.05,
    retry_s: float = 0.05,
    longest_wait_s: float = 300.0,
) -> AsyncIterator[Office]:
    port = free_port()
    url = f"http://127.0.0.1:{port}{PATH}" if how == "http" else None
    namespace = f"test-{uuid.uuid4().hex[:8]}"
    queue = FlakyQueue(
        QuestionQueue(
            redis,
            namespace=namespace,
            lease_s=5.0,
            retry_s=retry_s,
            settle_s=settle_s,
            longest_wait_s=longest_wait_s,
        )
    )
    workspace = workspace or sample_workspace()
    async with Playground(workspace, events_url=url, limits=limits) as slack:
        office = Office(
            slack=slack,
            settings=SlackSettings.model_validate(
                {
                    "bot_token": workspace.bot_token,
                    "app_token": workspace.app_token if how == "socket" else None,
                    "signing_secret": workspace.signing_secret if how == "http" else None,
                    "api_url": slack.api_url,
                    "port": port,
                    "admins": admins,
                    "stream": stream,
                }
            ),
            queue=queue,
            conversations=RedisConversations(redis, namespace=namespace, keep=timedelta(days=1)),
            analytics=Analytics(redis, namespace, clock=clock),
            redis=redis,
            notes=ProgressNotes(redis, namespace=namespace, lease=timedelta(seconds=0.6), beat_s=0.1),
            channel_settings=ChannelSettingsStore(redis, namespace=namespace, defaults=ChannelSettings()),
            cited=CitedAnswers(redis, namespace=namespace),
            pipeline=pipeline,
            namespace=namespace,
        )
        async with a_bot(office):
            if working:
                office.start_working()
            try:
                yield office
            finally:
                await office.stop_working()


def backend_of(office: Office) -> Backend:
    return Backend(
        queue=office.queue,
        conversations=office.conversations,
        pipeline=office.pipeline or office.knowledge,
        reindexer=office.reindexing,
        pages=office.pages,
        notes=office.notes,
        analytics=office.analytics,
        status=office.status,
        channel_settings=office.channel_settings,
        known_threads=KnownThreads(redis=office.redis, namespace=office.namespace, clock=wall_clock),
        deferred=DeferredMessages(office.redis, namespace=office.namespace, clock=wall_clock),
        gaps=office.gaps,
        exactly_once=ExactlyOnce(office.redis, namespace=office.namespace),
        cited=office.cited,
        syncs=office.syncs,
        contacts=lambda: office.contacts,
    )


@asynccontextmanager
async def a_bot(office: Office) -> AsyncIterator[Edge]:
    """The bot of the office, connected; after another, its next life."""
    async with open_edge(
        settings=office.settings,
        backend=backend_of(office),
        clock=clock,
    ) as office.edge:
        await office.edge.connect()
        yield office.edge
