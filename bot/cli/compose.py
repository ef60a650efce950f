"""The composition root: builds every part from the settings, and closes them in the reverse order.

data folder -> store (Valkey or Redis) -> index (Edge or server) -> models -> pipeline -> sync

The SDK of Claude is imported where it is configured: it takes two seconds of a start.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from redis.asyncio import Redis

from bot.analytics import Analytics
from bot.cli.reindexing import build_reindexer
from bot.cli.sources import SourceBook
from bot.cli.stores import earlier_embedder, embedder_of, open_index, open_store
from bot.cli.telemetry import telemetry
from bot.condition import Measured
from bot.gaps import Gaps
from ingest.crew.lane import PageLane
from ingest.jobs import ReindexJobs
from ingest.parsers.pool import ReaderPool
from ingest.parsers.reader import Reader
from kb.answering.quoted import QuotedAnswerer
from kb.answering.quoting import Librarian
from kb.answering.reading import ReadingLimits
from kb.conversation import RedisConversations
from kb.data_folder import DataFolder
from kb.embed import Embedder
from kb.errors import UnavailableError
from kb.freshness import Clock, FreshnessPolicy
from kb.index.port import VectorIndex
from kb.lexical import LexicalEncoder
from kb.live_embedder import LiveEmbedder
from kb.loop_watch import LoopWatch
from kb.pipeline import Pipeline
from kb.rerank import Reranker
from kb.rewrite import RedisReplies, ReplyCache, RewriteTally, choose_rewriter
from kb.search import Search
from kb.settings import ModelSettings, Settings, SlackSettings
from kb.similarity import EmbeddingSimilarity
from kb.source_settings import AnySourceSettings
from kb.text.language import warm_up
from kb.vocabulary import Vocabulary
from kb.weights import fitted_for

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
    sources: SourceBook
    reader: Reader
    lane: PageLane
    reindexer: ReindexJobs
    watch: LoopWatch
    measured: Measured

    def with_slack(self, slack: SlackSettings) -> Runtime:
        """The same runtime with other Slack settings: the playground's address is known only once it listens."""
        return replace(self, settings=self.settings.model_copy(update={"slack": slack}))

    async def load_models(self) -> None:
        """Loads embedder, reranker and language detector and counts the index's words.

        A missing reranker and an index that is down are noted, a missing embedder raises.
        """
        await asyncio.gather(
            self._load_embedders(),
            self.ranker.ready(),
            self._count_words(),
            asyncio.to_thread(warm_up),
        )

    async def warm(self) -> None:
        """Makes the first question of each language as fast as the next ones. What is down is noted.

        For a process that answers many: one question is answered sooner without (by half a second for a handbook in two
        languages), since it needs its own language only.
        """
        try:
            await self.pipeline.searcher.warm()
        except UnavailableError as error:
            logger.warning("search.not_warm", extra={"cause": str(error)})

    async def _load_embedders(self) -> None:
        await self.embedder.ready()
        try:
            await self.live.now()
        except UnavailableError as error:
            logger.warning("embedder.not_live", extra={"cause": str(error)})

    async def _count_words(self) -> None:
        """An index that is down is for the question to tell: it is answered as unavailable."""
        try:
            await self.vocabulary.follow(self.index)
        except UnavailableError as error:
            logger.warning("vocabulary.unavailable", extra={"cause": str(error)})


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
        vocabulary = Vocabulary(lexical)
        rewrites = RewriteTally()
        sources = SourceBook(folder, settings)
        reader = ReaderPool()
        stack.push_async_callback(reader.close)
        lane = PageLane(redis, namespace=settings.store.namespace)
        stack.push_async_callback(lane.close)
        reindexer = build_reindexer(
            settings,
            index=index,
            embedder=embedder,
            lexical=lexical,
            vocabulary=vocabulary,
            sources=sources,
            reader=reader,
            redis=redis,
            lane=lane,
            clock=utc_now,
            ranker=ranker,
        )
        stack.push_async_callback(reindexer.close)
        measured = Measured()
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
            conversations=RedisConversations(
                redis,
                namespace=settings.store.namespace,
                keep=timedelta(days=settings.store.keep_threads_days),
            ),
            analytics=analytics,
            gaps=Gaps(records=analytics, likeness=EmbeddingSimilarity(embedder.background), pages=index),
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
            lane=lane,
            reindexer=reindexer,
            watch=await stack.enter_async_context(LoopWatch()),
            measured=measured,
        )
        if models:
            await runtime.load_models()
        yield runtime


