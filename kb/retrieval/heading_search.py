"""Searches for the knowledge base's own headings as for questions whose answers are known: their sections.

A heading over a passage is part of what is embedded and of what BM25 reads. Asked for, it would find its section by
itself, and nothing could be learnt of how a cross-encoder does with real questions. So the passages of its section are
scored again as they would be without it (`unheaded`); all others, near ones of the same page too, stand as they are.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from kb.index.port import Candidate, QueryVectors, Searchable, SparseVector, StoredPassage
from kb.inference.embedder import Embedder
from kb.models import EVERYONE, Audience, Chunk, Hit
from kb.retrieval.lexical import UNSPACED, LexicalEncoder
from kb.retrieval.rerank_trial import CANDIDATES
from kb.retrieval.search import MAX_LANGUAGES
from kb.retrieval.standard_scores import SAMPLED, Probe, Scale
from kb.spelled_out import spelled_out

LEG = 50
"""Passages that each leg of a search returns."""

Vectors = NDArray[np.float32]
Fuse = Callable[[Sequence[Candidate], str], Sequence[Hit]]
"""Orders the candidates of one query as the search does, best first."""


_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Heading:
    """A heading and the passages of its section that are in the sample, by their place there."""

    text: str
    page: str
    section: tuple[str, ...]
    language: str
    own: tuple[int, ...]

    def holds(self, chunk: Chunk) -> bool:
        return (chunk.page.id, chunk.section) == (self.page, self.section)


def headings_of(sample: Sequence[StoredPassage], limit: int) -> list[Heading]:
    """Returns at most `limit`, spread over the pages: the first of each page, then the second of each, and so on.

    A page without sections goes by its title. Headings that several pages have ("Overview") say nothing of what stands
    below, nor do those of one word.
    """
    own: dict[tuple[str, tuple[str, ...]], list[int]] = defaultdict(list)
    for index, passage in enumerate(sample):
        own[passage.chunk.page.id, passage.chunk.section].append(index)
    sectioned = {page for page, section in own if section}
    by_page: dict[str, list[Heading]] = defaultdict(list)
    for (page, section), places in own.items():
        first = sample[places[0]].chunk
        if section or page not in sectioned:
            text = section[-1] if section else first.page.title
            by_page[page].append(
                Heading(
                    text=text,
                    page=page,
                    section=section,
                    language=first.page.language,
                    own=tuple(places),
                )
            )
    pages_with = Counter(
        text for of_page in by_page.values() for text in {heading.text.casefold() for heading in of_page}
    )
    telling = [
        [heading for heading in of_page if pages_with[heading.text.casefold()] == 1 and _tells(heading)]
        for of_page in by_page.values()
    ]
    rows = zip_longest(*telling)
    return [heading for row in rows for heading in row if heading is not None][:limit]


def _tells(heading: Heading) -> bool:
    words = _WORD.findall(heading.text)
    return len(words) > 1 or (heading.language in UNSPACED and len(heading.text) > 3)


def unheaded(chunk: Chunk) -> str:
    """Returns the text that is embedded, without the heading that stands right over the passage."""
    above = (chunk.page.heading, *chunk.section[:-1]) if chunk.section else ()
    text = spelled_out(chunk.text)
    return "\n".join([" › ".join(above), text]) if above else text


@dataclass(frozen=True, kw_only=True, slots=True)
class HeadingHit:
    """A passage that was found for a heading: its text as it was
    searched, and whether it is of the heading's section.
    """

    text: str
    fused: float
    right: bool


class HeadingSearch:
    def __init__(self, *, embedder: Embedder, lexical: LexicalEncoder, fuse: Fuse) -> None:
        self._embedder = embedder
        self._lexical = lexical
        self._fuse = fuse

    async def hits(
        self,
        headings: Sequence[Heading],
        sample: Sequence[StoredPassage],
        generation: Searchable,
    ) -> list[list[HeadingHit]]:
        """Returns the best passages for each heading, as many as a cross-encoder could be given, best first.

        `sample` tells how rare words are, and what is unrelated.

        Raises:
            UnavailableError: the index or the embedder does not answer.
        """
        everyone = _audience_of(sample)
        spoken = tuple(await generation.languages())[:MAX_LANGUAGES]
        vectors = np.array([passage.dense for passage in sample[:SAMPLED]], dtype=np.float32)
        scale = Scale(self._embedder, vectors)
        probes = await scale.probes(
            [heading.text for heading in headings], [heading.language for heading in headings]
        )
        found = []
        for heading, probe in zip(headings, probes, strict=True):
            languages = [heading.language, *(language for language in spoken if language != heading.language)]
            words = self._lexical.query(heading.text, languages)
            query = QueryVectors(dense=probe.vector.tolist(), lexical=words)
            found.append((query, await generation.search([query], audience=everyone, limit=LEG)))
        own = {
            candidate.chunk.id: unheaded(candidate.chunk)
            for heading, (_, candidates) in zip(headings, found, strict=True)
            for candidate in candidates
            if heading.holds(candidate.chunk)
        }
        scored = dict(zip(own, await self._embedder.embed_documents(list(own.values())), strict=True))
        rarity = await asyncio.to_thread(self._rarity, [query for query, _ in found], sample)
        return [
            await asyncio.to_thread(
                self._fused,
                heading,
                query.lexical,
                candidates,
                partial(_standard, probe, scale, scored),
                rarity,
            )
            for heading, probe, (query, candidates) in zip(headings, probes, found, strict=True)
        ]

    def _fused(
        self,
        heading: Heading,
        query: SparseVector,
        candidates: Sequence[Candidate],
        standard: Callable[[Candidate, bool], float],
        rarity: dict[int, float],
    ) -> list[HeadingHit]:
        def anew(candidate: Candidate) -> Candidate:
            chunk = candidate.chunk
            bare = heading.holds(chunk)
            words = self._lexical.document(_text(chunk, bare=bare), chunk.page.language)
            score = standard(candidate, bare)
            return replace(candidate, dense=(score,), lexical=(_bm25(query, words, rarity),))

        hits = self._fuse([anew(candidate) for candidate in candidates], heading.text)
        return [
            HeadingHit(
                text=_text(hit.chunk, bare=heading.holds(hit.chunk)),
                fused=hit.scores.fused,
                right=heading.holds(hit.chunk),
            )
            for hit in hits[: max(CANDIDATES)]
        ]

    def _rarity(self, queries: Sequence[QueryVectors], sample: Sequence[StoredPassage]) -> dict[int, float]:
        """Returns BM25's inverse document frequency of every term of the queries, by the sample."""
        asked = {term for query in queries for term in query.lexical.indices}
        holding: Counter[int] = Counter()
        for passage in sample:
            words = self._lexical.document(passage.chunk.embedded_text, passage.chunk.page.language)
            holding.update(asked.intersection(words.indices))
        return {
            term: math.log(1 + (len(sample) - holding[term] + 0.5) / (holding[term] + 0.5)) for term in asked
        }


def _standard(
    probe: Probe, scale: Scale, scored: Mapping[str, Vectors], candidate: Candidate, bare: bool
) -> float:
    """Returns the standard score of a candidate. `scored`: vectors, by chunk id, of passages without their heading."""
    if bare:
        return float(probe.scores(scored[candidate.chunk.id][None, :])[0])
    return probe.of_cosine(candidate.dense[0], length=scale.length)


def _text(chunk: Chunk, *, bare: bool) -> str:
    return unheaded(chunk) if bare else chunk.embedded_text


def _bm25(query: SparseVector, words: SparseVector, rarity: dict[int, float]) -> float:
    held = dict(zip(words.indices, words.values, strict=True))
    asked = zip(query.indices, query.values, strict=True)
    return sum(weight * rarity[term] * held.get(term, 0.0) for term, weight in asked)


def _audience_of(sample: Sequence[StoredPassage]) -> Audience:
    """Returns an audience that may read every page of the sample; only figures are kept of what it finds."""
    principals = {principal for passage in sample for principal in passage.chunk.page.audience}
    return Audience(channels=frozenset(principals - {EVERYONE}))
