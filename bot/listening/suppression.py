"""Suppresses replies that nobody asked for, unless they are answers.

    nobody asked it, others are in the thread   -> shown only when it is an answer
    a question that starts a thread ("unasked") -> and only when it is very sure, once in ten minutes a channel

A silence is for good: a later attempt at the same question finds it kept, and says nothing either.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta

from bot.listening.exactly_once import ExactlyOnce
from bot.queue.queued_question import QueuedQuestion
from kb.answer import Answer

logger = logging.getLogger(__name__)

VERY_SURE = 0.8
"""Confidence. Of the sample handbook's 69 questions that are quoted, asked alone and without a model, 57
reach it; of 20 questions about something else none, and none of 10 near misses, of which three are quoted."""
APART = timedelta(minutes=10)
"""Between two unasked answers in a channel."""
KEPT = timedelta(days=2)
"""How long a silence is remembered: longer than a question is tried again."""


@dataclass(frozen=True, kw_only=True)
class Suppression:
    """Every method raises `StoreUnavailableError` when Redis does not answer."""

    exactly_once: ExactlyOnce

    async def is_suppressed(self, question: QueuedQuestion) -> bool:
        """Tells whether an earlier attempt ended in silence."""
        return question.unasked and await self.exactly_once.is_complete(_silence(question))

    async def suppresses(self, question: QueuedQuestion, answer: Answer) -> bool:
        """Tells whether this answer is suppressed. Call it once, right before the answer is shown."""
        reason = await self._reason(question, answer)
        if reason is None:
            return False
        await self.exactly_once.complete(_silence(question), keep=KEPT)
        logger.info("question.silence", extra={"question_id": question.id, "reason": reason})
        return True

    async def _reason(self, question: QueuedQuestion, answer: Answer) -> str | None:
        if not question.unasked:
            return None
        if answer.outcome != "answered":
            return answer.outcome
        if question.reason != "unasked":
            return None
        if answer.confidence < VERY_SURE:
            return "not sure enough"
        allowance = f"unasked:{question.channel}"
        if await self.exactly_once.begin(allowance) != "mine":
            return "spoke a moment ago"
        await self.exactly_once.complete(allowance, keep=APART)
        return None


def _silence(question: QueuedQuestion) -> str:
    return f"silence:{question.id}"
