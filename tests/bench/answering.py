"""First and steady answers of the real pipeline, each followed by the same model calls on the bare model.

Interleaved in one run, so that whatever else the machine does hits both. Two kinds of steady answer are
new questions to a warm process: about pages of which no sentence was read before, and about pages that
were asked about before (their sentences' vectors are remembered, so only the question is embedded).
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from bot.cli.composition.runtime import Runtime
from kb.answering.quoted import QuotedAnswerer
from kb.answering.quoting import Librarian
from kb.conflicts.similarity import EmbeddingSimilarity
from kb.models import Question
from kb.pipeline import Pipeline
from kb.retrieval.search import Search
from kb.text.language import detect
from tests.bench.calls import RecordingEmbedder
from tests.bench.figures import AnswerTiming
from tests.bench.questions import WORDINGS

SETTLED_S = 0.2
"""After a scale was made: numpy's threads spin for a tenth of a second,
and would take a core from the answer that is timed.
"""


@dataclass(frozen=True, kw_only=True)
class Answering:
    """What was measured."""

    first: AnswerTiming
    unread: list[AnswerTiming] = field(default_factory=list)
    read_before: list[AnswerTiming] = field(default_factory=list)


def recording(runtime: Runtime) -> tuple[Runtime, RecordingEmbedder]:
    """The same runtime around an embedder that notes its calls. Its models are still to be loaded."""
    embedder = RecordingEmbedder(runtime.settings.embed)
    search = _search(runtime.pipeline, embedder)
    pipeline = replace(
        runtime.pipeline,
        retriever=replace(runtime.pipeline.retriever, searcher=search),
        quoted=_quoted(runtime.pipeline, embedder, search),
    )
    return replace(runtime, embedder=embedder, pipeline=pipeline), embedder


async def measure(
    pipeline: Pipeline, embedder: RecordingEmbedder, questions: Sequence[str], *, rounds: int
) -> Answering:
    """`pipeline` has answered nothing yet."""
    answering = Answering(first=await _timed(pipeline, embedder, f"{questions[0]}!"))
    for question in questions:  # reads the pages that `read_before` asks about
        await _timed(pipeline, embedder, f"{question} .")
    for number in range(rounds):
        unread, read_before = WORDINGS[2 * number % 4], WORDINGS[(2 * number + 1) % 4]
        for question in questions:
            forgetful = await _forgetful(pipeline, embedder, question)
            answering.unread.append(await _timed(forgetful, embedder, unread.format(question)))
            answering.read_before.append(await _timed(pipeline, embedder, read_before.format(question)))
    return answering


async def _forgetful(pipeline: Pipeline, embedder: RecordingEmbedder, question: str) -> Pipeline:
    """One that has read no sentence yet, and knows its index and the question's language as a warm process does."""
    search = _search(pipeline, embedder)
    await search.nearness("?", [], language=detect(question))
    await asyncio.sleep(SETTLED_S)
    return replace(pipeline, quoted=_quoted(pipeline, embedder, search))


def _search(pipeline: Pipeline, embedder: RecordingEmbedder) -> Search:
    retriever = pipeline.retriever
    return Search(retriever.index, embedder, retriever.lexical, retriever.settings.search)


def _quoted(pipeline: Pipeline, embedder: RecordingEmbedder, search: Search) -> QuotedAnswerer:
    retriever = pipeline.retriever
    return replace(
        pipeline.quoted,
        librarian=Librarian(
            nearness=search,
            coverage=partial(retriever.lexical.coverage, rarity=retriever.vocabulary.rarity),
        ),
        similarity=EmbeddingSimilarity(embedder),
    )


async def _timed(pipeline: Pipeline, embedder: RecordingEmbedder, text: str) -> AnswerTiming:
    embedder.start()
    started = time.perf_counter()
    answer = await pipeline.answer(Question(id=uuid.uuid4().hex, text=text))
    total = (time.perf_counter() - started) * 1000
    recorded = embedder.recorded
    return AnswerTiming(
        total=total,
        model=recorded.model_ms,
        search=answer.timings_ms["search"],
        rerank=answer.timings_ms["rerank"],
        bare=await embedder.bare_ms(recorded.calls),
        texts=recorded.texts,
    )
