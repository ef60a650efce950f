"""The composition root: builds every part from the settings, and closes them in the reverse order.

data folder -> store (Valkey or Redis) -> index (Edge or server) -> models -> pipeline -> sync

The SDK of Claude is imported where it is configured: it takes two seconds of a start.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from redis.asyncio import Redis

from bot.cli.composition.pipeline import build_pipeline, freshness_policy, open_language_model
from bot.cli.composition.reindexing import build_reindexer
from bot.cli.composition.sources import SourceRegistry
from bot.cli.composition.storage import earlier_embedder, embedder_of, open_index, open_store
from bot.cli.composition.telemetry import telemetry
from bot.queue.dead_letters import DeadLetters
from bot.queue.queue import QuestionQueue
from bot.stats.analytics import Analytics
from bot.stats.gaps import Gaps
from bot.stats.process_state import ProcessMetrics
from ingest.distributed.page_queue import PageJobQueue
from ingest.parsers.pool import ReaderPool
from ingest.parsers.reader import Reader
from ingest.sync.jobs import ReindexJobs
from kb.config.settings import Settings
from kb.config.slack_settings import SlackSettings
from kb.conflicts.similarity import EmbeddingSimilarity
from kb.conversation.conversations import RedisConversations
from kb.errors import UnavailableError
from kb.index.port import VectorIndex
from kb.inference.embedder import Embedder
from kb.pages.freshness import Clock
from kb.pipeline import Pipeline
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.live_embedder import LiveEmbedder
from kb.retrieval.rerank import Reranker
from kb.retrieval.vocabulary import Vocabulary
from kb.rewriting.cache import ReplyCache
from kb.rewriting.tally import RewriteTally
from kb.runtime.loop_watch import LoopWatch
from kb.store.data_folder import DataFolder
from kb.text.language import warm_up

if TYPE_CHECKING:
    from kb.llm.client import LanguageModel

logger = logging.getLogger(__name__)


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """Everything a running Footnote is made of."""

    settings: Settings
    folder: DataFolder
    redis: Redis
    queue: QuestionQueue
    dead_letters: DeadLetters
    conversations: RedisConversations
    analytics: Analytics
    gaps: Gaps
    index: VectorIndex
    embedder: Embedder
    live: LiveEmbedder
    ranker: Reranker
    model: LanguageModel | None
    vocabulary: Vocabulary
    pipeline: Pipeline
    rewrites: RewriteTally
    sources: SourceRegistry
    reader: Reader
    page_jobs: PageJobQueue
    reindexer: ReindexJobs
    watch: LoopWatch
    measured: ProcessMetrics

    @property
    def namespace(self) -> str:
        """Begins the names of all keys in the store."""
        return self.settings.store.namespace

    def with_slack(self, slack: SlackSettings) -> Runtime:
        """Returns a copy with other Slack settings: the playground's address is known only once it listens."""
        return replace(self, settings=self.settings.model_copy(update={"slack": slack}))

    async def load_models(self) -> None:
        """Loads embedder, reranker and language detector, and begins to follow the index's words.

        A missing reranker and an index that is down are noted, a missing embedder raises.
        """
        await asyncio.gather(
            self._load_embedders(),
            self.ranker.ready(),
            self.vocabulary.start(),
            asyncio.to_thread(warm_up),
        )

    async def warm(self) -> None:
        """Makes the first question of each language as fast as the next ones. What is down is noted.

        For a process that answers many: one question is answered sooner without (by half a second for a handbook in two
        languages), since it needs its own language only.
        """
        try:
            await self.pipeline.warm()
        except UnavailableError as error:
            logger.warning("search.not_warm", extra={"cause": str(error)})

    async def _load_embedders(self) -> None:
        await self.embedder.ready()
        try:
            await self.live.now()
        except UnavailableError as error:
            logger.warning("embedder.not_live", extra={"cause": str(error)})


@asynccontextmanager
async def open_runtime(
    settings: Settings,
    command: str,
    *,
    models: bool,
    clock: Clock = utc_now,
    model: LanguageModel | None = None,
) -> AsyncIterator[Runtime]:
    """Owns the data folder and everything in it while the block runs. `clock` tells how old pages are.

    `model` takes the place of the settings' one, and is closed along with the rest.

    Raises:
        DataFolderInUseError: another process owns the data folder.
        UnavailableError: a configured server does not answer, or the embedder cannot be loaded.
    """
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(telemetry(settings.telemetry))
        folder = DataFolder(settings.data).own(command)
        stack.callback(folder.release)
        redis = await open_store(settings, folder, stack)
        index = open_index(settings, folder, stack)
        embedder = Embedder(settings.embed, like=await embedder_of(index))
        stack.callback(embedder.close)
        live = LiveEmbedder(index, embedder, partial(earlier_embedder, settings.embed))
        stack.callback(live.close)
        ranker = Reranker(settings.rerank, index)
        stack.callback(ranker.close)
        if model is None:
            model = open_language_model(settings, stack)
        else:
            stack.push_async_callback(model.close)
        lexical = LexicalEncoder()
        vocabulary = Vocabulary(index)
        stack.push_async_callback(vocabulary.close)
        rewrites = RewriteTally()
        sources = SourceRegistry(folder, settings)
        reader = ReaderPool()
        stack.push_async_callback(reader.close)
        page_jobs = PageJobQueue(redis, namespace=settings.store.namespace)
        stack.push_async_callback(page_jobs.close)
        reindexer = build_reindexer(
            settings,
            index=index,
            embedder=embedder,
            lexical=lexical,
            vocabulary=vocabulary,
            sources=sources,
            reader=reader,
            redis=redis,
            page_jobs=page_jobs,
            clock=utc_now,
            ranker=ranker,
        )
        stack.push_async_callback(reindexer.close)
        measured = ProcessMetrics()
        analytics = Analytics(
            redis,
            settings.store.namespace,
            usage=lambda: model.usage if model is not None else {},
            answered=measured.answered,
        )
        runtime = Runtime(
            settings=settings,
            folder=folder,
            redis=redis,
            queue=QuestionQueue(redis, namespace=settings.store.namespace),
            dead_letters=DeadLetters(redis, namespace=settings.store.namespace),
            conversations=RedisConversations(
                redis,
                namespace=settings.store.namespace,
                keep=timedelta(days=settings.store.keep_threads_days),
            ),
            analytics=analytics,
            gaps=Gaps(records=analytics, similarity=EmbeddingSimilarity(embedder.background), pages=index),
            index=index,
            embedder=embedder,
            live=live,
            ranker=ranker,
            model=model,
            vocabulary=vocabulary,
            pipeline=build_pipeline(
                settings,
                index=index,
                embedder=embedder,
                live=live,
                ranker=ranker,
                model=model,
                lexical=lexical,
                vocabulary=vocabulary,
                freshness=freshness_policy(settings, clock, sources=sources.all()),
                clock=clock,
                replies=_replies(settings, redis),
                rewrites=rewrites,
            ),
            rewrites=rewrites,
            sources=sources,
            reader=reader,
            page_jobs=page_jobs,
            reindexer=reindexer,
            watch=await stack.enter_async_context(LoopWatch()),
            measured=measured,
        )
        if models:
            await runtime.load_models()
        yield runtime


def _replies(settings: Settings, redis: Redis) -> ReplyCache | None:
    keep = timedelta(seconds=settings.rewrite.keep_replies_s)
    return ReplyCache(redis, namespace=settings.store.namespace, keep=keep) if keep else None
