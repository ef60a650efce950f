"""One question, top to bottom. Read this first: Slack, the command line, HTTP and evaluation all come through here.

rewrite -> search -> rerank -> decide -> answer -> verify -> freshness
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from kb import anchors as anchoring
from kb.answer import Draft, Drafter, DraftSentence
from kb.citations import Similarity, Verified, verify
from kb.confidence import Evidence, RelevanceModel, weigh
from kb.errors import ModelRefusedError, ModelReplyError, ModelUnavailableError, UnavailableError
from kb.freshness import Clock, FreshnessPolicy
from kb.language import detect
from kb.lexical import LexicalEncoder
from kb.models import (
    Answer,
    Audience,
    Chunk,
    Citation,
    Hit,
    Mode,
    NearestPage,
    Note,
    Outcome,
    Question,
    Retrieved,
    Rewrite,
    Sentence,
    SmallTalk,
    Trace,
    Turn,
)
from kb.phrases import small_talk
from kb.search import SearchResult, WeightedQuery
from kb.settings import Settings
from kb.stopwatch import Stopwatch
from kb.vocabulary import Vocabulary

logger = logging.getLogger(__name__)

_NUMBERS = re.compile(r"\d[\d.]*")
NEAREST_PAGES = 3
"""Pages that a declined answer offers."""


class Rewriter(Protocol):
    async def rewrite(self, question: str, turns: Sequence[Turn], *, language: str) -> Rewrite: ...


class Searcher(Protocol):
    async def search(
        self,
        queries: Sequence[WeightedQuery],
        *,
        audience: Audience,
        language: str,
        anchor_pages: Sequence[str] = (),
    ) -> SearchResult: ...


class Ranker(Protocol):
    """A cross-encoder. `available` is False where it is off or could not be loaded."""

    @property
    def available(self) -> bool: ...

    @property
    def wanted(self) -> bool: ...

    async def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]: ...


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """Everything a question needs. `model` is None where no language model is configured."""

    rewriter: Rewriter
    searcher: Searcher
    ranker: Ranker
    extractive: Drafter
    model: Drafter | None
    similarity: Similarity
    lexical: LexicalEncoder
    vocabulary: Vocabulary
    freshness: FreshnessPolicy
    settings: Settings
    clock: Clock
    relevance: RelevanceModel = field(default_factory=RelevanceModel)

    async def answer(self, question: Question, turns: Sequence[Turn] = ()) -> Answer:
        """Answers one question of a thread whose earlier turns are `turns`, oldest first.

        Never raises for what a question can cause: an outage is an answer with the outcome "unavailable".
        """
        watch = Stopwatch()
        language = detect(question.text, hint=_thread_language(turns))
        reply = _Reply(question=question, language=language, watch=watch, mode=self._mode)
        if kind := small_talk(question.text, language):
            return reply.build("chat", rewrite=Rewrite(query=question.text), small_talk=kind)
        with watch.stage("rewrite"):
            rewrite = await self.rewriter.rewrite(question.text, turns, language=language)
        if rewrite.clarify:
            return reply.build("unclear", rewrite=rewrite)
        anchors, anchor_reason = self._anchors(turns, rewrite)
        try:
            hits = await self._retrieve(question, rewrite, language, anchors, watch)
        except UnavailableError:
            logger.exception("question.unavailable", extra={"question_id": question.id})
            return reply.build("unavailable", rewrite=rewrite)
        evidence = self._weigh(rewrite, hits, language)
        reply.saw(hits, anchors, anchor_reason, self._notes())
        if evidence.confidence < self.settings.answer.min_confidence:
            return reply.build("declined", rewrite=rewrite, evidence=evidence)
        return await self._cited(reply, question, rewrite, evidence, turns)

    def turn(self, answer: Answer, *, question_ts: str | None = None) -> Turn:
        """What the thread remembers of an answer."""
        cited = {citation.chunk.id for citation in answer.citations}
        kept = [hit.chunk for hit in answer.trace.hits[: self.settings.search.keep]]
        return Turn(
            question=answer.question,
            answer=answer.text,
            rewritten=answer.rewritten,
            outcome=answer.outcome,
            topics=answer.trace.rewrite.topics,
            retrieved=tuple(_retrieved(chunk, cited=chunk.id in cited) for chunk in kept),
            asked_at=self.clock(),
            question_ts=question_ts,
        )

    @property
    def _mode(self) -> Mode:
        return "extractive" if self.model is None else "model"

    def _anchors(self, turns: Sequence[Turn], rewrite: Rewrite) -> tuple[Sequence[str], str]:
        if not self.settings.anchors.enabled:
            return (), "anchors are off"
        return anchoring.anchor_pages(turns, rewrite)

    async def _retrieve(
        self,
        question: Question,
        rewrite: Rewrite,
        language: str,
        anchors: Sequence[str],
        watch: Stopwatch,
    ) -> list[Hit]:
        result = await self.searcher.search(
            self._queries(question, rewrite),
            audience=question.audience,
            language=language,
            anchor_pages=anchors,
        )
        watch.add("embed", result.embed_ms)
        watch.add("search", result.search_ms)
        hits = anchoring.boost(result.hits, anchors, self.settings.anchors.boost)
        with watch.stage("rerank"):
            hits = await self.ranker.rerank(rewrite.query, hits)
        # Again, since a cross-encoder that reads a vague question drops the page that the thread is about.
        hits = anchoring.boost_final(hits, anchors, self.settings.anchors.boost)
        return without_superseded(hits, rewrite.query)

    def _queries(self, question: Question, rewrite: Rewrite) -> list[WeightedQuery]:
        if rewrite.query == question.text:
            return [WeightedQuery(text=question.text, weight=1.0)]
        original = self.settings.search.original_weight
        return [
            WeightedQuery(text=question.text, weight=original),
            WeightedQuery(text=rewrite.query, weight=1.0 - original),
        ]

    def _weigh(self, rewrite: Rewrite, hits: Sequence[Hit], language: str) -> Evidence:
        kept = hits[: self.settings.search.keep]
        coverages = [
            self.lexical.coverage(rewrite.query, hit.chunk, language, rarity=self.vocabulary.rarity)
            for hit in kept
        ]
        return weigh(kept, coverages, self.relevance)

    def _notes(self) -> tuple[Note, ...]:
        return ("reranker unavailable",) if self.ranker.wanted and not self.ranker.available else ()

    async def _cited(
        self, reply: _Reply, question: Question, rewrite: Rewrite, evidence: Evidence, turns: Sequence[Turn]
    ) -> Answer:
        chunks = [hit.chunk for hit in evidence.hits]
        with reply.watch.stage("answer"):
            draft = await self._draft(reply, question, rewrite, evidence, turns)
        with reply.watch.stage("verify"):
            verified = await verify(
                draft.sentences, chunks, similarity=self.similarity if reply.mode == "model" else None
            )
        if draft.declined or not verified.kept:
            return reply.build("declined", rewrite=rewrite, evidence=evidence, removed=verified)
        sentences, citations = self._cite(verified.kept, evidence)
        cited_pages = {citation.chunk.page.id: citation.chunk.page for citation in citations}
        warnings = [warning for page in cited_pages.values() if (warning := self.freshness.warn(page))]
        return replace(
            reply.build("answered", rewrite=rewrite, evidence=evidence, removed=verified),
            sentences=sentences,
            citations=citations,
            warnings=tuple(warnings),
        )

    async def _draft(
        self, reply: _Reply, question: Question, rewrite: Rewrite, evidence: Evidence, turns: Sequence[Turn]
    ) -> Draft:
        """The model's words where there is a model; the pages' own sentences where there is none or it fails."""
        if self.model is not None:
            try:
                return await self.model.draft(
                    question.text, rewrite.query, evidence, turns, language=reply.language
                )
            except (ModelUnavailableError, ModelReplyError) as error:
                reply.degrade("model unavailable", error)
            except ModelRefusedError as error:
                reply.degrade("model refused", error)
        reply.mode = "extractive"
        reply.notes = ("extractive mode", *reply.notes)
        return await self.extractive.draft(
            question.text, rewrite.query, evidence, turns, language=reply.language
        )

    def _cite(
        self, drafted: Sequence[DraftSentence], evidence: Evidence
    ) -> tuple[tuple[Sentence, ...], tuple[Citation, ...]]:
        """Numbers the passages in the order in which the answer uses them."""
        numbers: dict[int, int] = {}
        quotes: dict[int, str] = {}
        sentences = []
        for sentence in drafted:
            for at, quote in zip(sentence.hits, sentence.quotes, strict=True):
                numbers.setdefault(at, len(numbers) + 1)
                quotes.setdefault(at, quote)
            sentences.append(
                Sentence(text=sentence.text, citations=tuple(sorted(numbers[at] for at in sentence.hits)))
            )
        citations = tuple(
            Citation(
                n=number,
                chunk=evidence.hits[at].chunk,
                quote=quotes[at],
                score=evidence.relevance[at],
                freshness=self.freshness.assess(evidence.hits[at].chunk.page).freshness,
            )
            for at, number in numbers.items()
        )
        return tuple(sentences), citations


class _Reply:
    """Collects what every outcome of one question has in common."""

    def __init__(self, *, question: Question, language: str, watch: Stopwatch, mode: Mode) -> None:
        self.question = question
        self.language = language
        self.watch = watch
        self.mode = mode
        self.notes: tuple[Note, ...] = ()
        self._hits: Sequence[Hit] = ()
        self._anchors: Sequence[str] = ()
        self._anchor_reason = ""

    def saw(self, hits: Sequence[Hit], anchors: Sequence[str], reason: str, notes: tuple[Note, ...]) -> None:
        self._hits, self._anchors, self._anchor_reason = hits, anchors, reason
        self.notes = notes

    def degrade(self, note: Note, error: Exception) -> None:
        logger.warning(
            "answer.degraded", extra={"question_id": self.question.id, "note": note, "cause": repr(error)}
        )
        self.notes = (*self.notes, note)

    def build(
        self,
        outcome: Outcome,
        *,
        rewrite: Rewrite,
        evidence: Evidence | None = None,
        removed: Verified | None = None,
        small_talk: SmallTalk | None = None,
    ) -> Answer:
        return Answer(
            question=self.question.text,
            outcome=outcome,
            mode=self.mode,
            language=self.language,
            nearest=nearest_pages(evidence.hits) if evidence and outcome == "declined" else (),
            notes=self.notes,
            small_talk=small_talk,
            confidence=evidence.confidence if evidence else 0.0,
            trace=Trace(
                rewrite=rewrite,
                hits=tuple(self._hits),
                anchors=tuple(self._anchors),
                anchor_reason=self._anchor_reason,
                decision=outcome,
                removed_sentences=tuple(one.text for one in removed.removed) if removed else (),
            ),
            timings_ms=self.watch.timings_ms(),
        )


def without_superseded(hits: Sequence[Hit], query: str) -> list[Hit]:
    """Drops passages of pages whose successor was found too: the newer page carries the answer.

    Unless the question asks for the old one by what only its title says: "What was the rate in 2024?".
    """
    titles = {hit.chunk.page.title for hit in hits}
    known = titles | {name for hit in hits for name in (hit.chunk.page.path, hit.chunk.page.url)}
    asked = set(_NUMBERS.findall(query))
    return [
        hit
        for hit in hits
        if hit.chunk.page.superseded_by not in known or asked & set(_NUMBERS.findall(hit.chunk.page.title))
    ]


def nearest_pages(hits: Sequence[Hit]) -> tuple[NearestPage, ...]:
    pages = {hit.chunk.page.id: hit.chunk.page for hit in hits}
    return tuple(NearestPage(title=page.title, url=page.url) for page in list(pages.values())[:NEAREST_PAGES])


def _retrieved(chunk: Chunk, *, cited: bool) -> Retrieved:
    return Retrieved(page_id=chunk.page.id, chunk_id=chunk.id, title=chunk.page.title, cited=cited)


def _thread_language(turns: Sequence[Turn]) -> str | None:
    return detect(turns[-1].question) if turns else None
