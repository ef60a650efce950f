"""Where a question stands in its thread, and the pages that gain from it
in its search. Pure; every decision has its reason.

A follow-up stays with the pages cited right before. A question that returns to an earlier topic of the thread gets
that topic's pages. Anything else is a shift and gets none, so that the thread's past does not hold it back.

How much they gain is a matter of evidence: next to nothing where the question says what it is about, so that a better
passage elsewhere wins; more where its one or two words could be about anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kb.config.settings import AnchorSettings
from kb.models import Hit, Rewrite, Turn
from kb.text.lexicon import languages, lexicon, starts_with_phrase, words_of

RETURN_OVERLAP = 0.6
"""Share of a question's content words that an earlier turn must hold to be taken as its topic: most, not half."""
STEM = 5
"""Words that share this many letters count as one ("holiday", "holidays"): rough, but the same in every language."""
VAGUE = 2
"""Content words. With so few, similarity to a passage says little about which page is meant."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadPosition:
    """`turns` are those that the question goes on from, oldest first; `pages` were cited by the last of them."""

    kind: Literal["first", "follow_up", "return", "new_topic", "shift"]
    reason: str
    turns: tuple[Turn, ...] = ()
    pages: tuple[str, ...] = ()
    vague: bool = False

    def anchors(self, settings: AnchorSettings) -> tuple[tuple[str, ...], float]:
        """The pages that gain, and what is added to their fused scores (0..1)."""
        if not settings.enabled or not self.pages:
            return (), 0.0
        return self.pages, settings.boost_vague if self.vague else settings.boost


def position_in_thread(turns: Sequence[Turn], question: str, rewrite: Rewrite) -> ThreadPosition:
    """Where `question` stands after `turns` (oldest first), as `rewrite` understands it.

    A new topic keeps the turns: their words may still tell what it is about. An announced shift drops them.
    """
    if not turns:
        return ThreadPosition(kind="first", reason="the thread has no earlier question")
    if rewrite.shift and not rewrite.is_follow_up:
        return ThreadPosition(kind="shift", reason="an announced new topic: nothing of the thread counts")
    everything = tuple(turns)
    answered = [turn for turn in turns if _cited(turn)]
    if not answered:
        kind: Literal["follow_up", "new_topic"] = "follow_up" if rewrite.is_follow_up else "new_topic"
        return ThreadPosition(kind=kind, reason="no earlier answer cited a page", turns=everything)
    if rewrite.is_follow_up:
        return ThreadPosition(
            kind="follow_up",
            reason="follow-up: the pages cited by the last answer",
            turns=everything,
            pages=_cited(answered[-1]),
            vague=len(_stems(question)) <= VAGUE,
        )
    earlier = _returned_to(answered, rewrite)
    if earlier is not None:
        index = turns.index(earlier)
        return ThreadPosition(
            kind="return",
            reason=f"return to the topic of question {index + 1} of the thread",
            turns=everything[: index + 1],
            pages=_cited(earlier),
            vague=True,
        )
    return ThreadPosition(kind="new_topic", reason="a new topic: no anchors", turns=everything)


def boost(hits: Sequence[Hit], pages: Collection[str], amount: float) -> list[Hit]:
    """Adds `amount` to the fused score of passages of `pages`, as `scores.anchor`, and orders anew.

    Without pages, or without an amount, the very same hits in the same order.
    """
    if not pages or amount == 0:
        return list(hits)
    return _ordered(
        replace(hit, scores=replace(hit.scores, anchor=amount, final=hit.scores.fused + amount))
        if hit.chunk.page.id in pages
        else hit
        for hit in hits
    )


def boost_final(hits: Sequence[Hit], pages: Collection[str], amount: float) -> list[Hit]:
    """Lets anchors count again in the order that a cross-encoder made, which knows nothing of the thread.

    Hits without a cross-encoder score are left alone: `boost` is still in their final score.
    """
    if not pages or amount == 0:
        return list(hits)
    return _ordered(
        replace(hit, scores=replace(hit.scores, anchor=amount, final=hit.scores.final + amount))
        if hit.chunk.page.id in pages and hit.scores.rerank is not None
        else hit
        for hit in hits
    )


def _ordered(hits: Iterable[Hit]) -> list[Hit]:
    """Best first; equal ones keep their order."""
    return sorted(hits, key=lambda hit: -hit.scores.final)


def _cited(turn: Turn) -> tuple[str, ...]:
    return tuple(dict.fromkeys(passage.page_id for passage in turn.retrieved if passage.cited))


def _returned_to(turns: Sequence[Turn], rewrite: Rewrite) -> Turn | None:
    """The turn that shares most words with the question, the latest of equal ones; None where none shares enough."""
    wanted = _stems(rewrite.query)
    if not wanted:
        return None
    best, best_overlap = None, RETURN_OVERLAP
    for turn in turns:
        titles = [passage.title for passage in turn.retrieved if passage.cited]
        stems = _stems(" ".join([turn.question, turn.rewritten or "", *turn.topics, *titles]))
        overlap = len(wanted & stems) / len(wanted)
        if overlap >= best_overlap:
            best, best_overlap = turn, overlap
    return best


def _stems(text: str) -> set[str]:
    """The beginnings of the words that carry a topic, in every language that we know the function words of."""
    lexicons = [lexicon(language) for language in languages()]
    words = words_of(text)
    while opening := max(
        starts_with_phrase(words, words_of_language.ellipsis.openers + words_of_language.ellipsis.shifts)
        for words_of_language in lexicons
    ):
        words = words[opening:]  # "and", "back to": they say how a question relates, not what it is about
    return {
        word[:STEM]
        for word in words
        if all(words_of_language.is_content(word) for words_of_language in lexicons)
    }
