"""What an answerer gets and what it decides: a question with its passages, and its part of an `Answer`.

Two answerers exist: `written` and `quoted`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kb.answer import (
    AnswerWarning,
    Checked,
    Citation,
    JudgeStatus,
    Mode,
    NearestPage,
    Note,
    Quote,
    Sentence,
)
from kb.answering.progress import Progress
from kb.citations import DraftSentence, Removed
from kb.models import Audience, Chunk, Hit, Outcome, Question, Rewrite, Turn
from kb.pages.freshness import FreshnessPolicy
from kb.retrieval.confidence import Evidence

NEAREST_PAGES = 3
"""Pages that are offered in place of an answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedPart:
    """One question of several, what was found for it, and what that is worth."""

    question: str
    hits: Sequence[Hit]
    evidence: Evidence


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """`hits` are the passages, best first; `language` is the question's; `turns` are the earlier ones, oldest first."""

    question: Question
    language: str
    rewrite: Rewrite
    turns: Sequence[Turn]
    hits: Sequence[Hit]
    evidence: Evidence
    parts: tuple[AskedPart, ...] = ()

    @property
    def words(self) -> str:
        """The question as typed and as rewritten: the answer may repeat a figure of the user's own."""
        return f"{self.question.text}\n{self.rewrite.query}"

    @property
    def reply_in(self) -> str:
        """The language of what is written for the reader; quotes stay in that of their pages."""
        return self.question.reply_in or self.language

    @property
    def audience(self) -> Audience:
        return self.question.audience


@dataclass(frozen=True, kw_only=True, slots=True)
class Composed:
    """Fields as in `kb.answer.Answer` and its trace."""

    outcome: Outcome
    mode: Mode
    sentences: tuple[Sentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    quotes: tuple[Quote, ...] = ()
    left_open: str = ""
    unfound: tuple[str, ...] = ()
    warnings: tuple[AnswerWarning, ...] = ()
    nearest: tuple[NearestPage, ...] = ()
    notes: tuple[Note, ...] = ()
    checked: Checked | None = None
    removed: tuple[Removed, ...] = ()
    searches: tuple[str, ...] = ()
    judge: JudgeStatus = "off"
    read_pages: tuple[str, ...] = ()


class Answerer(Protocol):
    async def compose(self, asked: Asked, progress: Progress) -> Composed:
        """Answers, or says that the pages do not.

        Raises:
            UnavailableError: the index, the embedder or a model does not answer.
            ModelRefusedError, ModelReplyError: as `kb.llm.client.LanguageModel` does.
        """


def number_citations(
    drafted: Sequence[DraftSentence], passages: Sequence[Chunk], freshness: FreshnessPolicy
) -> tuple[tuple[Sentence, ...], tuple[Citation, ...]]:
    """Numbers the sources in the order in which the answer uses them.

    A source is a section of a page: two passages of a long one have one link, so they are one source, told by the
    passage that is used first.
    """
    chunks = {chunk.id: chunk for chunk in passages}
    numbers: dict[tuple[str, tuple[str, ...]], int] = {}
    first: dict[int, tuple[Chunk, str]] = {}
    sentences = []
    for sentence in drafted:
        cited = set()
        for chunk_id, quote in zip(sentence.cites, sentence.quotes, strict=True):
            chunk = chunks[chunk_id]
            number = numbers.setdefault((chunk.page.id, chunk.section), len(numbers) + 1)
            first.setdefault(number, (chunk, quote))
            cited.add(number)
        sentences.append(Sentence(text=sentence.text, citations=tuple(sorted(cited))))
    citations = tuple(
        Citation(
            n=number, chunk=chunk, quote=quote, score=None, freshness=freshness.assess(chunk.page).freshness
        )
        for number, (chunk, quote) in first.items()
    )
    return tuple(sentences), citations


def nearest_pages(hits: Sequence[Hit]) -> tuple[NearestPage, ...]:
    """Returns the pages of the best hits, each once."""
    pages = {hit.chunk.page.id: hit.chunk.page for hit in hits}
    return tuple(
        NearestPage(title=page.title, url=page.url, owner=page.owner, page_id=page.id)
        for page in list(pages.values())[:NEAREST_PAGES]
    )
