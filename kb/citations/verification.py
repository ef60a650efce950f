"""Checks the sentences of a draft by the letter against what they cite, and drops what does not stand there.

Figures, dates, names, typed things, quotations and links; nothing about
meaning, which is the judge's (`kb.citations.judge`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kb.citations.citation_markers import DraftSentence, Removed
from kb.citations.passage import Passage, passage_of
from kb.citations.sentence_check import SentenceCheck, is_heading, leads_in
from kb.models import Chunk


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified:
    """`kept`: each cites a passage, but for lead-ins, and has a literal quote for every citation."""

    kept: tuple[DraftSentence, ...]
    removed: tuple[Removed, ...]
    cited: int
    """Sentences that came with a citation."""

    @property
    def supported(self) -> int:
        return sum(bool(sentence.cites) for sentence in self.kept)

    @property
    def unsupported(self) -> int:
        """Removed sentences that state something."""
        return sum(removed.reason != "lead-in" for removed in self.removed)

    @property
    def stating(self) -> int:
        """Sentences of the draft that state something."""
        return self.supported + self.unsupported


def check_sentence(
    sentence: DraftSentence, passages: Sequence[Chunk], *, question: str
) -> DraftSentence | Removed:
    """Returns the sentence with a literal quote for every citation, or removed.

    One that cites nothing, or not what holds it, is attached to the passage that holds all its facts and nearly all its
    words. One that states nothing ("Here is the plan:", "Yes.", a heading) is kept without a citation. `question`: what
    the user typed; a figure that stands only there may be named beside one of the page's.
    """
    read = {chunk.id: passage_of(chunk) for chunk in passages}
    claim = SentenceCheck(sentence, read, question=question)
    if claim.states_nothing:
        return replace(claim.sentence, cites=(), quotes=())
    cited = [read[chunk_id] for chunk_id in sentence.cites]
    unsupported_reason = claim.unsupported_reason(cited) if cited else "uncited"
    if unsupported_reason is None:
        return _kept(claim, read, sentence.cites, sentence.quotes)
    attached = claim.attached() if unsupported_reason not in ("link", "quote") else None
    if attached is None:
        return Removed(text=claim.sentence.text, reason=unsupported_reason)
    return _kept(claim, read, (attached,), ("",))


def _kept(
    claim: SentenceCheck, passages: Mapping[str, Passage], cites: tuple[str, ...], given: Sequence[str]
) -> DraftSentence:
    quotes = zip(cites, given or ("",) * len(cites), strict=True)
    return replace(
        claim.sentence,
        cites=cites,
        quotes=tuple(quote or claim.quote(passages[chunk_id]) for chunk_id, quote in quotes),
    )


def check(sentences: Sequence[DraftSentence], passages: Sequence[Chunk], *, question: str) -> Verified:
    """Checks every sentence by itself; then lead-ins go that lead in nothing any more."""
    return without_idle_lead_ins(
        [check_sentence(sentence, passages, question=question) for sentence in sentences],
        cited=sum(bool(sentence.cites) for sentence in sentences),
    )


def without_idle_lead_ins(verdicts: Sequence[DraftSentence | Removed], *, cited: int) -> Verified:
    """Keeps a lead-in if something that it leads in stays; what stands under the next heading is not its own."""
    settled: list[DraftSentence | Removed] = []
    led_in = False
    for verdict in reversed(verdicts):
        if isinstance(verdict, Removed):
            settled.append(verdict)
        elif not leads_in(verdict):
            led_in = True
            settled.append(verdict)
        elif not led_in:
            settled.append(Removed(text=verdict.text, reason="lead-in"))
        else:
            led_in = not is_heading(verdict.text)
            settled.append(verdict)
    settled.reverse()
    return Verified(
        kept=tuple(sentence for sentence in settled if isinstance(sentence, DraftSentence)),
        removed=tuple(sentence for sentence in settled if isinstance(sentence, Removed)),
        cited=cited,
    )
