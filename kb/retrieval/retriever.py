"""Finds the passages for a question in its thread, best first.

rewrite -> position in the thread -> search -> anchors -> rerank -> exact terms -> supersession -> named places

A question that asks several things passes all steps but the first two once for each part and once as a whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kb.config.settings import Settings
from kb.index.port import VectorIndex
from kb.models import Audience, Hit, Question, Rewrite, Turn
from kb.retrieval.anchors import ThreadPosition, boost, position_in_thread
from kb.retrieval.exact_terms import holds, put_holding_first
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.named_places import keep_named_places
from kb.retrieval.queries import WeightedQuery, build_queries, merge_queries, with_translation
from kb.retrieval.rerank import Reranker
from kb.retrieval.result import PartResult, RetrievalResult, interleaved
from kb.retrieval.search import Search, SearchResult
from kb.retrieval.supersession import replace_superseded
from kb.retrieval.thread_words import context_terms
from kb.retrieval.vocabulary import Vocabulary
from kb.rewriting.rewriter import Rewriter
from kb.runtime.stopwatch import Stopwatch
from kb.text.language import detect


@dataclass(frozen=True, kw_only=True, slots=True)
class _Scope:
    """For whom and along which pages a question is searched; each of its parts shares it."""

    audience: Audience
    language: str
    watch: Stopwatch
    anchors: Sequence[str] = ()
    boost: float = 0.0
    required: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Retriever:
    """`rewriter` corrects typos towards words found on public pages; `outside_rewriter` knows no page and serves
    audiences that are not everyone. `asks_a_model`: the rewriter may take as long as a model does.
    """

    rewriter: Rewriter
    outside_rewriter: Rewriter
    index: VectorIndex
    searcher: Search
    ranker: Reranker
    lexical: LexicalEncoder
    vocabulary: Vocabulary
    settings: Settings
    asks_a_model: bool

    async def warm(self) -> None:
        """Makes the first question in each of the pages' languages as fast as later ones.

        Raises:
            UnavailableError: the index or the embedder does not answer.
        """
        await self.searcher.warm()

    async def find(
        self, question: Question, turns: Sequence[Turn], language: str, watch: Stopwatch
    ) -> RetrievalResult:
        """Searches for a question whose readable earlier turns are `turns`; the time of each stage goes to `watch`.

        Raises:
            UnavailableError: the index or the embedder does not answer.
        """
        pages_language = await self._pages_language()
        with watch.stage("rewrite"):
            rewrite, position, context = await self._understood(question, turns, language, pages_language)
        if rewrite.clarify:
            return RetrievalResult(rewrite=rewrite)
        anchors, anchor_boost = position.anchors(self.settings.anchors)
        scope = _Scope(
            audience=question.audience,
            language=language,
            anchors=anchors,
            boost=anchor_boost,
            required=rewrite.required,
            watch=watch,
        )
        whole = build_queries(
            question.text, rewrite, context, self.settings.search, pages_language=pages_language
        )
        (hits, context_share), *parts = await asyncio.gather(
            self._search(rewrite.query, whole, scope, read_as=rewrite.translated),
            *(self._search(part, self._part(part, rewrite, pages_language), scope) for part in rewrite.parts),
        )
        return RetrievalResult(
            rewrite=rewrite,
            hits=interleaved([*(of_part for of_part, _ in parts), hits]),
            parts=tuple(
                PartResult(question=part, hits=of_part)
                for part, (of_part, _) in zip(rewrite.parts, parts, strict=True)
            ),
            context=context,
            context_share=context_share,
            anchors=anchors,
            anchor_reason=position.reason,
            reranking=await self.ranker.trial(),
            reranker_missing=self.ranker.wanted and not self.ranker.available,
        )

    async def search_pages(self, query: str, audience: Audience, language: str) -> Sequence[Hit]:
        """Searches for one query without a thread: what a model that writes an answer searches for by itself.

        `language` is the question's; a model that has read the pages may well search in theirs.

        Raises:
            UnavailableError: the index or the embedder does not answer.
        """
        scope = _Scope(audience=audience, language=detect(query, hint=language), watch=Stopwatch())
        hits, _ = await self._search(query, [WeightedQuery(text=query, weight=1.0)], scope)
        return hits

    async def _search(
        self, query: str, queries: Sequence[WeightedQuery], scope: _Scope, *, read_as: str = ""
    ) -> tuple[list[Hit], float]:
        """Returns the passages of one question, best first, and how much the words of the thread counted.

        `read_as`: the query in the pages' language, for a cross-encoder that reads no other; "" for as it is.
        """
        result = await self._searched(queries, scope, scope.anchors)
        hits = boost(result.hits, scope.anchors, scope.boost)
        with scope.watch.stage("rerank"):
            hits = await self.ranker.rerank(read_as or query, hits)
        # Again, since a cross-encoder that reads a vague question drops the page that the thread is about.
        hits = boost(hits, scope.anchors, scope.boost, reranked=True)
        hits = await self._holding(hits, query, scope)
        hits = await self._without_superseded(hits, query, queries, scope, read_as or query)
        return keep_named_places(hits, query), result.context_share

    async def _searched(
        self, queries: Sequence[WeightedQuery], scope: _Scope, pages: Sequence[str]
    ) -> SearchResult:
        result = await self.searcher.search(
            queries,
            audience=scope.audience,
            language=scope.language,
            anchor_pages=pages,
            every=bool(scope.required),  # what a question must find may stand in the last of them
        )
        scope.watch.add("embed", result.embed_ms)
        scope.watch.add("search", result.search_ms)
        return result

    def _part(self, part: str, rewrite: Rewrite, pages_language: str) -> list[WeightedQuery]:
        """Builds the queries of a part: its own words, and the whole question for what it leaves to the others.

        Only the whole is translated: it asks all of the parts, so its translation takes its share of the part's weight.
        """
        settings = self.settings.search
        own, *translation = with_translation(rewrite, part, 1.0, settings, pages_language=pages_language)
        weight = settings.part_weight
        return merge_queries(
            [
                replace(own, weight=own.weight * weight),
                replace(own, text=rewrite.query, weight=own.weight * (1 - weight)),
                *translation,
            ]
        )

    async def _holding(self, hits: list[Hit], query: str, scope: _Scope) -> list[Hit]:
        """Puts passages that hold the required terms first; searches for the terms alone where no hit holds them."""
        terms = [term for term in scope.required if term.casefold() in query.casefold()]
        if not terms or any(holds(hit.chunk, terms) for hit in hits):
            return put_holding_first(hits, terms) if terms else hits
        result = await self._searched([WeightedQuery(text=" ".join(terms), weight=1.0)], scope, ())
        return [*(hit for hit in result.hits if holds(hit.chunk, terms)), *hits]

    def _context(self, question: Question, position: ThreadPosition, language: str) -> tuple[str, ...]:
        if not position.turns or self.settings.rewrite.mode == "off":
            return ()
        return context_terms(
            question.text,
            position.turns,
            language,
            lexical=self.lexical,
            rarity=self.vocabulary.rarity,
            limit=self.settings.search.context_terms,
        )

    async def _without_superseded(
        self, hits: Sequence[Hit], query: str, queries: Sequence[WeightedQuery], scope: _Scope, read_as: str
    ) -> list[Hit]:
        """Puts newer pages in the place of those they replaced."""

        async def hits_of(pages: Sequence[str]) -> Sequence[Hit]:
            result = await self.searcher.search(
                queries, audience=scope.audience, language=scope.language, anchor_pages=pages
            )
            of_pages = [hit for hit in result.hits if hit.chunk.page.id in pages]
            return await self.ranker.rerank(read_as, of_pages)

        with scope.watch.stage("search"):
            return await replace_superseded(
                hits, query, finder=self.index, audience=scope.audience, hits_of=hits_of
            )

    async def _pages_language(self) -> str:
        """Returns the language of most pages where a model can translate into it, else ""."""
        languages = await self.searcher.languages() if self.asks_a_model else ()
        return next(iter(languages), "")

    async def _understood(
        self, question: Question, turns: Sequence[Turn], language: str, pages_language: str
    ) -> tuple[Rewrite, ThreadPosition, tuple[str, ...]]:
        """Returns the question's rewrite, its position in the thread, and the words of the thread to search with it.

        Meanwhile the question's own wording is embedded, since it is searched whatever the rewrite is. The embedding
        starts first, because the rules do not yield to the event loop.
        """
        understanding = self._read(question, turns, language, pages_language)
        if not turns and not (self.asks_a_model and pages_language not in ("", language)):
            return await understanding
        _, understood = await asyncio.gather(self.searcher.prepare(question.text), understanding)
        return understood

    async def _read(
        self, question: Question, turns: Sequence[Turn], language: str, pages_language: str
    ) -> tuple[Rewrite, ThreadPosition, tuple[str, ...]]:
        rewriter = self.rewriter if question.audience.everyone else self.outside_rewriter
        rewrite = await rewriter.rewrite(
            question.text, turns, language=language, pages_language=pages_language
        )
        position = position_in_thread(turns, question.text, rewrite)
        return rewrite, position, () if rewrite.clarify else self._context(question, position, language)
