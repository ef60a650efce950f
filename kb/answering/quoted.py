"""Answers by quoting the pages, where no language model writes. Nothing is claimed beyond the quotes.

Above the threshold of the evidence: at most two quotes. Below it: the closest one, called that. Far from every page:
declined. A question in several parts gets a quote for each, and the parts for which there is none are named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kb.answer import Citation, Note, Quote, Sentence
from kb.answering.answerer import Asked, Composed, nearest_pages
from kb.answering.excerpts import Excerpt, counted
from kb.answering.language import surely_in_others
from kb.answering.progress import Progress
from kb.answering.quoting import SHORT_CHARACTERS, Librarian
from kb.answering.reading import ReadingLimits, read_passages, read_section, strip_injections_in
from kb.conflicts.resolution import CONFLICT_PASSAGES, Disputed, Sides, warnings_of
from kb.conflicts.statements import Similarity, Statement, find_disputes
from kb.index.port import VectorIndex
from kb.models import Hit, Rewrite
from kb.pages.freshness import FreshnessPolicy
from kb.retrieval.exact_terms import holds

QUOTES = 2
READING = ReadingLimits(passages=10, tokens=6000, around=10, reach=2, own_section=True)
"""Whole sections of the best passages where they are short: a quote ends where its list or table does."""


@dataclass(frozen=True, kw_only=True)
class QuotedAnswerer:
    """An `Answerer`."""

    librarian: Librarian
    index: VectorIndex
    freshness: FreshnessPolicy
    similarity: Similarity | None

    async def compose(self, asked: Asked, progress: Progress) -> Composed:
        """Quotes the nearest passages."""
        if asked.parts and (in_parts := await self._in_parts(asked, progress)):
            return in_parts
        if not asked.evidence.is_near:
            return self._declined(asked)
        passages = self._holding(await self._read(asked.hits, asked, progress), asked.rewrite)
        enough = asked.evidence.is_sufficient
        query, language = _read_as(asked, passages)
        excerpts = await self._excerpts(
            asked, query, passages, language=language, most=QUOTES if enough else 1
        )
        if not excerpts:
            return self._declined(asked, nothing_more=asked.rewrite.wants_more)
        disputed: tuple[Disputed, ...] = ()
        if enough:
            excerpts, disputed = await self._resolved(excerpts, asked.hits)
        return self._composed(asked, [(excerpt, "") for excerpt in excerpts], disputed)

    async def closest(self, asked: Asked, passages: Sequence[Hit]) -> tuple[Quote, ...]:
        """Returns one short quote of the nearest of these passages, for an answer that says that no page tells."""
        query, language = _read_as(asked, passages)
        excerpts = await self.librarian.quotes(
            query, passages, language=language, most=1, characters=SHORT_CHARACTERS
        )
        return tuple(
            self._quote(number, excerpt, "", bold=False) for number, excerpt in enumerate(excerpts, 1)
        )

    async def _in_parts(self, asked: Asked, progress: Progress) -> Composed | None:
        """Answers each part by a quote; None where there is nothing to quote for any of them.

        The whole question chooses along: "How often is that?" says little alone.
        """
        found: list[tuple[Excerpt, str]] = []
        disputed: list[Disputed] = []
        unfound: list[str] = []
        for part in asked.parts:
            passages = await self._read(part.hits, asked, progress) if part.evidence.is_sufficient else ()
            query = f"{part.question} {asked.rewrite.query}"
            already_quoted = [excerpt.text for excerpt, _ in found]
            excerpts = await self._excerpts(
                asked, query, passages, language=asked.language, most=1, already_quoted=already_quoted
            )
            if not passages:
                unfound.append(part.question)
            resolved, of_part = await self._resolved(excerpts, part.hits)
            found += [(excerpt, part.question) for excerpt in resolved]
            disputed += of_part
        return self._composed(asked, found, disputed, unfound=tuple(unfound)) if found else None

    @staticmethod
    def _holding(passages: Sequence[Hit], rewrite: Rewrite) -> Sequence[Hit]:
        """Keeps the passages that hold the step or name that was surely asked for; the next step is another answer."""
        held = [hit for hit in passages if holds(hit.chunk, rewrite.required)]
        return held if held or rewrite.wants_more else passages

    async def _read(self, hits: Sequence[Hit], asked: Asked, progress: Progress) -> tuple[Hit, ...]:
        passages = await read_passages(hits, self.index, asked.audience, READING)
        await progress.stage("reading", pages=len({hit.chunk.page.id for hit in passages}))
        return passages

    async def _excerpts(
        self,
        asked: Asked,
        query: str,
        passages: Sequence[Hit],
        *,
        language: str,
        most: int,
        already_quoted: Sequence[str] = (),
    ) -> list[Excerpt]:
        before = [turn.answer for turn in asked.turns] if asked.rewrite.wants_more else []
        limits = {} if most > 1 or asked.parts else {"characters": SHORT_CHARACTERS}
        excerpts = await self.librarian.quotes(
            query, passages, language=language, most=most, already_quoted=[*already_quoted, *before], **limits
        )
        return [
            counted(excerpt, await read_section(excerpt.chunk, self.index, asked.audience))
            if excerpt.has_parts
            else excerpt
            for excerpt in excerpts
        ]

    async def _resolved(
        self, excerpts: Sequence[Excerpt], hits: Sequence[Hit]
    ) -> tuple[list[Excerpt], tuple[Disputed, ...]]:
        """Replaces what outdated pages say by what current ones say; shows both sides where current ones disagree."""
        others = [hit.chunk for hit in strip_injections_in(hits[:CONFLICT_PASSAGES])]
        stated = [Statement(chunk=excerpt.chunk, text=excerpt.statement) for excerpt in excerpts]
        disputes = await find_disputes(stated, others, similarity=self.similarity)
        sides = Sides(disputes, self.freshness.is_stale)
        kept: dict[str, Excerpt] = {}
        for excerpt, statement in zip(excerpts, stated, strict=True):
            shown_sides = sides.of(statement)
            for side in shown_sides:
                own = side is statement
                shown = excerpt if own else self.librarian.excerpt_of(side.chunk, side.text)
                kept.setdefault(side.chunk.id, shown)
            if not shown_sides:
                kept.setdefault(excerpt.chunk.id, excerpt)
        return list(kept.values()), tuple(dict.fromkeys(sides.disputed))

    def _composed(
        self,
        asked: Asked,
        excerpts: Sequence[tuple[Excerpt, str]],
        disputed: Sequence[Disputed],
        *,
        unfound: tuple[str, ...] = (),
    ) -> Composed:
        enough = asked.evidence.is_sufficient or any(part for _, part in excerpts)
        quotes = tuple(
            self._quote(number, excerpt, part, bold=enough)
            for number, (excerpt, part) in enumerate(excerpts, 1)
        )
        citations = tuple(quote.citation for quote in quotes)
        sentences = tuple(
            Sentence(text=block, citations=(quote.citation.n,)) for quote in quotes for block in quote.blocks
        )
        return Composed(
            outcome="answered" if enough else "closest",
            mode="extractive",
            sentences=sentences,
            citations=citations,
            quotes=quotes,
            unfound=unfound,
            warnings=warnings_of(sentences, citations, disputed, self.freshness),
            nearest=() if enough else nearest_pages(asked.hits),
            notes=language_notes(asked, quotes),
        )

    def _quote(self, number: int, excerpt: Excerpt, part: str, *, bold: bool) -> Quote:
        """Makes a quote. `bold`: its best sentence is marked; of a page that does not answer no sentence is best."""
        citation = Citation(
            n=number,
            chunk=excerpt.chunk,
            quote=excerpt.best or excerpt.text,
            score=None,
            freshness=self.freshness.assess(excerpt.chunk.page).freshness,
        )
        return Quote(
            citation=citation,
            blocks=excerpt.blocks,
            best=excerpt.best if bold and excerpt.is_clear else "",
            shown=excerpt.shown,
            total=excerpt.total,
            part=part,
        )

    @staticmethod
    def _declined(asked: Asked, *, nothing_more: bool = False) -> Composed:
        return Composed(
            outcome="declined",
            mode="extractive",
            nearest=() if nothing_more else nearest_pages(asked.hits),
            notes=("nothing more",) if nothing_more else (),
        )


def _read_as(asked: Asked, passages: Sequence[Hit]) -> tuple[str, str]:
    """Returns the query that chooses the quote, and its language: those of the best passage, where a model wrote it."""
    language = passages[0].chunk.page.language if passages else asked.language
    if asked.rewrite.translated and language != asked.language:
        return asked.rewrite.translated, language
    return asked.rewrite.query, asked.language


def language_notes(asked: Asked, quotes: Sequence[Quote]) -> tuple[Note, ...]:
    """Notes that the quotes are in another language than the question, where both are sure."""
    pages = [quote.citation.chunk.page.language for quote in quotes]
    return ("pages' language",) if surely_in_others(asked.question.text, asked.language, pages) else ()