def open_language_model(settings: Settings, stack: AsyncExitStack) -> LanguageModel | None:
    """None where none is configured. Closed with the stack."""
    if settings.model.effective_provider == "none":
        return None
    from kb.llm.client import LanguageModel

    model = LanguageModel(settings.model)
    stack.push_async_callback(model.close)
    return model


def _replies(settings: Settings, redis: Redis) -> ReplyCache | None:
    keep = timedelta(seconds=settings.rewrite.keep_replies_s)
    return RedisReplies(redis, namespace=settings.store.namespace, keep=keep) if keep else None


def freshness_policy(
    settings: Settings, clock: Clock, *, sources: Sequence[AnySourceSettings] = ()
) -> FreshnessPolicy:
    """The policy of the settings; what a source says of itself goes before."""
    return FreshnessPolicy(
        clock=clock,
        max_age_days=settings.freshness.max_age_days,
        max_age_by_source={
            **settings.freshness.max_age_by_source,
            **{one.name: one.max_age_days for one in sources if one.max_age_days},
        },
        max_age_by_path=settings.freshness.max_age_by_path,
    )


def build_pipeline(
    settings: Settings,
    *,
    index: VectorIndex,
    embedder: Embedder,
    live: LiveEmbedder | None = None,
    ranker: Reranker,
    model: LanguageModel | None,
    lexical: LexicalEncoder,
    vocabulary: Vocabulary,
    freshness: FreshnessPolicy,
    clock: Clock,
    replies: ReplyCache | None = None,
    rewrites: RewriteTally | None = None,
) -> Pipeline:
    """The pipeline over parts that are open already. What evaluates builds it over an index of its own.

    `live`: where questions are embedded by what the index was made with; `embedder` did otherwise. `replies` keeps the model's rewrites, `rewrites` counts them.
    """
    choose = partial(choose_rewriter, settings, client=model, cache=replies, tally=rewrites)
    fitted = fitted_for(settings)
    if fitted.reranker_misfit:
        logger.info("confidence.reranker_unfitted", extra={"reason": fitted.reranker_misfit})
    similarity = EmbeddingSimilarity(embedder)
    searcher = Search(index, embedder, lexical, settings.search, live=live)
    quoted = QuotedAnswerer(
        librarian=Librarian(nearness=searcher, coverage=partial(lexical.coverage, rarity=vocabulary.rarity)),
        index=index,
        freshness=freshness,
        likeness=similarity,
    )
    pipeline = Pipeline(
        rewriter=choose(vocabulary=vocabulary.frequency),
        outside_rewriter=choose(),
        index=index,
        searcher=searcher,
        ranker=ranker,
        quoted=quoted,
        written=None,
        lexical=lexical,
        vocabulary=vocabulary,
        settings=settings,
        clock=clock,
        relevance=fitted.model,
    )
    return pipeline if model is None else with_model(pipeline, model, settings)


def with_model(pipeline: Pipeline, model: LanguageModel, settings: Settings) -> Pipeline:
    """The pipeline with answers in the model's words. The SDK is imported here: it takes two seconds."""
    from kb.answering.drafting import ModelDrafter
    from kb.answering.written import WrittenAnswerer
    from kb.citations.judge import Judge

    quoted = pipeline.quoted
    written = WrittenAnswerer(
        drafter=ModelDrafter(model, settings.model, max_sentences=settings.answer.max_sentences),
        judge=Judge(model) if settings.answer.judge == "auto" else None,
        quoted=quoted,
        search=pipeline.search_pages,
        limits=ReadingLimits(passages=settings.answer.read_passages, tokens=settings.answer.read_tokens),
    )
    return replace(pipeline, written=written)


def unjudged(settings: Settings, model: ModelSettings) -> Settings:
    """For evaluations in which a scripted model answers: it has nothing to say as a judge."""
    answer = settings.answer.model_copy(update={"judge": "off"})
    return settings.model_copy(update={"model": model, "answer": answer})
