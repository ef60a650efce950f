"""How a pipeline is put together over parts that are open already: by
the bot, and by what evaluates it on an index of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from kb.answering.quoted import QuotedAnswerer
from kb.answering.quoting import Librarian
from kb.answering.reading import ReadingLimits
from kb.config.model_settings import ModelSettings
from kb.config.settings import Settings
from kb.config.sources import AnySourceSettings
from kb.conflicts.similarity import EmbeddingSimilarity
from kb.index.port import VectorIndex
from kb.inference.embedder import Embedder
from kb.pages.freshness import Clock, FreshnessPolicy
from kb.pipeline import Pipeline
from kb.retrieval.evidence import EvidenceScorer
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.live_embedder import LiveEmbedder
from kb.retrieval.rerank import Reranker
from kb.retrieval.retriever import Retriever
from kb.retrieval.search import PASSAGES, Search
from kb.retrieval.vocabulary import Vocabulary
from kb.retrieval.weights import fitted_for
from kb.rewriting.cache import ReplyCache
from kb.rewriting.rewriter import choose_rewriter
from kb.rewriting.tally import RewriteTally

if TYPE_CHECKING:
    from kb.llm.client import LanguageModel

logger = logging.getLogger(__name__)


def open_language_model(settings: Settings, stack: AsyncExitStack) -> LanguageModel | None:
    """Opens the language model and has `stack` close it; None where none is configured."""
    if settings.model.effective_provider == "none":
        return None
    from kb.llm.client import LanguageModel

    model = LanguageModel(settings.model)
    stack.push_async_callback(model.close)
    return model


def freshness_policy(
    settings: Settings, clock: Clock, *, sources: Sequence[AnySourceSettings] = ()
) -> FreshnessPolicy:
    """Builds the policy of the settings; a source's own maximum age overrides the general one."""
    return FreshnessPolicy(
        clock=clock,
        max_age_days=settings.freshness.max_age_days,
        max_age_by_source={
            **settings.freshness.max_age_by_source,
            **{source.name: source.max_age_days for source in sources if source.max_age_days},
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
    """Builds the pipeline over parts that are already open; evaluations build it over an index of their own.

    With `live`, questions are embedded by the model that the index was made with, otherwise by `embedder`. `replies`
    caches the model's rewrites, `rewrites` counts them.
    """
    choose = partial(choose_rewriter, settings, client=model, cache=replies, tally=rewrites)
    fitted = fitted_for(settings)
    if fitted.reranker_misfit:
        logger.info("confidence.reranker_unfitted", extra={"reason": fitted.reranker_misfit})
    similarity = EmbeddingSimilarity(embedder)
    searcher = Search(
        index,
        embedder,
        lexical,
        settings.search,
        live=live,
        passages=max(PASSAGES, settings.rerank.candidates or 0),
    )
    quoted = QuotedAnswerer(
        librarian=Librarian(nearness=searcher, coverage=partial(lexical.coverage, rarity=vocabulary.rarity)),
        index=index,
        freshness=freshness,
        similarity=similarity,
    )
    pipeline = Pipeline(
        retriever=Retriever(
            rewriter=choose(vocabulary=vocabulary.frequency),
            outside_rewriter=choose(),
            index=index,
            searcher=searcher,
            ranker=ranker,
            lexical=lexical,
            vocabulary=vocabulary,
            settings=settings,
            asks_a_model=False,
        ),
        evidence=EvidenceScorer(
            lexical=lexical,
            vocabulary=vocabulary,
            keep=settings.search.keep,
            relevance=fitted.model,
            threshold=settings.answer.min_confidence,
        ),
        quoted=quoted,
        written=None,
        index=index,
        keep=settings.search.keep,
        clock=clock,
    )
    return pipeline if model is None else with_model(pipeline, model, settings)


def with_model(pipeline: Pipeline, model: LanguageModel, settings: Settings) -> Pipeline:
    """Returns the pipeline with answers written by the model. Imports the SDK here, which takes two seconds."""
    from kb.answering.drafting import ModelDrafter
    from kb.answering.written import WrittenAnswerer
    from kb.citations.judge import Judge

    retriever = replace(pipeline.retriever, asks_a_model=True)
    written = WrittenAnswerer(
        drafter=ModelDrafter(model, settings.model, max_sentences=settings.answer.max_sentences),
        judge=Judge(model) if settings.answer.judge == "auto" else None,
        quoted=pipeline.quoted,
        search=retriever.search_pages,
        limits=ReadingLimits(passages=settings.answer.read_passages, tokens=settings.answer.read_tokens),
    )
    return replace(pipeline, retriever=retriever, written=written)


def unjudged(settings: Settings, model: ModelSettings) -> Settings:
    """Returns settings for evaluations by a scripted `model`, which cannot act as the judge."""
    answer = settings.answer.model_copy(update={"judge": "off"})
    return settings.model_copy(update={"model": model, "answer": answer})
