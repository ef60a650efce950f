"""Answers in a model's words: reads, drafts, checks citations while it is written, judges, resolves conflicts.

passages with their neighbours -> draft (streamed; up to two searches more) -> by the letter
-> {judge, conflicts between the pages} -> numbered citations
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, replace

from kb.answer import Checked, Note, join_sentences
from kb.answering.answerer import Asked, Composed, nearest_pages, number_citations
from kb.answering.drafting import ModelDraft, ModelDrafter, OnSentences
from kb.answering.language import is_in_other_language
from kb.answering.progress import Progress
from kb.answering.quoted import QuotedAnswerer, language_notes
from kb.answering.reading import ReadingLimits, read_passages
from kb.citations import DraftSentence, Removed, Verified, check, check_sentence
from kb.citations.judge import Judge, Judgement, apply
from kb.conflicts.resolution import resolve_conflicts, warnings_of
from kb.models import Audience, Chunk, Hit
from kb.runtime.tracing import span

logger = logging.getLogger(__name__)

SEARCHED = ReadingLimits(passages=6, tokens=2000, around=3)
"""The passages of one further search by the model."""

SearchPages = Callable[[str, Audience, str], Awaitable[Sequence[Hit]]]
"""Query, audience, language -> hits, best first, of what this audience may read."""


@dataclass(frozen=True, kw_only=True)
class WrittenAnswerer:
    """An `Answerer`. `judge` is None where it is switched off; `quoted` shows the closest passage where the model
    declines.
    """

    drafter: ModelDrafter
    judge: Judge | None
    quoted: QuotedAnswerer
    search: SearchPages
    limits: ReadingLimits

    async def compose(self, asked: Asked, progress: Progress) -> Composed:
        """Has the model answer in every case: it declines by itself."""
        passages = await read_passages(asked.hits, self.quoted.index, asked.audience, self.limits)
        await progress.stage("reading", pages=len({hit.chunk.page.id for hit in passages}))

        async def search(query: str) -> Sequence[Hit]:
            await progress.stage("searching")
            found = await self.search(query, asked.audience, asked.language)
            return await read_passages(found, self.quoted.index, asked.audience, SEARCHED)

        draft = await self.drafter.draft(
            asked, passages, search=search, on_sentences=self._shown_by(progress, asked)
        )
        if draft.reply.declined or draft.reply.nothing_more:
            composed = await self._declined(asked, draft)
        else:
            await progress.stage("checking")
            with span("check"):
                composed = await self._checked(asked, draft)
        return replace(composed, read_pages=tuple({hit.chunk.page.id: None for hit in draft.passages}))

    def _shown_by(self, progress: Progress, asked: Asked) -> OnSentences:
        """Shows a sentence only after the check by the letter, and never less than before."""
        verdicts: dict[DraftSentence, DraftSentence | Removed] = {}
        shown: list[DraftSentence] = []

        async def on_sentences(sentences: Sequence[DraftSentence], passages: Sequence[Hit]) -> None:
            chunks = [hit.chunk for hit in passages]
            if not verdicts:
                await progress.stage("writing")
            for sentence in sentences:
                if sentence not in verdicts:
                    verdicts[sentence] = check_sentence(sentence, chunks, question=asked.words)
                    await asyncio.sleep(0)  # other tasks get their turn
            kept = [
                verdict for sentence in sentences if isinstance(verdict := verdicts[sentence], DraftSentence)
            ]
            grown = len(kept) > len(shown) and kept[: len(shown)] == shown
            if grown and any(sentence.cites for sentence in kept):
                shown[:] = kept
                await progress.written(*number_citations(kept, chunks, self.quoted.freshness))

        return on_sentences

    async def _checked(self, asked: Asked, draft: ModelDraft) -> Composed:
        chunks = [hit.chunk for hit in draft.passages]
        by_letter = await asyncio.to_thread(
            check, draft.reply.sentences, chunks, question=asked.words
        )  # a model that keeps to no limit writes hundreds
        judgement, resolution = await asyncio.gather(
            self._judged(by_letter.kept, chunks),
            resolve_conflicts(
                by_letter.kept, chunks, freshness=self.quoted.freshness, similarity=self.quoted.similarity
            ),
        )
        verified = apply(by_letter, judgement)
        gone = set(by_letter.kept) - set(verified.kept)
        kept = [sentence for sentence in resolution.sentences if sentence not in gone]
        checked = _counted(verified, draft)
        logger.info("answer.checked", extra={"question_id": asked.question.id, **asdict(checked)})
        if not any(sentence.cites for sentence in kept):
            declined = await self._declined(asked, draft)
            return replace(declined, checked=checked, removed=verified.removed, judge=judgement.status)
        sentences, citations = number_citations(kept, chunks, self.quoted.freshness)
        scores = _scores(by_letter, judgement, chunks)
        citations = tuple(
            replace(citation, score=scores.get(_source(citation.chunk))) for citation in citations
        )
        text = join_sentences([sentence.text for sentence in sentences])
        notes: list[Note] = ["sentences removed"] if verified.unsupported else []
        if is_in_other_language(text, asked.reply_in):
            notes.append("pages' language")
        return Composed(
            outcome="answered",
            mode="model",
            sentences=sentences,
            citations=citations,
            left_open=_held(draft.reply.left_open, asked, chunks),
            warnings=warnings_of(sentences, citations, resolution.disputed, self.quoted.freshness),
            notes=tuple(notes),
            checked=checked,
            removed=verified.removed,
            searches=draft.searches,
            judge=judgement.status,
        )

    async def _judged(self, sentences: Sequence[DraftSentence], chunks: Sequence[Chunk]) -> Judgement:
        if self.judge is None:
            return Judgement(status="off", verdicts=(None,) * len(sentences))
        return await self.judge.judge(sentences, chunks)

    async def _declined(self, asked: Asked, draft: ModelDraft) -> Composed:
        """Declines with a short quote of the closest passage, which the model may have named."""
        if draft.reply.nothing_more:
            return Composed(
                outcome="declined", mode="model", notes=("nothing more",), searches=draft.searches
            )
        named = draft.reply.closest
        nearest = [hit for hit in draft.passages if named in (None, hit.chunk.id)]
        quotes = await self.quoted.closest(asked, nearest)
        return Composed(
            outcome="declined",
            mode="model",
            quotes=quotes,
            notes=language_notes(asked, quotes),
            nearest=nearest_pages(draft.passages),
            searches=draft.searches,
        )


def _source(chunk: Chunk) -> tuple[str, tuple[str, ...]]:
    """Returns the key of a citation's number: a section of a page."""
    return chunk.page.id, chunk.section


