"""Checks each sentence of a draft against the passages that it cites, and drops what they do not support.

Hard facts first (numbers, dates, names, yes and no, quoted words: `kb.citations.facts`, `kb.citations.polarity`), then
whether sentence and passage speak of the same at all: shared words, and a model of meaning where there is one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from kb.answering.draft import DraftSentence
from kb.citations.claim import Claim, Removed
from kb.citations.passage import passage_of
from kb.models import Chunk

Similarity = Callable[[list[tuple[str, str]]], Awaitable[list[float]]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified:
    """`kept`: each with at least one hit (but for lead-ins) and a literal quote for every hit."""

    kept: tuple[DraftSentence, ...]
    removed: tuple[Removed, ...]
    cited: int
    """Sentences that came with a citation."""

    @property
    def supported(self) -> int:
        return sum(bool(sentence.hits) for sentence in self.kept)

    @property
    def unsupported(self) -> int:
        """Removed sentences that state something."""
        return sum(one.reason != "lead-in" for one in self.removed)

    @property
    def stating(self) -> int:
        """Sentences of the draft that state something."""
        return self.supported + self.unsupported


async def verify(
    sentences: Sequence[DraftSentence], evidence: Sequence[Chunk], *, similarity: Similarity | None
) -> Verified:
    """Keeps what the cited passages support. `similarity`: sentence and passage sentence -> -1..1, all pairs at once.

    A sentence without a citation is attached to the one passage that fully supports it. One that states nothing
    ("Here is the plan:") stays while something kept follows it.
    """
    passages = [passage_of(chunk) for chunk in evidence]
    claims = [Claim(sentence, passages) for sentence in sentences]
    await _compare(claims, similarity)
    verdicts = [claim.verdict() for claim in claims]
    _drop_idle_lead_ins(claims, verdicts)
    return Verified(
        kept=tuple(verdict for verdict in verdicts if isinstance(verdict, DraftSentence)),
        removed=tuple(verdict for verdict in verdicts if isinstance(verdict, Removed)),
        cited=sum(bool(sentence.hits) for sentence in sentences),
    )


async def _compare(claims: Sequence[Claim], similarity: Similarity | None) -> None:
    questions = [question for claim in claims for question in claim.questions()]
    if similarity is None or not questions:
        return
    answers = await similarity([question.pair for question in questions])
    for question, likeness in zip(questions, answers, strict=True):
        question.answered(likeness)


def _drop_idle_lead_ins(claims: Sequence[Claim], verdicts: list[DraftSentence | Removed]) -> None:
    """A lead-in stays if something that it leads in stays; what stands under the next heading is not its own."""
    led_in = False
    for at in range(len(claims) - 1, -1, -1):
        claim, verdict = claims[at], verdicts[at]
        if isinstance(verdict, Removed):
            continue
        if not claim.leads_in:
            led_in = True
        elif not led_in:
            verdicts[at] = Removed(text=verdict.text, reason="lead-in")
        elif claim.is_heading:
            led_in = False
