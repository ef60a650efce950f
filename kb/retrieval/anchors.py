"""Anchors: boosts pages that the thread has cited, by the question's position in its thread. Pure.

A follow-up is anchored to the pages that the last answer cited, a return to an earlier topic to that topic's pages.
Any other question gets no anchors, so that the thread's past does not hold it back. Every decision names its reason.

The boost is next to nothing where the question says what it is about, so that a better passage elsewhere wins; it is
larger where its one or two words could be about anything.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kb.config.search_settings import AnchorSettings
from kb.models import Hit, Rewrite, Turn
from kb.text.lexicon import lexicons, starts_with_phrase, words_of
from kb.text.wording import stem

RETURN_OVERLAP = 0.6
"""Share of a question's content words that an earlier turn must hold to count as its topic: most, not half."""
VAGUE = 2
"""Content words of a question up to which similarity says little about which page is meant."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadPosition:
    """`turns`: those that the question continues, oldest first. `pages`: ids of those that the last of them cited."""

    kind: Literal["first", "follow_up", "return", "new_topic", "shift"]
    reason: str
    turns: tuple[Turn, ...] = ()
    pages: tuple[str, ...] = ()
    vague: bool = False

    def anchors(self, settings: AnchorSettings) -> tuple[tuple[str, ...], float]:
        """Returns the pages that gain, and what is added to their fused scores (0..1)."""
        if not settings.enabled or not self.pages:
            return (), 0.0
        return self.pages, settings.boost_vague if self.vague else settings.boost


def position_in_thread(turns: Sequence[Turn], question: str, rewrite: Rewrite) -> ThreadPosition:
    """Tells where `question`, understood as `rewrite`, stands after `turns` (oldest first).

    A new topic keeps the turns, since their words may tell what it is about. An announced shift drops them.
    """
    if not turns:
        return ThreadPosition(kind="first", reason="the thread has no earlier question")
    if rewrite.shift and not rewrite.is_follow_up:
        return ThreadPosition(kind="shift", reason="an announced new topic: nothing of the thread counts")
    all_turns = tuple(turns)
    answered = [turn for turn in turns if _cited(turn)]
    if not answered:
        return ThreadPosition(
            kind="follow_up" if rewrite.is_follow_up else "new_topic",
            reason="no earlier answer cited a page",
            turns=all_turns,
        )
    if rewrite.is_follow_up:
        return ThreadPosition(
            kind="follow_up",
            reason="follow-up: the pages cited by the last answer",
            turns=all_turns,
            pages=_cited(answered[-1]),
            vague=len(_stems(question)) <= VAGUE,
        )
    earlier = _returned_to(answered, rewrite)
    if earlier is not None:
        index = turns.index(earlier)
        return ThreadPosition(
            kind="return",
            reason=f"return to the topic of question {index + 1} of the thread",
            turns=all_turns[: index + 1],
            pages=_cited(earlier),
            vague=True,
        )
    return ThreadPosition(kind="new_topic", reason="a new topic: no anchors", turns=all_turns)


def boost(hits: Sequence[Hit], pages: Collection[str], amount: float, *, reranked: bool = False) -> list[Hit]:
    """Adds `amount` to the final score of passages of `pages`, as `scores.anchor`, and sorts again, best first.

    `reranked`: only of passages that a cross-encoder has scored, which knows nothing of the thread; the final score of
    others still holds the boost.
    """
    if not pages or amount == 0:
        return list(hits)
    boosted = (
        replace(hit, scores=replace(hit.scores, anchor=amount, final=hit.scores.final + amount))
        if hit.chunk.page.id in pages and (not reranked or hit.scores.rerank is not None)
        else hit
        for hit in hits
    )
    return sorted(boosted, key=lambda hit: -hit.scores.final)


def _cited(turn: Turn) -> tuple[str, ...]:
    return tuple(dict.fromkeys(passage.page_id for passage in turn.retrieved if passage.cited))


def _returned_to(turns: Sequence[Turn], rewrite: Rewrite) -> Turn | None:
    """Returns the turn that shares most words with the question, of equals the latest; None where none has enough."""
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
    """Stems of the words that carry a topic, in every language with a list of function words."""
    words = words_of(text)
    while opening := max(
        starts_with_phrase(words, lexicon.ellipsis.openers + lexicon.ellipsis.shifts)
        for lexicon in lexicons()
    ):
        words = words[opening:]  # "and", "back to": they say how a question relates, not what it is about
    return {stem(word) for word in words if all(lexicon.is_content(word) for lexicon in lexicons())}
