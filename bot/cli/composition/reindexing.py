"""Builds the sync: it keeps the index equal to its sources."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from redis.asyncio import Redis

from bot.cli.composition.connectors import open_source
from bot.cli.composition.sources import SourceRegistry
from ingest.distributed.page_queue import PageJobQueue
from ingest.parsers.reader import Reader
from ingest.sources.unopened import opened
from ingest.sync.history import RecordedSync, RedisSyncHistory
from ingest.sync.jobs import ReindexJobs
from ingest.sync.lock import RedisReindexLock
from ingest.sync.schedule import Schedule
from kb.config.settings import Settings
from kb.errors import UnavailableError
from kb.index.port import Candidate, VectorIndex
from kb.inference.embedder import Embedder
from kb.jobs import Reindexer
from kb.models import Hit
from kb.pages.freshness import Clock
from kb.retrieval.fusion import fuse
from kb.retrieval.golden import GoldenQuestions
from kb.retrieval.heading_search import HeadingSearch
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.measuring import Calibrator
from kb.retrieval.queries import WeightedQuery
from kb.retrieval.rerank import Reranker
from kb.retrieval.vocabulary import Vocabulary
from kb.store.forgotten import RedisForgotten

logger = logging.getLogger(__name__)


def build_reindexer(
    settings: Settings,
    *,
    index: VectorIndex,
    embedder: Embedder,
    lexical: LexicalEncoder,
    vocabulary: Vocabulary,
    sources: SourceRegistry,
    reader: Reader,
    redis: Redis,
    page_jobs: PageJobQueue,
    clock: Clock,
    ranker: Reranker | None = None,
) -> ReindexJobs:
    sync = RecordedSync(
        history=RedisSyncHistory(redis, namespace=settings.store.namespace),
        index=index,
        embedder=embedder.background,
        lexical=lexical,
        sources=lambda: [
            opened(source, partial(open_source, source, sources.kept)) for source in sources.all()
        ],
        clock=clock,
        reader=reader,
        golden=_golden(settings, embedder, lexical),
        forgotten=RedisForgotten(redis, namespace=settings.store.namespace),
        page_jobs=page_jobs,
        calibrator=_calibrator(settings, embedder=embedder, lexical=lexical, ranker=ranker, clock=clock),
    )
    return ReindexJobs(
        sync,
        clock=clock,
        after=partial(_settle, index, vocabulary),
        lock=RedisReindexLock(redis, namespace=settings.store.namespace),
    )


async def _settle(index: VectorIndex, vocabulary: Vocabulary) -> None:
    """Settles the index however the work ended: also the word counts on disk then lose what was deleted."""
    try:
        await index.settle()
    except UnavailableError as error:
        logger.warning("index.not_settled", extra={"cause": str(error)})
    await vocabulary.look()


def _calibrator(
    settings: Settings,
    *,
    embedder: Embedder,
    lexical: LexicalEncoder,
    ranker: Reranker | None,
    clock: Clock,
) -> Calibrator:
    def fused(candidates: Sequence[Candidate], query: str) -> Sequence[Hit]:
        return fuse(candidates, [WeightedQuery(text=query, weight=1.0)], settings.search)

    return Calibrator(
        search=HeadingSearch(embedder=embedder.background, lexical=lexical, fuse=fused),
        reranker=ranker,
        clock=clock,
    )


def build_schedule(
    settings: Settings, *, redis: Redis, reindexer: Reindexer, sources: SourceRegistry
) -> Schedule:
    def intervals() -> dict[str, timedelta]:
        return {known.name: known.sync_every for known in sources.all() if known.sync_every is not None}

    return Schedule(redis, reindexer, namespace=settings.store.namespace, intervals=intervals)


def _golden(settings: Settings, embedder: Embedder, lexical: LexicalEncoder) -> GoldenQuestions | None:
    file = settings.reindex.golden
    if file is None:
        return None
    return GoldenQuestions(file, embedder=embedder, lexical=lexical, settings=settings.search)