def _scores(
    verified: Verified, judgement: Judgement, chunks: Sequence[Chunk]
) -> dict[tuple[str, tuple[str, ...]], float]:
    """Returns the least probability, by the judge, with which each source supports what cites it."""
    sources = {chunk.id: _source(chunk) for chunk in chunks}
    scores: dict[tuple[str, tuple[str, ...]], float] = {}
    for sentence, verdict in zip(verified.kept, judgement.verdicts, strict=False):
        if verdict is None or verdict.rejects:
            continue
        sure = verdict.sure if verdict.verdict == "supported" else 1 - verdict.sure
        for chunk_id in sentence.cites:
            source = sources[chunk_id]
            scores[source] = min(scores.get(source, 1.0), sure)
    return scores


def _counted(verified: Verified, draft: ModelDraft) -> Checked:
    return Checked(
        sentences=verified.stating,
        cited=verified.cited,
        supported=verified.supported,
        removed=verified.unsupported,
        dropped_citations=draft.dropped_markers,
    )


def _held(left_open: str, asked: Asked, chunks: Sequence[Chunk]) -> str:
    """Returns the open part as the model words it, "" where neither pages nor question hold a figure or name in it."""
    if not left_open:
        return ""
    question = replace(chunks[0], id="question", text=asked.question.text)
    everything = [*chunks, question]
    cites = tuple(chunk.id for chunk in everything)
    sentence = DraftSentence(text=left_open, cites=cites, quotes=("",) * len(cites))
    verdict = check_sentence(sentence, everything, question=asked.words)
    return verdict.text if isinstance(verdict, DraftSentence) else ""
