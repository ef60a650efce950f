"""Finds the pages that an unclear question may mean, for a clarifying question. Pure.

Footnote asks only where an answer would be a guess: a question of one telling word, no thread to lean on, and several
pages named after that word that fit it alike ("leave": Leave FAQ, Leave policy). Pages that merely hold the word are no
interpretations of it. It asks once; whatever comes then is answered or declined.
"""

from __future__ import annotations

from collections.abc import Sequence

from kb.models import Hit, Rewrite, Turn
from kb.retrieval.confidence import EvidenceFeatures
from kb.text.lexicon import Lexicon, lexicon, words_of
from kb.text.wording import stem

INTERPRETATIONS = 3
"""The most interpretations that are offered; more would be a list of search results."""
ALIKE = 0.92
"""Pages that reach this share of the best final score fit alike. In the sample
handbook the page that is meant leads the next one by more ("TOGAF" 0.87,
"warranty" 0.91) where one is meant, and by less where none is ("leave" 0.96)."""


def competing_pages(
    rewrite: Rewrite, turns: Sequence[Turn], features: EvidenceFeatures, language: str
) -> tuple[str, ...]:
    """Returns the titles of the pages between which a question does not decide, best first; () where it is clear."""
    asked_before = bool(turns) and turns[-1].outcome == "unclear"
    if asked_before or rewrite.needs_rewrite or rewrite.is_follow_up:
        return ()
    telling = _telling(rewrite.query, lexicon(language))
    if len(telling) != 1:
        return ()
    named = [title for title in _rivals(features) if telling <= _stems(title)]
    if any(_stems(title) == telling for title in named[:1]) or len(named) == 1:
        return ()  # one page is about just this
    return tuple(named[:INTERPRETATIONS])


def topics_of_thread(turns: Sequence[Turn]) -> tuple[str, ...]:
    """Returns the titles of the pages that the thread's answers cited, latest first; () for fewer than two."""
    titles = [passage.title for turn in reversed(turns) for passage in turn.retrieved if passage.cited]
    distinct = tuple(dict.fromkeys(titles))[:INTERPRETATIONS]
    return distinct if len(distinct) > 1 else ()


def _rivals(features: EvidenceFeatures) -> list[str]:
    """Returns the titles of the pages that fit as well as the best passage, each once.

    None where the first passage's score is 0 or below, as the average candidate's
    is: then it does not stand there for its score (it holds a term that must be
    held, or took an older page's place), and no score tells what fits like it.
    """
    if not features.hits or features.coverages[0] < 1.0:
        return []
    best = features.hits[0].scores.final
    if best <= 0:
        return []
    fitting: list[Hit] = [
        hit
        for hit, coverage in zip(features.hits, features.coverages, strict=True)
        if coverage >= features.coverages[0] and hit.scores.final >= ALIKE * best
    ]
    return list(dict.fromkeys(hit.chunk.page.title for hit in fitting))


def _telling(text: str, words: Lexicon) -> set[str]:
    return {stem(word) for word in words_of(text) if words.is_content(word)}


def _stems(title: str) -> set[str]:
    return {stem(word) for word in words_of(title)}
