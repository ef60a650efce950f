"""Walks conversations turn by turn through the real pipeline and measures what each turn finds.

A turn's thread is what a person would have before them: the earlier questions as they were asked, and behind each
either the data set's own answer ("reference") or what Footnote answers ("own"). What the thread rests on, its
anchors, is always what Footnote itself found before, never a gold passage.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from kb.answer import Answer
from kb.errors import UnavailableError
from kb.evaluation.datasets import Conversation, DataSet, LabelledTurn
from kb.evaluation.metrics import measure
from kb.evaluation.slices import Slice, same_words, slices_of
from kb.models import Audience, Hit, Question, Retrieved, Rewrite, Turn
from kb.pipeline import Pipeline
from kb.retrieval.result import RetrievalResult
from kb.rewriting.rewriter import Rewriter

RANKED = 20
"""Passages kept of each ranking: the deepest that any measure looks."""

Answers = Literal["reference", "own"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """What a turn leaves in its thread.

    With `answers` "reference" the pages of the best `cited` of `keep` passages count as cited by the answer, since
    the data set's answers cite nothing of ours. With "own" the answer's citations are real.
    """

    answers: Answers = "reference"
    cited: int = 1
    keep: int = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnResult:
    """One turn as it was understood and what it found. `figures` is in the order of `METRICS`, None if not labelled."""

    conversation: str
    number: int
    question: str
    gold_rewrite: str
    rewrite: Rewrite
    anchors: tuple[str, ...]
    anchor_reason: str
    ranking: tuple[str, ...]
    slices: frozenset[Slice]
    figures: tuple[float, ...] | None
    timings_ms: Mapping[str, float] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.conversation}:{self.number}"


class GoldRewriter:
    """Implements `Rewriter` with a data set's own rewrites: what a perfect rewriter would be worth.

    Only the query is gold. Whether a question follows up, on which anchors depend, stays `judge`'s opinion: the gold
    labels must not choose the anchors.
    """

    def __init__(self, conversations: Sequence[Conversation], judge: Rewriter) -> None:
        self._judge = judge
        self._gold = {
            (
                tuple(earlier.question for earlier in talk.turns[: turn.number - 1]),
                turn.question,
            ): turn.gold_rewrite
            for talk in conversations
            for turn in talk.turns
        }

    async def rewrite(
        self, question: str, turns: Sequence[Turn], *, language: str, pages_language: str = ""
    ) -> Rewrite:
        """Rewrites by the data set; a question that it does not have is left to `judge`, and so is the translation."""
        judged = await self._judge.rewrite(question, turns, language=language, pages_language=pages_language)
        gold = self._gold.get((tuple(turn.question for turn in turns), question))
        if gold is None:
            return judged
        needed = same_words(gold) != same_words(question)
        return replace(
            judged,
            query=gold if needed else question,
            needs_rewrite=needed,
            reasoning="the data set's rewrite",
            confidence=1.0,
            method="model" if needed else "none",
            clarify=False,
        )


async def walk(
    pipeline: Pipeline, data: DataSet, conversation: Conversation, memory: Memory
) -> AsyncIterator[TurnResult]:
    """Asks every question of a conversation in its order, each in the thread of those before.

    Raises:
        UnavailableError: the index or a model does not answer; half a measurement is worthless.
    """
    turns: list[Turn] = []
    for labelled in conversation.turns:
        question = Question(
            id=f"{conversation.id}:{labelled.number}", text=labelled.question, audience=Audience()
        )
        found, remembered = await _ask(pipeline, question, turns, labelled, memory)
        turns.append(remembered)
        yield _result(data, conversation, labelled, found)


async def _ask(
    pipeline: Pipeline,
    question: Question,
    turns: Sequence[Turn],
    labelled: LabelledTurn,
    memory: Memory,
) -> tuple[RetrievalResult, Turn]:
    if memory.answers == "own":
        answer = await pipeline.answer(question, turns)
        return _found_by(answer), pipeline.turn(answer)
    found = await pipeline.find(question, turns)
    return found, remembered(labelled, found, memory)


def remembered(labelled: LabelledTurn, found: RetrievalResult, memory: Memory) -> Turn:
    """Returns what the thread remembers of a turn whose answer is the data set's."""
    return Turn(
        question=labelled.question,
        answer=labelled.answer,
        rewritten=found.rewrite.query if found.rewrite.needs_rewrite else None,
        topics=found.rewrite.topics,
        retrieved=tuple(
            _retrieved(hit, cited=rank < memory.cited) for rank, hit in enumerate(found.hits[: memory.keep])
        ),
    )


def _found_by(answer: Answer) -> RetrievalResult:
    if answer.outcome == "unavailable":
        raise UnavailableError("a question could not be answered: the index or the embedder is down")
    trace = answer.trace
    return RetrievalResult(
        rewrite=trace.rewrite,
        hits=trace.hits,
        context=trace.context,
        context_share=trace.context_share,
        anchors=trace.anchors,
        anchor_reason=trace.anchor_reason,
        timings_ms=answer.timings_ms,
    )


def _retrieved(hit: Hit, *, cited: bool) -> Retrieved:
    page = hit.chunk.page
    return Retrieved(page_id=page.id, chunk_id=hit.chunk.id, title=page.title, cited=cited)


def _result(
    data: DataSet, conversation: Conversation, labelled: LabelledTurn, found: RetrievalResult
) -> TurnResult:
    ranking = tuple(hit.chunk.id for hit in found.hits[:RANKED])
    return TurnResult(
        conversation=conversation.id,
        number=labelled.number,
        question=labelled.question,
        gold_rewrite=labelled.gold_rewrite,
        rewrite=found.rewrite,
        anchors=tuple(found.anchors),
        anchor_reason=found.anchor_reason,
        ranking=ranking,
        slices=slices_of(data, conversation, labelled),
        figures=measure(ranking, labelled.relevant, data.twins) if labelled.relevant else None,
        timings_ms=found.timings_ms,
    )
