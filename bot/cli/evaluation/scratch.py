"""A knowledge base for one evaluation: its pages are ingested as always, into an index that is deleted at the end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from pydantic import SecretStr

from bot.cli.composition.pipeline import (
    build_pipeline,
    freshness_policy,
    open_language_model,
    unjudged,
    with_model,
)
from bot.cli.composition.runtime import utc_now
from ingest.sources.folder import FolderSource
from ingest.sync.sync import Sync
from kb.config.model_settings import ModelSettings
from kb.config.settings import Settings
from kb.config.sources import FolderSettings
from kb.errors import RerankerUnavailableError, SettingsError
from kb.evaluation.obedient import ObedientModel
from kb.index.embedded.index import EdgeIndex
from kb.index.port import VectorIndex
from kb.inference.embedder import Embedder
from kb.pages.freshness import Clock
from kb.pipeline import Pipeline
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.rerank import Reranker
from kb.retrieval.vocabulary import Vocabulary
from kb.text.language import warm_up

if TYPE_CHECKING:
    from kb.llm.client import LanguageModel


@dataclass(frozen=True, kw_only=True, slots=True)
class Scratch:
    pipeline: Pipeline
    index: EdgeIndex
    stack: AsyncExitStack
    """Whatever else has to be closed with it."""


@asynccontextmanager
async def open_scratch(
    settings: Settings,
    sources: Sequence[FolderSettings],
    *,
    clock: Clock = utc_now,
    embedder: Embedder | None = None,
) -> AsyncIterator[Scratch]:
    """Ingests the sources and opens a pipeline over them; the data folder of the settings is not touched.

    `embedder`: one that is loaded already and stays open.

    Raises:
        SettingsError: a page of the sources cannot be read.
        UnavailableError: the embedder cannot be loaded.
    """
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="footnote-eval-"))
        if embedder is None:
            embedder = Embedder(settings.embed)
            stack.callback(embedder.close)
        lexical, index = LexicalEncoder(), EdgeIndex(Path(folder))
        stack.push_async_callback(index.close)
        await _ingest(sources, index, embedder, lexical)
        model = open_language_model(settings, stack)
        pipeline = await pipeline_over(index, embedder, lexical, settings, stack, model=model, clock=clock)
        yield Scratch(pipeline=pipeline, index=index, stack=stack)


async def pipeline_over(
    index: VectorIndex,
    embedder: Embedder,
    lexical: LexicalEncoder,
    settings: Settings,
    stack: AsyncExitStack,
    *,
    model: LanguageModel | None,
    clock: Clock = utc_now,
    needs_reranker: bool = False,
) -> Pipeline:
    """Builds a pipeline over an index of an evaluation. Its reranker is loaded, and closed with the stack.

    Raises:
        RerankerUnavailableError: it cannot be loaded, and is needed.
    """
    ranker = Reranker(settings.rerank)
    stack.callback(ranker.close)
    await ranker.ready()
    if needs_reranker and not ranker.available:
        raise RerankerUnavailableError(ranker.reason)
    warm_up()
    return build_pipeline(
        settings,
        index=index,
        embedder=embedder,
        ranker=ranker,
        model=model,
        lexical=lexical,
        vocabulary=Vocabulary(index),
        freshness=freshness_policy(settings, clock),
        clock=clock,
    )


def rewriting_model(settings: Settings, stack: AsyncExitStack, *, wanted: bool) -> LanguageModel | None:
    """Opens the model that rewrites, where it is wanted.

    Raises:
        SettingsError: none is configured.
    """
    if wanted and settings.model.effective_provider == "none":
        raise SettingsError(
            "--rewriter model needs a language model: set ANTHROPIC_API_KEY or OLLAMA_BASE_URL"
        )
    return open_language_model(settings, stack) if wanted else None


def obedient(
    scratch: Scratch, settings: Settings, model: ObedientModel, *, native_citations: bool = True
) -> Pipeline:
    """Makes the scratch pipeline answer with a model that obeys its pages. Its client is closed with the scratch."""
    from kb.llm.client import LanguageModel

    configured = ModelSettings(
        api_key=SecretStr("none"), base_url=model.url, native_citations=native_citations
    )
    client = LanguageModel(configured)
    scratch.stack.push_async_callback(client.close)
    return with_model(scratch.pipeline, client, unjudged(settings, configured))


async def _ingest(
    sources: Sequence[FolderSettings], index: EdgeIndex, embedder: Embedder, lexical: LexicalEncoder
) -> None:
    sync = Sync(
        index=index,
        embedder=embedder,
        lexical=lexical,
        sources=lambda: [FolderSource(source) for source in sources],
        clock=utc_now,
    )
    report = await sync.run()
    if report.failed:
        failed = ", ".join(f"{page.path}: {page.reason}" for page in report.failed)
        raise SettingsError(f"pages of the evaluation cannot be read: {failed}")
