"""Answers one question, top to bottom. Read this first: Slack, the command line, HTTP and evaluation all call it.

    find passages (`kb.retrieval.retriever`) -> score the evidence (`kb.retrieval.evidence`)
    -> ask back where the question is unclear (`kb.answering.clarify`)
    -> else a model writes (`kb.answering.written`) or the pages are quoted (`kb.answering.quoted`)

`Pipeline.answer` is that line. Every step takes frozen values and returns one; the `Answer` is built once, at the end.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kb.answer import Answer, Note, SmallTalk, Trace
from kb.answering.answerer import Answerer, Asked, AskedPart, Composed
from kb.answering.clarify import competing_pages, topics_of_thread
from kb.answering.progress import Progress, Unwatched
from kb.answering.quoted import QuotedAnswerer
from kb.conversation.history import Readable, readable_turns
from kb.errors import ModelRefusedError, ModelReplyError, ModelUnavailableError, UnavailableError
from kb.models import Audience, Chunk, Question, Retrieved, Rewrite, Turn
from kb.pages.freshness import Clock
from kb.retrieval.confidence import EvidenceFeatures
from kb.retrieval.evidence import EvidenceScorer, without_injections
from kb.retrieval.result import PartResult, RetrievalResult
from kb.retrieval.retriever import Retriever
from kb.runtime.stopwatch import Stopwatch
from kb.text.language import detect
from kb.text.phrases import small_talk

logger = logging.getLogger(__name__)

LANGUAGE_TURNS = 5
"""Latest turns by which the language of a thread is detected; each takes a fraction of a millisecond."""


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """`written` is None where no language model is configured. `keep`: the best passages that a turn remembers.

    `index` tells which pages may still be read where a question is asked.
    """

    retriever: Retriever
    evidence: EvidenceScorer
    quoted: QuotedAnswerer
    written: Answerer | None
    index: Readable
    keep: int
    clock: Clock

    async def answer(
        self, question: Question, turns: Sequence[Turn] = (), *, progress: Progress | None = None
    ) -> Answer:
        """Answers one question of a thread whose earlier turns are `turns`, oldest first; reports to `progress`.

        Never raises for what a question can cause: an outage is an answer with the outcome "unavailable".
        """
        watch = Stopwatch()
        progress = progress or Unwatched()
        language = detect(question.text, hint=thread_language(turns))
        if kind := small_talk(question.text, language):
            return self._without_pages(question, language, "chat", watch, small_talk=kind)
        try:
            await progress.stage("searching")
            turns = await readable_turns(turns, self.index, audience=question.audience)
            found = await self.retriever.find(question, turns, language, watch)
            rewrite, hits = found.rewrite, without_injections(found.hits)
            features = self.evidence.features(rewrite.query, hits, language, translated=rewrite.translated)
            asked = Asked(
                question=question,
                language=language,
                rewrite=rewrite,
                turns=turns,
                hits=hits,
                evidence=self.evidence.score(features),
                parts=tuple(self._asked_part(part, language) for part in found.parts),
            )
            interpretations = self._interpretations(asked, features)
            if rewrite.clarify or interpretations:
                composed = Composed(outcome="unclear", mode=self._mode)
            else:
                with watch.stage("answer"):
                    composed = await self._composed(asked, progress)
        except UnavailableError:
            logger.exception("question.unavailable", extra={"question_id": question.id})
            return self._without_pages(question, language, "unavailable", watch)
        return _answer(asked, found, composed, interpretations, watch)

    async def find(self, question: Question, turns: Sequence[Turn] = ()) -> RetrievalResult:
        """Finds the passages, without an answer.

        Raises:
            UnavailableError: the index or the embedder does not answer.
        """
        language = detect(question.text, hint=thread_language(turns))
        watch = Stopwatch()
        turns = await readable_turns(turns, self.index, audience=question.audience)
        found = await self.retriever.find(question, turns, language, watch)
        return replace(found, timings_ms=watch.timings_ms())

    def turn(self, answer: Answer, *, question_ts: str | None = None) -> Turn:
        """Returns what the thread remembers of an answer."""
        cited = {citation.chunk.id for citation in answer.citations}
        found = {hit.chunk.id: hit.chunk for hit in answer.trace.hits[: self.keep]}
        kept = found | {citation.chunk.id: citation.chunk for citation in answer.citations}
        return Turn(
            question=answer.question,
            answer=answer.text,
            rewritten=answer.rewritten,
            outcome=answer.outcome,
            topics=answer.interpretations or answer.trace.rewrite.topics,
            retrieved=tuple(_retrieved(chunk, cited=chunk.id in cited) for chunk in kept.values()),
            asked_at=self.clock(),
            question_ts=question_ts,
        )

    async def may_show(self, page_ids: Collection[str], audience: Audience) -> bool:
        """Tells whether all of these pages are in the index and may be read by this audience now.

        Raises:
            IndexUnavailableError: it cannot be told.
        """
        return await self.index.readable(page_ids, audience=audience) == set(page_ids)

    async def warm(self) -> None:
        """Prepares the search for first questions. Raises `UnavailableError`."""
        await self.retriever.warm()

    def _asked_part(self, part: PartResult, language: str) -> AskedPart:
        hits = without_injections(part.hits)
        features = self.evidence.features(part.question, hits, language)
        return AskedPart(question=part.question, hits=hits, evidence=self.evidence.score(features))

    def _interpretations(self, asked: Asked, features: EvidenceFeatures) -> tuple[str, ...]:
        """Returns what an unclear question may mean; () where it is clear or nothing can be offered."""
        if asked.rewrite.clarify:
            return topics_of_thread(asked.turns)
        if not asked.evidence.is_sufficient:
            return ()
        return competing_pages(asked.rewrite, asked.turns, features, asked.language)

    async def _composed(self, asked: Asked, progress: Progress) -> Composed:
        """Lets the model write where there is one; quotes where there is none or it fails."""
        if not asked.hits:
            return Composed(outcome="declined", mode=self._mode)
        if self.written is None:
            return await self.quoted.compose(asked, progress)
        try:
            return await self.written.compose(asked, progress)
        except (ModelUnavailableError, ModelReplyError) as error:
            note: Note = "model unavailable"
            cause: Exception = error
        except ModelRefusedError as error:
            note, cause = "model refused", error
        logger.warning(
            "answer.degraded", extra={"question_id": asked.question.id, "note": note, "cause": repr(cause)}
        )
        composed = await self.quoted.compose(asked, progress)
        return replace(composed, notes=(note, *composed.notes))

    @property
    def _mode(self) -> Literal["model", "extractive"]:
        return "extractive" if self.written is None else "model"

    def _without_pages(
        self,
        question: Question,
        language: str,
        outcome: Literal["chat", "unavailable"],
        watch: Stopwatch,
        *,
        small_talk: SmallTalk | None = None,
    ) -> Answer:
        """Returns an answer that needs no passage."""
        return Answer(
            question=question.text,
            outcome=outcome,
            mode=self._mode,
            language=question.reply_in or language,
            small_talk=small_talk,
            trace=Trace(rewrite=Rewrite(query=question.text), decision=outcome),
            timings_ms=watch.timings_ms(),
        )


def _answer(
    asked: Asked,
    found: RetrievalResult,
    composed: Composed,
    interpretations: tuple[str, ...],
    watch: Stopwatch,
) -> Answer:
    return Answer(
        question=asked.question.text,
        outcome=composed.outcome,
        mode=composed.mode,
        language=asked.reply_in,
        sentences=composed.sentences,
        citations=composed.citations,
        quotes=composed.quotes,
        left_open=composed.left_open,
        unfound=composed.unfound,
        warnings=composed.warnings,
        nearest=composed.nearest,
        notes=_notes(composed, found),
        interpretations=interpretations,
        confidence=asked.evidence.confidence,
        trace=Trace(
            rewrite=found.rewrite,
            hits=tuple(found.hits),
            context=tuple(found.context),
            context_share=found.context_share,
            anchors=tuple(found.anchors),
            anchor_reason=found.anchor_reason,
            reranking=found.reranking,
            decision=composed.outcome,
            removed_sentences=tuple(removed.text for removed in composed.removed),
            removed_reasons=tuple(removed.reason for removed in composed.removed),
            checked=composed.checked,
            searches=composed.searches,
            judge=composed.judge,
            read_pages=composed.read_pages,
        ),
        timings_ms=watch.timings_ms(),
    )


def _notes(composed: Composed, found: RetrievalResult) -> tuple[Note, ...]:
    notes: list[Note] = list(composed.notes)
    if found.reranker_missing and found.hits:
        notes.append("reranker unavailable")
    if composed.mode == "extractive" and composed.quotes:
        notes.insert(0, "extractive mode")
    return tuple(notes)


def _retrieved(chunk: Chunk, *, cited: bool) -> Retrieved:
    return Retrieved(page_id=chunk.page.id, chunk_id=chunk.id, title=chunk.page.title, cited=cited)


def thread_language(turns: Sequence[Turn]) -> str | None:
    """Returns the language of the latest question whose language can be detected; "VPN?" alone has none."""
    languages = (detect(turn.question, default="") for turn in reversed(turns[-LANGUAGE_TURNS:]))
    return next(filter(None, languages), None)
