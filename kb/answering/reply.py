"""What an answer is put together from: the parts common to every outcome, and its numbered citations."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict

from kb.answer import Answer, Checked, Citation, Mode, NearestPage, Note, Sentence, SmallTalk, Trace
from kb.answering.draft import DraftSentence
from kb.citations import Verified
from kb.confidence import Evidence
from kb.freshness import FreshnessPolicy
from kb.models import Hit, Outcome, Question, Rewrite
from kb.stopwatch import Stopwatch

logger = logging.getLogger(__name__)

NEAREST_PAGES = 3
"""Pages that a declined answer offers."""


class Reply:
    """Collects what every outcome of one question has in common."""

    def __init__(self, *, question: Question, language: str, watch: Stopwatch, mode: Mode) -> None:
        self.question = question
        self.language = language
        self.watch = watch
        self.mode = mode
        self.notes: tuple[Note, ...] = ()
        self._hits: Sequence[Hit] = ()
        self._context: Sequence[str] = ()
        self._context_need = 0.0
        self._anchors: Sequence[str] = ()
        self._anchor_reason = ""
        self._verified: Verified | None = None
        self._dropped_citations = 0

    def saw(
        self,
        hits: Sequence[Hit],
        *,
        context: Sequence[str],
        context_need: float,
        anchors: Sequence[str],
        anchor_reason: str,
        notes: tuple[Note, ...],
    ) -> None:
        self._hits, self._context, self._context_need = hits, context, context_need
        self._anchors, self._anchor_reason = anchors, anchor_reason
        self.notes = notes

    def degrade(self, note: Note, error: Exception) -> None:
        logger.warning(
            "answer.degraded", extra={"question_id": self.question.id, "note": note, "cause": repr(error)}
        )
        self.notes = (*self.notes, note)

    def checked(self, verified: Verified, *, dropped_citations: int) -> None:
        """Remembers what the check found. An answer from which something was taken says so."""
        self._verified, self._dropped_citations = verified, dropped_citations
        if verified.unsupported and verified.kept:
            self.notes = (*self.notes, "sentences removed")
        counts = self._counts()
        logger.info(
            "answer.checked", extra={"question_id": self.question.id, **asdict(counts)} if counts else {}
        )

    def _counts(self) -> Checked | None:
        if self._verified is None:
            return None
        return Checked(
            sentences=self._verified.stating,
            cited=self._verified.cited,
            supported=self._verified.supported,
            removed=self._verified.unsupported,
            dropped_citations=self._dropped_citations,
        )

    def build(
        self,
        outcome: Outcome,
        *,
        rewrite: Rewrite,
        evidence: Evidence | None = None,
        small_talk: SmallTalk | None = None,
        readings: tuple[str, ...] = (),
    ) -> Answer:
        return Answer(
            question=self.question.text,
            outcome=outcome,
            mode=self.mode,
            language=self.language,
            nearest=nearest_pages(evidence.hits) if evidence and outcome == "declined" else (),
            notes=self.notes,
            small_talk=small_talk,
            readings=readings,
            confidence=evidence.confidence if evidence else 0.0,
            trace=Trace(
                rewrite=rewrite,
                hits=tuple(self._hits),
                context=tuple(self._context),
                context_need=self._context_need,
                anchors=tuple(self._anchors),
                anchor_reason=self._anchor_reason,
                decision=outcome,
                removed_sentences=tuple(one.text for one in self._verified.removed) if self._verified else (),
                checked=self._counts(),
            ),
            timings_ms=self.watch.timings_ms(),
        )


def numbered(
    drafted: Sequence[DraftSentence], evidence: Evidence, freshness: FreshnessPolicy
) -> tuple[tuple[Sentence, ...], tuple[Citation, ...]]:
    """Numbers the sources in the order in which the answer uses them.

    A source is a section of a page: two passages of a long one have one link, so they are one source, told by the
    passage that is used first.
    """
    numbers: dict[tuple[str, tuple[str, ...]], int] = {}
    first: dict[int, tuple[int, str]] = {}
    sentences = []
    for sentence in drafted:
        cited = set()
        for at, quote in zip(sentence.hits, sentence.quotes, strict=True):
            chunk = evidence.hits[at].chunk
            number = numbers.setdefault((chunk.page.id, chunk.section), len(numbers) + 1)
            first.setdefault(number, (at, quote))
            cited.add(number)
        sentences.append(Sentence(text=sentence.text, citations=tuple(sorted(cited))))
    citations = tuple(
        Citation(
            n=number,
            chunk=evidence.hits[at].chunk,
            quote=quote,
            score=evidence.relevance[at],
            freshness=freshness.assess(evidence.hits[at].chunk.page).freshness,
        )
        for number, (at, quote) in first.items()
    )
    return tuple(sentences), citations


def nearest_pages(hits: Sequence[Hit]) -> tuple[NearestPage, ...]:
    pages = {hit.chunk.page.id: hit.chunk.page for hit in hits}
    return tuple(NearestPage(title=page.title, url=page.url) for page in list(pages.values())[:NEAREST_PAGES])
