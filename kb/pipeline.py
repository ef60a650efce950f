"""One question, top to bottom. Read this first: Slack, the command line, HTTP and evaluation all come through here.

    find (`kb.retrieval.retriever`: rewrite -> search -> rerank -> supersession) -> ask back, where it is unclear
    -> a model writes (`kb.answering.written`), else the pages are quoted (`kb.answering.quoted`)

`Pipeline.answer` is that line; the methods below it come in its order.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from kb.answer import Answer, Note, SmallTalk, Trace
from kb.answering.asked import Asked, AskedPart
from kb.answering.clarify import competing_pages, topics_of_thread
from kb.answering.composed import Answerer, Composed
from kb.answering.progress import Progress, Unwatched
from kb.answering.quoted import QuotedAnswerer
from kb.config.settings import Settings
from kb.conversation.history import readable_turns
from kb.errors import ModelRefusedError, ModelReplyError, ModelUnavailableError, UnavailableError
from kb.models import Audience, Chunk, Hit, Question, Retrieved, Rewrite, Turn
from kb.pages.freshness import Clock
from kb.retrieval.confidence import Evidence, EvidenceFeatures, RelevanceModel, score_evidence
from kb.retrieval.evidence import EvidenceReader, without_ordering
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.retriever import Pages, Ranker, Retrieval, RetrievalResult, Searcher
from kb.retrieval.vocabulary import Vocabulary
from kb.retrieval.weights import default_model
from kb.rewriting.rewriter import Rewriter
from kb.runtime.stopwatch import Stopwatch
from kb.text.language import detect
from kb.text.phrases import small_talk

logger = logging.getLogger(__name__)

TOLD_BY = 5
"""Turns that are asked for the language of their thread; each takes a fraction of a millisecond."""


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """Everything a question needs. `written` is None where no language model is configured.

    `rewriter` corrects typos toward words found on public pages; `outside_rewriter` knows no page, and serves those who
    are not everyone.
    """

    rewriter: Rewriter
    outside_rewriter: Rewriter
    index: Pages
    searcher: Searcher
    ranker: Ranker
    quoted: QuotedAnswerer
    written: Answerer | None
    lexical: LexicalEncoder
    vocabulary: Vocabulary
    settings: Settings
    clock: Clock
    relevance: RelevanceModel = field(default_factory=default_model)

    async def answer(
        self, question: Question, turns: Sequence[Turn] = (), *, progress: Progress | None = None
    ) -> Answer:
        """Answers one question of a thread whose earlier turns are `turns`,
        oldest first; `progress` is told on the way.

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
            found = await self._retrieval(question.audience).find(question, turns, language, watch)
            features = self.evidence_features(
                found.rewrite.query, found.hits, language, translated=found.rewrite.translated
            )
            asked = self._asked(question, language, found, turns, self._evidence(features))
            interpretations = self._interpretations(asked, features)
            if found.rewrite.clarify or interpretations:
                composed = Composed(outcome="unclear", mode=self._mode)
            else:
                with watch.stage("answer"):
                    composed = await self._composed(asked, progress)
        except UnavailableError:
            logger.exception("question.unavailable", extra={"question_id": question.id})
            return self._without_pages(question, language, "unavailable", watch)
        return self._answer(asked, found, composed, watch, interpretations)

    async def find(self, question: Question, turns: Sequence[Turn] = ()) -> RetrievalResult:
        """The passages alone, without an answer.

        Raises:
            UnavailableError: the index or the embedder does not answer.
        """
        language = detect(question.text, hint=thread_language(turns))
        watch = Stopwatch()
        turns = await readable_turns(turns, self.index, audience=question.audience)
        found = await self._retrieval(question.audience).find(question, turns, language, watch)
        return replace(found, timings_ms=watch.timings_ms())

    async def search_pages(self, query: str, audience: Audience, language: str) -> Sequence[Hit]:
        """What a model searches for by itself: one wording, best first, newer pages in the place of replaced ones.

        `language` is the question's; a model that has read the pages may well search in theirs.

        Raises:
            UnavailableError: the index or the embedder does not answer.
        """
        question = Question(id="", text=query, audience=audience)
        found = await self._retrieval(audience).search_once(question, detect(query, hint=language))
        return found.hits

    def turn(self, answer: Answer, *, question_ts: str | None = None) -> Turn:
        """What the thread remembers of an answer."""
        cited = {citation.chunk.id for citation in answer.citations}
        found = {hit.chunk.id: hit.chunk for hit in answer.trace.hits[: self.settings.search.keep]}
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
        """Whether all of these pages are in the index and may be read, as they are limited now.

        Raises:
            IndexUnavailableError: it cannot be told.
        """
        return await self.index.readable(page_ids, audience=audience) == set(page_ids)

    def _retrieval(self, audience: Audience) -> Retrieval:
        return Retrieval(
            rewriter=self.rewriter if audience.everyone else self.outside_rewriter,
            index=self.index,
            searcher=self.searcher,
            ranker=self.ranker,
            lexical=self.lexical,
            vocabulary=self.vocabulary,
            settings=self.settings,
            asks_a_model=self.written is not None,
        )

    def _asked(
        self,
        question: Question,
        language: str,
        found: RetrievalResult,
        turns: Sequence[Turn],
        evidence: Evidence,
    ) -> Asked:
        return Asked(
            question=question,
            language=language,
            rewrite=found.rewrite,
            turns=turns,
            hits=without_ordering(found.hits),
            evidence=evidence,
            parts=tuple(
                AskedPart(
                    question=part.question,
                    hits=without_ordering(part.hits),
                    evidence=self._evidence(self.evidence_features(part.question, part.hits, language)),
                )
                for part in found.parts
            ),
        )

    def _evidence(self, features: EvidenceFeatures) -> Evidence:
        return score_evidence(features, self.relevance, threshold=self.settings.answer.min_confidence)

    def evidence_features(
        self, query: str, hits: Sequence[Hit], language: str, *, translated: str = ""
    ) -> EvidenceFeatures:
        """The passages by which a question's evidence is scored, and what
        is known of them (`kb.retrieval.evidence`).
        """
        reader = EvidenceReader(lexical=self.lexical, vocabulary=self.vocabulary)
        return reader.features(
            query, without_ordering(hits)[: self.settings.search.keep], language, translated=translated
        )

    def _interpretations(self, asked: Asked, features: EvidenceFeatures) -> tuple[str, ...]:
        """What an unclear question may mean; () where it is clear, or nothing can be offered."""
        if asked.rewrite.clarify:
            return topics_of_thread(asked.turns)
        if not asked.evidence.is_sufficient:
            return ()
        return competing_pages(asked.rewrite, asked.turns, features, asked.language)

    async def _composed(self, asked: Asked, progress: Progress) -> Composed:
        """The model's words where there is a model; quotes where there is none or it fails."""
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

    def _answer(
        self,
        asked: Asked,
        found: RetrievalResult,
        composed: Composed,
        watch: Stopwatch,
        interpretations: tuple[str, ...],
    ) -> Answer:
        notes: list[Note] = list(composed.notes)
        if self.ranker.wanted and not self.ranker.available and found.hits:
            notes.append("reranker unavailable")
        if composed.mode == "extractive" and composed.quotes:
            notes.insert(0, "extractive mode")
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
            notes=tuple(notes),
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
                removed_sentences=tuple(one.text for one in composed.removed),
                removed_reasons=tuple(one.reason for one in composed.removed),
                checked=composed.checked,
                searches=composed.searches,
                judge=composed.judge,
                read_pages=composed.read_pages,
            ),
            timings_ms=watch.timings_ms(),
        )

    def _without_pages(
        self,
        question: Question,
        language: str,
        outcome: Literal["chat", "unavailable"],
        watch: Stopwatch,
        *,
        small_talk: SmallTalk | None = None,
    ) -> Answer:
        """An answer that rests on nothing that was found."""
        return Answer(
            question=question.text,
            outcome=outcome,
            mode=self._mode,
            language=question.reply_in or language,
            small_talk=small_talk,
            trace=Trace(rewrite=Rewrite(query=question.text), decision=outcome),
            timings_ms=watch.timings_ms(),
        )


def _retrieved(chunk: Chunk, *, cited: bool) -> Retrieved:
    return Retrieved(page_id=chunk.page.id, chunk_id=chunk.id, title=chunk.page.title, cited=cited)


def thread_language(turns: Sequence[Turn]) -> str | None:
    """The language of the last question that tells one: "VPN?" goes on in the language of the questions before it."""
    told = (detect(turn.question, default="") for turn in reversed(turns[-TOLD_BY:]))
    return next(filter(None, told), None)
