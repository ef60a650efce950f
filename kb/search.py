"""Hybrid search: every wording of a question by meaning and by words, one engine call, scores fused per passage.

The engine returns both scores of every candidate for every wording, so that fusion compares like with like. The
fusions are pure functions.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kb.context import in_context
from kb.errors import IndexMismatchError, IndexUnavailableError
from kb.index.port import Candidate, QueryVectors, VectorIndex
from kb.lexical import LexicalEncoder
from kb.live_embedder import LiveEmbedder, Matching, QueryEmbedder
from kb.models import Audience, Hit, Rewrite, Scores
from kb.settings import SearchSettings

logger = logging.getLogger(__name__)

LANGUAGES_KEPT_S = 60.0
"""Seconds for which the index's languages are believed: a reindex that adds one shows after that."""
SURE = 0.9
"""A rewrite by rules of this confidence is taken at its word: a step in a series, a reference, an opener."""
SWAPS = 3
"""Generations that a question tries: one may be swapped in while it is being embedded."""
MAX_LANGUAGES = 12
"""Languages by which a question is stemmed; more cost time and find nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WeightedQuery:
    """One wording of the question and its share in the fused score.

    `context`: it holds words of the thread besides the question's. It helps to find and to order, but likeness to it
    is no evidence that a passage answers: `Scores.dense` and `Scores.lexical` leave it out. `language`: ISO 639-1, by
    which its words are stemmed; "" for the question's.
    """

    text: str
    weight: float
    context: bool = False
    language: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchResult:
    """Hits by `final` (equal to `fused` at this stage), best first.

    `context_need`: how much the words of the thread counted, 0..1 of their weight.
    """

    hits: list[Hit]
    context_need: float = 0.0
    embed_ms: float
    search_ms: float


class Search:
    """`live`: tells the embedder that the index was made with; without it `embedder` made the index. `monotonic` gives
    seconds.
    """

    def __init__(
        self,
        index: VectorIndex,
        embedder: QueryEmbedder,
        lexical: LexicalEncoder,
        settings: SearchSettings,
        *,
        live: LiveEmbedder | None = None,
        monotonic: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._lexical = lexical
        self._settings = settings
        self._live = live
        self._monotonic = monotonic
        self._languages: tuple[str, ...] = ()
        self._languages_at: float | None = None

    async def prepare(self, text: str) -> None:
        """Embeds a wording ahead of its search; the embedder remembers it. Raises `EmbedderUnavailableError`."""
        await (await self._matching()).embedder.embed_queries([text])

    async def search(
        self,
        queries: Sequence[WeightedQuery],
        *,
        audience: Audience,
        language: str,
        anchor_pages: Sequence[str] = (),
    ) -> SearchResult:
        """Searches for all wordings at once. `language` is the question's (ISO 639-1).

        Raises:
            IndexUnavailableError, EmbedderUnavailableError: an outage, never an empty result.
        """
        queries = merged(queries)
        for _ in range(SWAPS):
            matching = await self._matching()
            try:
                return await self._searched(queries, matching, audience, language, anchor_pages)
            except IndexMismatchError as error:
                logger.info("search.swapped_meanwhile", extra={"reason": str(error)})
                mismatch = error
                if self._live is not None:
                    self._live.forget(matching)
        raise IndexUnavailableError(
            f"the index and the question's vectors do not match: {mismatch}"
        ) from mismatch

    async def _matching(self) -> Matching:
        if self._live is None:
            return Matching(embedder=self._embedder, made_with=None)
        return await self._live.now()

    async def _searched(
        self,
        queries: Sequence[WeightedQuery],
        matching: Matching,
        audience: Audience,
        language: str,
        anchor_pages: Sequence[str],
    ) -> SearchResult:
        """
        Raises:
            IndexMismatchError: another generation was swapped in since the embedder was chosen.
        """
        started = self._monotonic()
        dense = await matching.embedder.embed_queries([query.text for query in queries])
        embedded = self._monotonic()
        languages = await self.languages()
        candidates = await self._index.search(
            [
                QueryVectors(
                    dense=vector.tolist(),
                    lexical=self._lexical.query(query.text, [query.language or language, *languages]),
                )
                for query, vector in zip(queries, dense, strict=True)
            ],
            audience=audience,
            limit=self._settings.leg_limit,
            anchor_pages=anchor_pages,
            made_with=matching.made_with,
        )
        hits = fuse(candidates, queries, self._settings)
        done = self._monotonic()
        return SearchResult(
            hits=hits,
            context_need=context_need(candidates, queries, self._settings),
            embed_ms=(embedded - started) * 1000,
            search_ms=(done - embedded) * 1000,
        )

    async def languages(self) -> Sequence[str]:
        """ISO 639-1 codes of the pages, most frequent first, at most `MAX_LANGUAGES`; asked of the index once a minute.

        Raises:
            IndexUnavailableError: it cannot be told.
        """
        now = self._monotonic()
        if self._languages_at is None or now - self._languages_at > LANGUAGES_KEPT_S:
            self._languages = tuple(await self._index.languages())[:MAX_LANGUAGES]
            self._languages_at = now if self._languages else None
        return self._languages


def wordings(
    question: str,
    rewrite: Rewrite,
    context: Sequence[str],
    settings: SearchSettings,
    *,
    pages_language: str = "",
) -> list[WeightedQuery]:
    """What is searched for: the user's own words, the rewrite, its translation, and the question among the thread's words.

    `pages_language`: the ISO 639-1 code of the translation's language.
    """
    guessed = rewrite.method == "heuristic" and rewrite.confidence < SURE
    original = settings.original_weight_guess if guessed else settings.original_weight
    queries = [
        WeightedQuery(text=question, weight=original),
        *with_translation(rewrite, rewrite.query, 1.0 - original, settings, pages_language=pages_language),
    ]
    if context:
        rewritten = rewrite.needs_rewrite and not guessed
        weight = settings.context_weight_rewritten if rewritten else settings.context_weight
        queries.append(WeightedQuery(text=in_context(question, context), weight=weight, context=True))
    return merged(queries)


def with_translation(
    rewrite: Rewrite, text: str, weight: float, settings: SearchSettings, *, pages_language: str
) -> list[WeightedQuery]:
    """`text`, and beside it the rewrite's translation where there is one, which gets its share of the weight."""
    share = settings.translation_share if rewrite.translated else 0.0
    return [
        WeightedQuery(text=text, weight=weight * (1 - share)),
        WeightedQuery(text=rewrite.translated, weight=weight * share, language=pages_language),
    ]


