"""How well Footnote does: figures for `/kb stats`, votes with what they were about, traces for "Why this answer?".

Counts are kept for good and hold no text. What people wrote is kept with the question's record, its votes and its trace
for `keep`, and `forget` removes it at once. Every method raises `StoreUnavailableError` when Redis does not answer;
whoever answers a question carries on without its figures.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import resources
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from redis.asyncio import Redis

from bot.model_usage import UsageTotals, usage_of
from bot.stats import Stats
from kb.answer import Answer, Checked, Mode
from kb.language_offer import LATEST
from kb.llm.usage import UsageByModel
from kb.models import Outcome
from kb.store import milliseconds, store_failures, text_of

Vote = Literal["good", "bad"]

KEEP = timedelta(days=90)
"""Of what people wrote: long enough to look into a quarter's votes."""

REMEMBERED_TIMES = 1000
"""Total times behind the percentiles: the 95th stands on 50 answers, and the list takes some 10 kB."""

_UNAVAILABLE = "the figures' Redis failed"


class SourceUsed(BaseModel):
    model_config = ConfigDict(frozen=True)

    title: str
    url: str
    score: float | None


class AnswerRecord(BaseModel):
    """What is kept of an answer: enough to judge a vote and to make a test case of it, not the answer's text."""

    model_config = ConfigDict(frozen=True)

    question: str = Field(repr=False)
    rewritten: str | None = Field(default=None, repr=False)
    is_follow_up: bool
    outcome: Outcome
    mode: Mode
    confidence: float
    notes: tuple[str, ...] = ()
    sources: tuple[SourceUsed, ...] = ()
    checked: Checked | None = None
    timings_ms: dict[str, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Feedback:
    """The votes on one answer. `record` is None once it has expired or was forgotten."""

    question_id: str
    voted_at: datetime
    votes: dict[str, Vote]
    """User id -> vote."""
    record: AnswerRecord | None


class Analytics:
    """See the module. `namespace` separates bots that share a Redis.

    `usage` tells what this process has asked of each model; what is new of it is added to everybody's with each answer.
    """

    def __init__(
        self,
        redis: Redis,
        namespace: str,
        *,
        keep: timedelta = KEEP,
        usage: Callable[[], UsageByModel] = dict,
    ) -> None:
        self._redis = redis
        self._root = f"{{{namespace}}}:analytics"
        self._keep = keep
        self._usage = UsageTotals(redis, f"{self._root}:tokens", usage)
        self._script = redis.register_script(
            resources.files("bot").joinpath("lua", "analytics.lua").read_text(encoding="utf-8")
        )

    async def record(self, question_id: str, answer: Answer) -> None:
        """Counts an answer. The answer to an edited or repeated question takes the place of the one before."""
        record = _record(answer)
        keys = [self._counts, self._about(question_id), f"{self._root}:times", self._languages]
        await self._call(
            "record",
            keys,
            answer.outcome,
            int(answer.rewritten is not None),
            _rounded(answer.timings_ms.get("rewrite", 0.0)),
            int(bool(answer.trace.rewrite.lost)),
            _counted(answer.trace.checked),
            "" if answer.trace.judge == "off" else answer.trace.judge,
            _rounded(answer.timings_ms.get("total", 0.0)),
            REMEMBERED_TIMES,
            milliseconds(self._keep),
            record.model_dump_json(),
            "" if answer.outcome == "chat" else answer.language,
            LATEST,
        )
        await self._usage.save()

    async def count_language(self, language: str) -> None:
        """Remembers the language (ISO 639-1) of a question of which nothing else is kept."""
        with store_failures(_UNAVAILABLE):
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.lpush(self._languages, language)
                pipe.ltrim(self._languages, 0, LATEST - 1)
                await pipe.execute()

    async def latest_languages(self) -> list[str]:
        """The languages of the latest questions, the last one first; small talk is none."""
        with store_failures(_UNAVAILABLE):
            stored: list[Any] = await self._redis.lrange(self._languages, 0, LATEST - 1)
        return [text_of(language) for language in stored]

    async def feedback(self, question_id: str, user: str, vote: Vote) -> bool:
        """Stores a user's vote, moving an earlier one. False: the same vote again, nothing changed."""
        keys = [self._counts, self._about(question_id), self._votes(question_id), f"{self._root}:voted"]
        return bool(await self._call("vote", keys, question_id, user, vote, milliseconds(self._keep)))

    async def explain(self, question_id: str, user: str, *, reason: str, comment: str | None) -> None:
        """Stores what a user found wrong with an answer, in the place of what they said before."""
        said = json.dumps({"reason": reason, "comment": comment}, ensure_ascii=False)
        with store_failures(_UNAVAILABLE):
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.hset(self._reasons(question_id), user, said)
                pipe.pexpire(self._reasons(question_id), self._keep)
                await pipe.execute()

    async def explanations(self, question_id: str) -> dict[str, dict[str, str | None]]:
        """User id -> {"reason", "comment"}."""
        with store_failures(_UNAVAILABLE):
            stored: dict[Any, Any] = await self._redis.hgetall(self._reasons(question_id))
        return {text_of(user): json.loads(said) for user, said in stored.items()}

    async def feedbacks(self, limit: int = 100) -> list[Feedback]:
        """Answers with votes, the last voted on first."""
        with store_failures(_UNAVAILABLE):
            voted: list[Any] = await self._redis.zrange(
                f"{self._root}:voted", 0, limit - 1, desc=True, withscores=True
            )
            async with self._redis.pipeline(transaction=False) as pipe:
                for identity, _ in voted:
                    pipe.hgetall(self._votes(text_of(identity)))
                    pipe.hget(self._about(text_of(identity)), "context")
                stored: list[Any] = await pipe.execute() if voted else []
        return [
            _feedback(text_of(identity), voted_at, votes, context)
            for (identity, voted_at), votes, context in zip(voted, stored[::2], stored[1::2], strict=True)
        ]

    async def save_trace(self, question_id: str, payload: Any, ttl: timedelta = KEEP) -> None:
        """Keeps what "Why this answer?" shows. `payload` is JSON data."""
        with store_failures(_UNAVAILABLE):
            await self._redis.set(self._trace(question_id), json.dumps(payload, ensure_ascii=False), px=ttl)

    async def load_trace(self, question_id: str) -> Any | None:
        """None: never saved, expired or forgotten."""
        with store_failures(_UNAVAILABLE):
            payload = await self._redis.get(self._trace(question_id))
        return None if payload is None else json.loads(payload)

    async def forget(self, question_id: str) -> None:
        """Removes what was written: the message is deleted. Counts and votes stay, they hold no text."""
        with store_failures(_UNAVAILABLE):
            await self._redis.delete(
                self._about(question_id), self._trace(question_id), self._reasons(question_id)
            )

    async def stats(self) -> Stats:
        await self._usage.save()
        with store_failures(_UNAVAILABLE):
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.hgetall(self._counts)
                pipe.lrange(f"{self._root}:times", 0, -1)
                pipe.hgetall(self._usage.key)
                stored, times, tokens = await pipe.execute()
        counts = {text_of(name): float(value) for name, value in stored.items()}
        totals = sorted(float(time) for time in times)
        rewritten = round(counts.get("rewritten", 0))
        return Stats(
            questions=round(counts.get("questions", 0)),
            rewritten=rewritten,
            mean_rewrite_ms=counts.get("rewrite_ms", 0.0) / rewritten if rewritten else None,
            lost_rewrites=round(counts.get("lost", 0)),
            positive=round(counts.get("vote:good", 0)),
            negative=round(counts.get("vote:bad", 0)),
            declined=round(counts.get("outcome:declined", 0)),
            unavailable=round(counts.get("outcome:unavailable", 0)),
            checked=Checked(
                sentences=round(counts.get("checked:sentences", 0)),
                cited=round(counts.get("checked:cited", 0)),
                supported=round(counts.get("checked:supported", 0)),
                removed=round(counts.get("checked:removed", 0)),
                dropped_citations=round(counts.get("checked:dropped", 0)),
            ),
            judge={
                name.removeprefix("judge:"): round(count)
                for name, count in sorted(counts.items())
                if name.startswith("judge:")
            },
            models=usage_of(tokens),
            p50_ms=percentile(totals, 0.5),
            p95_ms=percentile(totals, 0.95),
        )

    @property
    def _counts(self) -> str:
        return f"{self._root}:counts"

    @property
    def _languages(self) -> str:
        return f"{self._root}:languages"

    def _about(self, question_id: str) -> str:
        return f"{self._root}:answer:{question_id}"

    def _votes(self, question_id: str) -> str:
        return f"{self._root}:votes:{question_id}"

    def _reasons(self, question_id: str) -> str:
        return f"{self._root}:reasons:{question_id}"

    def _trace(self, question_id: str) -> str:
        return f"{self._root}:trace:{question_id}"

    async def _call(self, operation: str, keys: Sequence[str], *arguments: str | int | float) -> Any:
        with store_failures(_UNAVAILABLE):
            return await self._script(keys=keys, args=[operation, *arguments])


def percentile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that at least `share` of the ordered values do not exceed (nearest rank)."""
    if not ordered:
        return None
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]


def _record(answer: Answer) -> AnswerRecord:
    return AnswerRecord(
        question=answer.question,
        rewritten=answer.rewritten,
        is_follow_up=answer.trace.rewrite.is_follow_up,
        outcome=answer.outcome,
        mode=answer.mode,
        confidence=answer.confidence,
        notes=answer.notes,
        sources=tuple(
            SourceUsed(title=cited.chunk.page.title, url=cited.chunk.url, score=cited.score)
            for cited in answer.citations
        ),
        checked=answer.trace.checked,
        timings_ms=dict(answer.timings_ms),
    )


def _counted(checked: Checked | None) -> str:
    """In the order of `CHECKS` in analytics.lua."""
    if checked is None:
        return ""
    counts = (checked.sentences, checked.cited, checked.supported, checked.removed, checked.dropped_citations)
    return ",".join(map(str, counts))


def _feedback(identity: str, voted_at: float, votes: dict[Any, Any], context: Any) -> Feedback:
    return Feedback(
        question_id=identity,
        voted_at=datetime.fromtimestamp(voted_at / 1000, UTC),
        votes={text_of(user): "good" if text_of(vote) == "good" else "bad" for user, vote in votes.items()},
        record=None if context is None else AnswerRecord.model_validate_json(context),
    )


def _rounded(milliseconds: float) -> float:
    return round(milliseconds, 3)
