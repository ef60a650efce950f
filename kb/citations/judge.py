"""Layer 2: whether the passages say what a sentence says, asked of the small model in one call for the whole answer.

It can only take away: what it lets pass has passed the literal check. Late, refused or broken, it changes nothing.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import BaseModel, Field, ValidationError

from kb.answer import JudgeStatus
from kb.citations.citation_markers import DraftSentence, Removed
from kb.citations.passage import passage_head
from kb.citations.prompt_injection import strip_injections
from kb.citations.verification import Verified, without_idle_lead_ins
from kb.errors import ModelRefusedError, ModelReplyError, ModelUnavailableError
from kb.models import Chunk

if TYPE_CHECKING:
    from kb.llm.client import LanguageModel

logger = logging.getLogger(__name__)

DEADLINE_S = 3.0
LEAST_SURE = 0.5
"""Confidence below which the judge's own rejection counts as a guess and removes nothing."""
TOKENS_PER_SENTENCE, TOKENS_BESIDE = 40, 400
"""Tokens of the reply: a verdict takes some 20; thinking counts too."""


Decision = Literal["supported", "contradicted", "not there"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """`sure`: 0..1, by the judge's own account."""

    verdict: Decision
    sure: float

    @property
    def rejects(self) -> bool:
        return self.verdict != "supported" and self.sure >= LEAST_SURE


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """`verdicts`: one for each sentence that was handed over, None for those that cite nothing; () where none came."""

    status: JudgeStatus
    verdicts: tuple[Verdict | None, ...] = ()


class _Verdict(BaseModel):
    sentence: int
    verdict: Decision
    sure: Annotated[float, Field(ge=0, le=100)]


class _Reply(BaseModel):
    verdicts: list[_Verdict]


SCHEMA: dict[str, Any] = _Reply.model_json_schema()


class Judge:
    """Asks the small model, within `deadline_s` seconds."""

    def __init__(self, model: LanguageModel, *, deadline_s: float = DEADLINE_S) -> None:
        self._model = model
        self._deadline_s = deadline_s

    async def judge(self, sentences: Sequence[DraftSentence], passages: Sequence[Chunk]) -> Judgement:
        """Asks for a verdict on each sentence that cites something. Raises nothing, whatever the model does."""
        citing = [sentence for sentence in sentences if sentence.cites]
        if not citing:
            return Judgement(status="judged", verdicts=(None,) * len(sentences))
        try:
            async with asyncio.timeout(self._deadline_s):
                reply = await self._model.complete_json(
                    instructions(),
                    document(citing, passages),
                    SCHEMA,
                    max_tokens=TOKENS_BESIDE + TOKENS_PER_SENTENCE * len(citing),
                    # ours ends first, so that a late reply is told from a broken one
                    deadline_s=2 * self._deadline_s,
                )
            found = iter(_verdicts(reply, len(citing)))
        except TimeoutError:
            logger.info("answer.judge_late")
            return Judgement(status="late")
        except (ModelUnavailableError, ModelRefusedError, ModelReplyError) as error:
            logger.info("answer.judge_failed", extra={"cause": repr(error)})
            return Judgement(status="failed")
        verdicts = tuple(next(found) if sentence.cites else None for sentence in sentences)
        return Judgement(status="judged", verdicts=verdicts)


def apply(verified: Verified, judgement: Judgement) -> Verified:
    """Drops the sentences that the judge rejects, and the lead-ins that lead in nothing any more.

    `judgement` is of `verified.kept`. One without verdicts (off, late, failed) changes nothing.
    """
    if not any(verdict is not None and verdict.rejects for verdict in judgement.verdicts):
        return verified
    verdicts = [
        Removed(text=sentence.text, reason=cast(Literal["contradicted", "not there"], verdict.verdict))
        if verdict is not None and verdict.rejects
        else sentence
        for sentence, verdict in zip(verified.kept, judgement.verdicts, strict=True)
    ]
    left = without_idle_lead_ins(verdicts, cited=verified.cited)
    return Verified(kept=left.kept, removed=(*verified.removed, *left.removed), cited=verified.cited)


@cache
def instructions() -> str:
    return files("kb").joinpath("prompts", "judge.md").read_text(encoding="utf-8")


def document(sentences: Sequence[DraftSentence], passages: Sequence[Chunk]) -> str:
    """Writes what the judge reads: the cited passages, each once with the head that the model saw, and the sentences.

    JSON keeps text of a page within its quotation marks; what a page says to an assistant is left out before.
    """
    cited = {chunk_id for sentence in sentences for chunk_id in sentence.cites}
    numbers = {chunk.id: number for number, chunk in enumerate(passages, 1)}
    read = [
        {
            "number": numbers[chunk.id],
            "title": passage_head(chunk),
            "text": strip_injections(chunk.text),
        }
        for chunk in passages
        if chunk.id in cited
    ]
    stated = [
        {
            "number": number,
            "sentence": sentence.text,
            "cites": [numbers[chunk_id] for chunk_id in sentence.cites],
        }
        for number, sentence in enumerate(sentences, 1)
    ]
    return json.dumps({"passages": read, "sentences": stated}, ensure_ascii=False)


def _verdicts(reply: dict[str, Any], wanted: int) -> list[Verdict]:
    """Returns one verdict for each sentence, in order.

    Raises:
        ModelReplyError: a sentence has none or two, or the reply has another form.
    """
    try:
        found = _Reply.model_validate(reply).verdicts
    except ValidationError as error:
        raise ModelReplyError("the judge's reply has another form") from error
    if sorted(verdict.sentence for verdict in found) != list(range(1, wanted + 1)):
        raise ModelReplyError(f"the judge gave {len(found)} verdicts on {wanted} sentences")
    ordered = sorted(found, key=lambda verdict: verdict.sentence)
    return [Verdict(verdict=verdict.verdict, sure=verdict.sure / 100) for verdict in ordered]
