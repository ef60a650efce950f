"""From a question in its thread to passages, best first.

rewrite -> where the question stands in its thread -> search -> anchors -> rerank -> succession
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from kb import anchors as anchoring
from kb.anchors import Standing
from kb.context import context_terms
from kb.history import Readable
from kb.lexical import LexicalEncoder
from kb.models import Audience, Hit, Question, Rewrite, Turn
from kb.rewrite import Rewriter
from kb.search import SearchResult, WeightedQuery, wordings
from kb.settings import Settings
from kb.stopwatch import Stopwatch
from kb.succession import PageFinder, succeeded
from kb.vocabulary import Vocabulary


class Pages(Readable, PageFinder, Protocol):
    """`kb.index.port.VectorIndex`, as this uses it."""


class Searcher(Protocol):
    async def prepare(self, text: str) -> None:
        """Embeds a wording that will be searched for soon."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What was searched for, and the passages that came back, best first."""

    rewrite: Rewrite
    hits: Sequence[Hit] = ()
    context: Sequence[str] = ()
    context_need: float = 0.0
    anchors: Sequence[str] = ()
    anchor_reason: str = ""
    timings_ms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Retrieval:
    """What finding needs. `asks_a_model`: the rewriter may take as long as a model does."""

    rewriter: Rewriter
    index: Pages
    searcher: Searcher
    ranker: Ranker
    lexical: LexicalEncoder
    vocabulary: Vocabulary
    settings: Settings
    asks_a_model: bool

    async def find(self, question: Question, turns: Sequence[Turn], language: str, watch: Stopwatch) -> Found:
        """Searches for a question whose readable earlier turns are `turns`; the time of each stage goes to `watch`.

        Raises:
            UnavailableError: the index or the embedder does not answer.
        """
        found = await self._found(question, turns, language, watch)
        return await self._succeeded(found, question, language, watch)

    async def _found(
        self, question: Question, turns: Sequence[Turn], language: str, watch: Stopwatch
    ) -> Found:
        rewrite = await self._rewrite(question, turns, language, watch)
        if rewrite.clarify:
            return Found(rewrite=rewrite)
        with watch.stage("rewrite"):
            standing = anchoring.standing(turns, question.text, rewrite)
            context = self._context(question, standing, language)
        anchors, boost = standing.anchors(self.settings.anchors)
        result = await self.searcher.search(
            wordings(question.text, rewrite, context, self.settings.search),
            audience=question.audience,
            language=language,
            anchor_pages=anchors,
        )
        watch.add("embed", result.embed_ms)
        watch.add("search", result.search_ms)
        hits = anchoring.boost(result.hits, anchors, boost)
        with watch.stage("rerank"):
            hits = await self.ranker.rerank(rewrite.query, hits)
        # Again, since a cross-encoder that reads a vague question drops the page that the thread is about.
        hits = anchoring.boost_final(hits, anchors, boost)
        return Found(
            rewrite=rewrite,
            hits=hits,
            context=context,
            context_need=result.context_need,
            anchors=anchors,
            anchor_reason=standing.reason,
        )

    def _context(self, question: Question, standing: Standing, language: str) -> tuple[str, ...]:
        if not standing.turns or self.settings.rewrite.mode == "off":
            return ()
        return context_terms(
            question.text,
            standing.turns,
            language,
            lexical=self.lexical,
            rarity=self.vocabulary.rarity,
            limit=self.settings.search.context_terms,
        )

    async def _succeeded(self, found: Found, question: Question, language: str, watch: Stopwatch) -> Found:
        """Newer pages in the place of those they replaced."""

        async def hits_of(pages: Sequence[str]) -> Sequence[Hit]:
            result = await self.searcher.search(
                wordings(question.text, found.rewrite, found.context, self.settings.search),
                audience=question.audience,
                language=language,
                anchor_pages=pages,
            )
            theirs = [hit for hit in result.hits if hit.chunk.page.id in pages]
            return await self.ranker.rerank(found.rewrite.query, theirs)

        with watch.stage("search"):
            hits = await succeeded(
                found.hits,
                found.rewrite.query,
                finder=self.index,
                audience=question.audience,
                hits_of=hits_of,
            )
        return replace(found, hits=hits)

    async def _rewrite(
        self, question: Question, turns: Sequence[Turn], language: str, watch: Stopwatch
    ) -> Rewrite:
        """While a model writes, the original wording is embedded: whichever is searched, it is half the work."""
        with watch.stage("rewrite"):
            rewriting = self.rewriter.rewrite(question.text, turns, language=language)
            if not self.asks_a_model or not turns:
                return await rewriting
            rewrite, _ = await asyncio.gather(rewriting, self.searcher.prepare(question.text))
            return rewrite