def merged(queries: Sequence[WeightedQuery]) -> list[WeightedQuery]:
    """Equal wordings become one with their weights added; wordings without weight are dropped."""
    weights: dict[tuple[str, bool, str], float] = {}
    for query in queries:
        key = (query.text, query.context, query.language)
        weights[key] = weights.get(key, 0.0) + query.weight
    return [
        WeightedQuery(text=text, weight=weight, context=context, language=language)
        for (text, context, language), weight in weights.items()
        if weight > 0
    ]


def fuse(
    candidates: Sequence[Candidate], queries: Sequence[WeightedQuery], settings: SearchSettings
) -> list[Hit]:
    """Candidates as hits, best first, equal ones by chunk id so that the order is always the same.

    The scores of a candidate are in the order of `queries`; `fused` is 0..1. The thread's words weigh the less the
    better the question finds without them: that is how a new topic in an old thread is told from a follow-up.
    """
    if not candidates:
        return []
    dense = np.array([candidate.dense for candidate in candidates], dtype=float)
    lexical = np.array([candidate.lexical for candidate in candidates], dtype=float)
    own = np.array([0.0 if query.context else query.weight for query in queries])
    evidence = own / own.sum()
    need = context_need(candidates, queries, settings)
    weights = np.array([query.weight * (need if query.context else 1.0) for query in queries])
    shares = weights / weights.sum()
    if settings.fusion == "rrf":
        fused = by_rank(dense, lexical, dense_weight=settings.dense_weight, k=settings.rrf_k)
    else:
        fused = by_score(dense, lexical, dense_weight=settings.dense_weight)
    columns = zip(candidates, dense @ evidence, lexical @ evidence, fused @ shares, strict=True)
    hits = [
        Hit(
            chunk=candidate.chunk,
            scores=Scores(
                dense=float(of_dense), lexical=float(of_lexical), fused=float(of_both), final=float(of_both)
            ),
        )
        for candidate, of_dense, of_lexical, of_both in columns
    ]
    return sorted(hits, key=lambda hit: (-hit.scores.final, hit.chunk.id))


def context_need(
    candidates: Sequence[Candidate], queries: Sequence[WeightedQuery], settings: SearchSettings
) -> float:
    """How much a question needs the words of its thread, 0..1, by the best cosine that its own wordings find."""
    own = [at for at, query in enumerate(queries) if not query.context]
    if not candidates or len(own) == len(queries):
        return 0.0
    best = max(candidate.dense[at] for candidate in candidates for at in own)
    span = settings.context_strong - settings.context_weak
    return min(1.0, max(0.0, (settings.context_strong - best) / span)) if span > 0 else 1.0


def by_score(
    dense: NDArray[np.float64], lexical: NDArray[np.float64], *, dense_weight: float
) -> NDArray[np.float64]:
    """Cosine and BM25 blended, 0..1. All arrays have the shape (candidates, queries).

    A cosine below 0 counts as 0. BM25 has no upper end: it is divided by the best of its query.
    """
    best = lexical.max(axis=0)
    relative = np.divide(lexical, best, out=np.zeros_like(lexical), where=best > 0)
    fused: NDArray[np.float64] = dense_weight * np.clip(dense, 0.0, 1.0) + (1 - dense_weight) * relative
    return fused


def by_rank(
    dense: NDArray[np.float64], lexical: NDArray[np.float64], *, dense_weight: float, k: int
) -> NDArray[np.float64]:
    """Weighted reciprocal rank fusion (Cormack et al. 2009), scaled so that first in both is 1. Shapes as `by_score`.

    A passage without a term of the query has no lexical rank. Equal scores share the better rank.
    """
    of_dense = (k + 1) / (k + _ranks(dense))
    of_lexical = np.where(lexical > 0, (k + 1) / (k + _ranks(lexical)), 0.0)
    return dense_weight * of_dense + (1 - dense_weight) * of_lexical


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 for the best of each column."""
    better = np.sum(scores[:, None, :] < scores[None, :, :], axis=1, dtype=np.float64)
    return np.add(better, 1.0)
