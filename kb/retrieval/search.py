"""Hybrid search: every query of a question by dense vector and by BM25, in one engine call, fused per passage.

The engine returns both scores of every candidate for every query, so that fusion compares like with like
(`kb.retrieval.fusion`). Similarity leaves this module as standard scores only (`kb.retrieval.standard_scores`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from kb.config.search_settings import SearchSettings
from kb.errors import IndexMismatchError, IndexUnavailableError
from kb.index.port import Candidate, FoundScores, QueryVectors, Searchable
from kb.inference.embedder import Embedder
from kb.inference.sentence_vectors import SentenceVectors
from kb.models import Audience, Hit
from kb.retrieval.fusion import FusedScores, fuse_scores, in_order
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.live_embedder import LiveEmbedder, Matching
from kb.retrieval.queries import WeightedQuery, merge_queries
from kb.retrieval.standard_scores import SAMPLED, TYPICAL, Probe, Scale
from kb.runtime.tracing import span

logger = logging.getLogger(__name__)
_T = TypeVar("_T")

BELIEVED_S = 60.0
"""Seconds for which the index's languages and sample are cached; a reindex that adds pages shows after that."""
SWAPS = 3
"""Attempts of a question: another generation may be swapped in while it is being embedded."""
PASSAGES = 40
"""Passages whose payloads are read, of a search and of its anchor pages: the most that a cross-encoder reads by
default."""
MAX_LANGUAGES = 12
"""Languages by which a question is stemmed; more cost time and find nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchResult:
    """Hits by `final` (equal to `fused` at this stage), best first.

    `context_share`: the share (0..1) of its weight with which the query of the thread's words counted.
    """

    hits: list[Hit]
    context_share: float = 0.0
    embed_ms: float
    search_ms: float


@dataclass(kw_only=True)
class _LiveGeneration:
    """One generation of the index with its embedder, its scale, and the sentences embedded for it."""

    matching: Matching
    scale: Scale
    sentences: SentenceVectors
    sampled_at: float


class Search:
    """Searches an index. `live` chooses the embedder that the index was made with; without it that is `embedder`.

    `passages`: the most that a caller looks at. `monotonic` gives seconds.
    """

    def __init__(
        self,
        index: Searchable,
        embedder: Embedder,
        lexical: LexicalEncoder,
        settings: SearchSettings,
        *,
        live: LiveEmbedder | None = None,
        passages: int = PASSAGES,
        monotonic: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._lexical = lexical
        self._settings = settings
        self._embedders = live
        self._passages = max(passages, settings.keep)
        self._monotonic = monotonic
        self._languages: tuple[str, ...] = ()
        self._languages_at: float | None = None
        self._live: _LiveGeneration | None = None

    async def prepare(self, text: str) -> None:
        """Embeds a query ahead of its search; the embedder caches it. Raises `EmbedderUnavailableError`."""
        await (await self._matching()).embedder.embed_queries([text])

    async def warm(self) -> None:
        """Embeds the typical questions of the pages' languages and of English, most frequent languages first.

        Otherwise the first question in each language does so, and waits half a second longer.

        Raises:
            IndexUnavailableError, EmbedderUnavailableError: an outage.
        """
        languages = dict.fromkeys([*await self.languages(), TYPICAL])

        async def prepare(live: _LiveGeneration) -> None:
            for language in languages:
                await live.scale.prepare(language)

        await self._on_live(prepare)

    async def search(
        self,
        queries: Sequence[WeightedQuery],
        *,
        audience: Audience,
        language: str,
        anchor_pages: Sequence[str] = (),
        every: bool = False,
    ) -> SearchResult:
        """Searches for all queries at once. `language` is the question's (ISO 639-1).

        Returns the best `passages`, and as many of the anchor pages; with `every`, all that any leg found.

        Raises:
            IndexUnavailableError, EmbedderUnavailableError: an outage, never an empty result.
        """
        queries = merge_queries(queries)
        return await self._on_live(
            lambda live: self._search(queries, live, audience, language, anchor_pages, every)
        )

    async def nearness(self, query: str, texts: Sequence[str], *, language: str) -> Sequence[float]:
        """Returns the similarity of each text to a question, as standard scores against the passages of the index.

        Raises:
            IndexUnavailableError, EmbedderUnavailableError: an outage.
        """

        async def near(live: _LiveGeneration) -> Sequence[float]:
            (probe,) = await live.scale.probes([query], [language])
            vectors = await live.sentences.of(texts)
            return probe.scores(np.stack([vectors[text] for text in texts])).tolist() if texts else []

        return await self._on_live(near)

    async def languages(self) -> Sequence[str]:
        """Returns the ISO 639-1 codes of the pages, most frequent first, at most `MAX_LANGUAGES`; read once a minute.

        Raises:
            IndexUnavailableError: it cannot be told.
        """
        now = self._monotonic()
        if self._languages_at is None or now - self._languages_at > BELIEVED_S:
            self._languages = tuple(await self._index.languages())[:MAX_LANGUAGES]
            self._languages_at = now if self._languages else None
        return self._languages

    async def _on_live(self, use: Callable[[_LiveGeneration], Awaitable[_T]]) -> _T:
        """Calls `use`, again where another generation was swapped in meanwhile."""
        for _ in range(SWAPS):
            matching = await self._matching()
            try:
                return await use(await self._now(matching))
            except IndexMismatchError as error:
                logger.info("search.swapped_meanwhile", extra={"reason": str(error)})
                mismatch = error
                self._live = None
                if self._embedders is not None:
                    self._embedders.forget(matching)
        raise IndexUnavailableError(
            f"the index and the question's vectors do not match: {mismatch}"
        ) from mismatch

    async def _now(self, matching: Matching) -> _LiveGeneration:
        """
        Raises:
            IndexMismatchError: the sample is of another generation than the embedder.
        """
        live, now = self._of(matching), self._monotonic()
        if live is not None and now - live.sampled_at < BELIEVED_S:
            return live
        sample = np.array([passage.dense for passage in await self._index.sample(SAMPLED)], dtype=np.float32)
        dimension = matching.embedder.spaces[-1].part.stop
        if len(sample) and sample.shape[1] != dimension:
            raise IndexMismatchError(f"the index has vectors of {sample.shape[1]} numbers, not {dimension}")
        if (live := self._of(matching)) is not None:  # if another task has prepared it meanwhile
            live.scale.renew(sample)
            live.sampled_at = now
            return live
        self._live = _LiveGeneration(
            matching=matching,
            scale=Scale(matching.embedder, sample),
            sentences=SentenceVectors(matching.embedder),
            sampled_at=now,
        )
        return self._live

    def _of(self, matching: Matching) -> _LiveGeneration | None:
        return self._live if self._live is not None and self._live.matching == matching else None

    async def _matching(self) -> Matching:
        if self._embedders is None:
            return Matching(embedder=self._embedder, made_with=None)
        return await self._embedders.now()

    async def _search(
        self,
        queries: Sequence[WeightedQuery],
        live: _LiveGeneration,
        audience: Audience,
        language: str,
        anchor_pages: Sequence[str],
        every: bool,
    ) -> SearchResult:
        """
        Raises:
            IndexMismatchError: another generation was swapped in since the embedder was chosen.
        """
        started = self._monotonic()
        spoken = [query.language or language for query in queries]
        with span("embed", wordings=len(queries)):
            probes = await live.scale.probes([query.text for query in queries], spoken)
        embedded = self._monotonic()
        with span("search", wordings=len(queries), anchors=len(anchor_pages)):
            languages = await self.languages()
            most = None if every else self._passages
            choice = _Choice(probes, live.scale.length, queries, self._settings, most)
            found = await self._index.search(
                [
                    QueryVectors(
                        dense=probe.vector.tolist(),
                        lexical=self._lexical.query(
                            query.text, [spoken_in, *(other for other in languages if other != spoken_in)]
                        ),
                    )
                    for query, spoken_in, probe in zip(queries, spoken, probes, strict=True)
                ],
                audience=audience,
                limit=self._settings.leg_limit,
                anchor_pages=anchor_pages,
                made_with=live.matching.made_with,
                choose=choice,
            )
            hits = choice.hits(found)
        done = self._monotonic()
        return SearchResult(
            hits=hits,
            context_share=choice.context_share,
            embed_ms=(embedded - started) * 1000,
            search_ms=(done - embedded) * 1000,
        )


class _Choice:
    """Fuses the scores of what was found and chooses the best before payloads are read. Runs in the index's threads."""

    def __init__(
        self,
        probes: Sequence[Probe],
        length: float,
        queries: Sequence[WeightedQuery],
        settings: SearchSettings,
        most: int | None,
    ) -> None:
        """Takes the `length` of the passages' vectors; `most` is None for every passage."""
        self._lengths = np.array([probe.length for probe in probes])
        self._zeros = np.array([probe.zero for probe in probes])
        self._length = length
        self._queries = queries
        self._settings = settings
        self._most = most
        self.scores: FusedScores | None = None

    def __call__(self, found: FoundScores) -> Sequence[int]:
        dense = found.dense * self._lengths * self._length - self._zeros  # as `Probe.of_cosine` does
        self.scores = fuse_scores(dense, found.lexical, self._queries, self._settings)
        if self._most is None:
            return range(len(dense))
        best = self.scores.best(self._most)
        return sorted({*best, *self.scores.best(self._most, among=found.anchored)})

    def hits(self, candidates: Sequence[Candidate]) -> list[Hit]:
        if self.scores is None:
            return []
        scores = self.scores
        return in_order(
            Hit(chunk=candidate.chunk, scores=scores.of(candidate.row)) for candidate in candidates
        )

    @property
    def context_share(self) -> float:
        return self.scores.context_share if self.scores is not None else 0.0
