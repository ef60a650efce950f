"""One question, top to bottom. Read this first: Slack, the command line, HTTP and evaluation all come through here.

find (`kb.retrieval`: rewrite -> search -> rerank -> succession) -> decide -> answer -> verify -> settle -> freshness

`Pipeline.answer` is that line; the methods below it come in its order.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from kb.answer import Answer, Mode, Note, join_sentences
from kb.answering.brevity import brief
from kb.answering.clarify import competing_pages, topics_of_thread
from kb.answering.draft import Draft, Drafter
from kb.answering.language import speaks_pages_language
from kb.answering.reply import Reply, numbered
from kb.citations import Similarity, verify
from kb.citations.orders import without_orders
from kb.confidence import BACKGROUND, Evidence, Gathered, RelevanceModel, likeness, weigh
from kb.conflicts.settle import CONFLICT_PASSAGES, settle, warnings_of
from kb.errors import ModelRefusedError, ModelReplyError, ModelUnavailableError, UnavailableError
from kb.freshness import Clock, FreshnessPolicy
from kb.history import readable_turns
from kb.lexical import LexicalEncoder
from kb.models import Audience, Chunk, Question, Retrieved, Rewrite, Turn
from kb.retrieval import Found, Pages, Ranker, Retrieval, Searcher
from kb.rewrite import Rewriter
from kb.settings import Settings
from kb.stopwatch import Stopwatch
from kb.text.language import detect
from kb.text.phrases import small_talk
from kb.vocabulary import Vocabulary
from kb.weights import default_model

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """Everything a question needs. `model` is None where no language model is configured.

    `rewriter` mends slips of the keyboard towards words of the pages that everyone may read; `outside_rewriter` knows
    no page, and serves those who are not everyone.
    """

    rewriter: Rewriter
    outside_rewriter: Rewriter
    index: Pages
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
    relevance: RelevanceModel = field(default_factory=default_model)

    async def answer(self, question: Question, turns: Sequence[Turn] = ()) -> Answer:
        """Answers one question of a thread whose earlier turns are `turns`, oldest first.

        Never raises for what a question can cause: an outage is an answer with the outcome "unavailable".
        """
        watch = Stopwatch()
        language = detect(question.text, hint=thread_language(turns))
        reply = Reply(question=question, language=language, watch=watch, mode=self._mode)
        if kind := small_talk(question.text, language):
            return reply.build("chat", rewrite=Rewrite(query=question.text), small_talk=kind)
        try:
            turns = await readable_turns(turns, self.index, audience=question.audience)
            found = await self._retrieval(question.audience).find(question, turns, language, watch)
            if found.rewrite.clarify:
                return reply.build("unclear", rewrite=found.rewrite, readings=topics_of_thread(turns))
            gathered = self.gathered(found, language)
            evidence = weigh(gathered, self.relevance, threshold=self.settings.answer.min_confidence)
            reply.saw(
                found.hits,
                context=found.context,
                context_need=found.context_need,
                anchors=found.anchors,
                anchor_reason=found.anchor_reason,
                notes=self._notes(),
            )
            if not evidence.enough:
                return reply.build("declined", rewrite=found.rewrite, evidence=evidence)
            if readings := competing_pages(found.rewrite, turns, gathered, language):
                return reply.build("unclear", rewrite=found.rewrite, evidence=evidence, readings=readings)
            return await self._cited(reply, question, found, evidence, turns)
        except UnavailableError:
            logger.exception("question.unavailable", extra={"question_id": question.id})
            return reply.build("unavailable", rewrite=Rewrite(query=question.text))

    async def find(self, question: Question, turns: Sequence[Turn] = ()) -> Found:
        """The passages alone, without an answer.

        Raises:
            UnavailableError: the index or the embedder does not answer.
        """
        language = detect(question.text, hint=thread_language(turns))
        watch = Stopwatch()
        turns = await readable_turns(turns, self.index, audience=question.audience)
        found = await self._retrieval(question.audience).find(question, turns, language, watch)
        return replace(found, timings_ms=watch.timings_ms())

    def turn(self, answer: Answer, *, question_ts: str | None = None) -> Turn:
        """What the thread remembers of an answer."""
        cited = {citation.chunk.id for citation in answer.citations}
        kept = [hit.chunk for hit in answer.trace.hits[: self.settings.search.keep]]
        return Turn(
            question=answer.question,
            answer=answer.text,
            rewritten=answer.rewritten,
            outcome=answer.outcome,
            topics=answer.readings or answer.trace.rewrite.topics,
            retrieved=tuple(_retrieved(chunk, cited=chunk.id in cited) for chunk in kept),
            asked_at=self.clock(),
            question_ts=question_ts,
        )

    async def may_show(self, page_ids: Collection[str], audience: Audience) -> bool:
        """Whether all of these pages are in the index and may be read, as they are limited now.

        Raises:
            IndexUnavailableError: it cannot be told.
        """
        return await self.index.readable(page_ids, audience=audience) == set(page_ids)

    @property
    def _mode(self) -> Mode:
        return "extractive" if self.model is None else "model"

    def _retrieval(self, audience: Audience) -> Retrieval:
        return Retrieval(
            rewriter=self.rewriter if audience.everyone else self.outside_rewriter,
            index=self.index,
            searcher=self.searcher,
            ranker=self.ranker,
            lexical=self.lexical,
            vocabulary=self.vocabulary,
            settings=self.settings,
            asks_a_model=self.model is not None,
        )

    def gathered(self, found: Found, language: str, *, keep: int | None = None) -> Gathered:
        """The passages that an answer may rest on, and what is known of them. `language` is the question's."""
        kept = found.hits[: keep or self.settings.search.keep]
        query, rarity = found.rewrite.query, self.vocabulary.rarity
        candidates = [likeness(hit) for hit in found.hits[:BACKGROUND]]
        return Gathered(
            hits=kept,
            coverages=[self.lexical.coverage(query, hit.chunk, language, rarity=rarity) for hit in kept],
            background=sum(candidates) / len(candidates) if candidates else 0.0,
        )

    def _widened(self, evidence: Evidence, found: Found, language: str) -> Evidence:
        """The evidence with the passages behind it: what they say against the answer has to be known."""
        wide = weigh(self.gathered(found, language, keep=CONFLICT_PASSAGES), self.relevance)
        known = {hit.chunk.id for hit in evidence.hits}
        further = [at for at, hit in enumerate(wide.hits) if hit.chunk.id not in known]
        behind = without_orders_in(
            replace(
                wide,
                hits=tuple(wide.hits[at] for at in further),
                relevance=tuple(wide.relevance[at] for at in further),
            )
        )
        return replace(
            evidence,
            hits=(*evidence.hits, *behind.hits),
            relevance=(*evidence.relevance, *behind.relevance),
        )

    def _notes(self) -> tuple[Note, ...]:
        return ("reranker unavailable",) if self.ranker.wanted and not self.ranker.available else ()

    async def _cited(
        self, reply: Reply, question: Question, found: Found, evidence: Evidence, turns: Sequence[Turn]
    ) -> Answer:
        rewrite = found.rewrite
        evidence = without_orders_in(evidence)
        chunks = [hit.chunk for hit in evidence.hits]
        with reply.watch.stage("answer"):
            draft = await self._draft(reply, question, rewrite, evidence, turns)
        with reply.watch.stage("verify"):
            verified = await verify(
                draft.sentences, chunks, similarity=self.similarity if reply.mode == "model" else None
            )
        reply.checked(verified, dropped_citations=draft.dropped_markers)
        if draft.declined or not verified.kept:
            return reply.build("declined", rewrite=rewrite, evidence=evidence)
        kept, shortened = brief(verified.kept, limit=self.settings.answer.max_characters)
        if shortened:
            reply.notes = (*reply.notes, "shortened")
        wide = self._widened(evidence, found, reply.language)
        with reply.watch.stage("verify"):
            settled = await settle(kept, wide, freshness=self.freshness, likeness=self.similarity)
        sentences, citations = numbered(settled.sentences, wide, self.freshness)
        said = join_sentences([sentence.text for sentence in sentences])
        if speaks_pages_language(reply.mode, reply.language, said, citations):
            reply.notes = (*reply.notes, "pages' language")
        return replace(
            reply.build("answered", rewrite=rewrite, evidence=evidence),
            sentences=sentences,
            citations=citations,
            warnings=warnings_of(sentences, citations, settled.disputed, wide, self.freshness),
        )

    async def _draft(
        self, reply: Reply, question: Question, rewrite: Rewrite, evidence: Evidence, turns: Sequence[Turn]
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


def without_orders_in(evidence: Evidence) -> Evidence:
    """The evidence without what speaks to an assistant: a page is data, and says nothing by giving orders."""
    cleaned = [
        (replace(hit, chunk=replace(hit.chunk, text=without_orders(hit.chunk.text))), relevance)
        for hit, relevance in zip(evidence.hits, evidence.relevance, strict=True)
    ]
    kept = [(hit, relevance) for hit, relevance in cleaned if hit.chunk.text.strip()]
    return replace(
        evidence, hits=tuple(hit for hit, _ in kept), relevance=tuple(relevance for _, relevance in kept)
    )


def _retrieved(chunk: Chunk, *, cited: bool) -> Retrieved:
    return Retrieved(page_id=chunk.page.id, chunk_id=chunk.id, title=chunk.page.title, cited=cited)


def thread_language(turns: Sequence[Turn]) -> str | None:
    return detect(turns[-1].question) if turns else None
