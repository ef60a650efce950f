"""How well the literal check tells wrong sentences from true ones: labelled pairs of a sentence and a passage it cites.

What counts is whether a sentence is removed: a wrong number or date should be, a true sentence should not.
Sentences that are wrong in their meaning alone are counted too, but are for the judge to find (`kb.citations.judge`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from kb.citations import DraftSentence, Removed, check_sentence
from kb.models import Chunk, Page

Kind = Literal["true", "number", "date", "entity", "negation", "swap", "invention"]
Split = Literal["dev", "held-out"]

LITERAL_KINDS: tuple[Kind, ...] = ("number", "date")
"""The kinds that the target covers. The other wrong sentences are for the judge."""
CAUGHT_TARGET = 0.95
"""Least share caught of the sentences of LITERAL_KINDS in all splits that are measured."""
REMOVED_LIMIT = 0.02
"""Most that may be removed of the true sentences."""


class LabelledSentence(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    language: str
    kind: Kind


class LabelledPassage(BaseModel):
    """A passage with sentences that cite it. `source` and `licence` are those of its words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    split: Split
    source: str
    licence: str
    title: str
    section: tuple[str, ...] = ()
    language: str
    passage: str
    sentences: tuple[LabelledSentence, ...]

    @property
    def chunk(self) -> Chunk:
        page = Page(
            id=self.id,
            source="labelled",
            path=f"{self.id}.md",
            title=self.title,
            url=f"https://labelled.example/{self.id}",
            language=self.language,
        )
        return Chunk(
            id=f"{self.id}#0", page=page, position=0, text=self.passage, section=self.section, url=page.url
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class PairResult:
    """`reason`: why the sentence was removed; None where it was kept."""

    passage: LabelledPassage
    sentence: LabelledSentence
    reason: str | None

    @property
    def languages(self) -> str:
        """The languages of sentence and passage: "en", or "nl>en" for a Dutch sentence about an English passage."""
        sentence, passage = self.sentence.language, self.passage.language
        return sentence if sentence == passage else f"{sentence}>{passage}"

    @property
    def right(self) -> bool:
        return (self.reason is None) == (self.sentence.kind == "true")


def check_pairs(passages: Iterable[LabelledPassage]) -> Iterator[PairResult]:
    """Checks each sentence as an answer's is, against its one passage."""
    for passage in passages:
        for sentence in passage.sentences:
            drafted = DraftSentence(text=sentence.text, cites=(passage.chunk.id,), quotes=("",))
            verdict = check_sentence(drafted, [passage.chunk], question="")
            reason = verdict.reason if isinstance(verdict, Removed) else None
            yield PairResult(passage=passage, sentence=sentence, reason=reason)


class Counted(BaseModel):
    """`right` of `of` sentences: true ones that were kept, or others that were removed."""

    right: int
    of: int

    @property
    def share(self) -> float | None:
        return self.right / self.of if self.of else None


class CitationFigures(BaseModel):
    """`kinds` and `languages`: kind -> count; the first over all languages, the second by language."""

    kinds: dict[Kind, Counted]
    languages: dict[str, dict[Kind, Counted]]
    caught: Counted
    """Sentences of LITERAL_KINDS that were removed."""
    kept: Counted
    """True sentences that were kept."""

    @property
    def reached(self) -> bool:
        caught, kept = self.caught.share, self.kept.share
        return (caught is None or caught >= CAUGHT_TARGET) and (kept is None or kept >= 1 - REMOVED_LIMIT)


def figures(results: Sequence[PairResult]) -> CitationFigures:
    return CitationFigures(
        kinds=_by_kind(results),
        languages={
            language: _by_kind([result for result in results if result.languages == language])
            for language in sorted({result.languages for result in results})
        },
        caught=_counted(results, *LITERAL_KINDS),
        kept=_counted(results, "true"),
    )


def _by_kind(results: Sequence[PairResult]) -> dict[Kind, Counted]:
    return {kind: _counted(results, kind) for kind in get_args(Kind)}


def _counted(results: Sequence[PairResult], *kinds: Kind) -> Counted:
    of_kinds = [result for result in results if result.sentence.kind in kinds]
    return Counted(right=sum(result.right for result in of_kinds), of=len(of_kinds))
