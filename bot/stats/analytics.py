"""Records answers, votes and traces in Redis, and computes the figures of `/kb stats`.

Counts are kept for good and hold no text. What people wrote is kept with the question's record, its votes and its trace
for `keep`, and `forget` removes it at once. Every method raises `StoreUnavailableError` when Redis does not answer;
whoever answers a question carries on without its figures.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from importlib import resources
from typing import Any

from redis.asyncio import Redis

from bot.questions.answer_record import AskedIn, AskedQuestion, Vote, record_of
from bot.stats.counts import Stats, stats_of
from bot.stats.model_usage import UsageTotals, usage_of
from bot.stats.question_history import AnalyticsKeys, QuestionHistory
from kb.answer import Answer, Checked
from kb.answering.language_offer import LATEST
from kb.llm.usage import UsageByModel
from kb.store.redis import milliseconds, store_failures, text_of

KEEP = timedelta(days=90)
"""How long what people wrote is kept: long enough to look into a quarter's votes."""

REMEMBERED_TIMES = 1000
"""Total times behind the percentiles: the 95th stands on 50 answers, and the list takes some 10 kB."""

_UNAVAILABLE = "the statistics' Redis failed"


class Analytics:
    """See the module. `namespace` separates bots that share a Redis.

    `usage` tells what this process has asked of each model; what is new of it is added to everybody's with each answer.
    `answered` is called with each answer's outcome and milliseconds, whether Redis answers or not.
    """

    def __init__(
        self,
        redis: Redis,
        namespace: str,
        *,
        keep: timedelta = KEEP,
        usage: Callable[[], UsageByModel] = dict,
        answered: Callable[[str, float], None] = lambda _, __: None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._redis = redis
        self._keys = AnalyticsKeys(f"{{{namespace}}}:analytics")
        self._history = QuestionHistory(redis, self._keys)
        self._keep = keep
        self._clock = clock
        self._answered = answered
        self._usage = UsageTotals(redis, self._keys.tokens, usage)
        self._script = redis.register_script(
            resources.files("bot.stats").joinpath("analytics.lua").read_text(encoding="utf-8")
        )

    async def record(self, question_id: str, answer: Answer, asked_in: AskedIn | None = None) -> None:
        """Counts an answer. The answer to an edited or repeated question takes the place of the one before."""
        now = self._clock()
        self._answered(answer.outcome, answer.timings_ms.get("total", 0.0))
        record = record_of(answer, asked_in or AskedIn(), now)
        keys = [
            self._keys.counts,
            self._keys.about(question_id),
            self._keys.times,
            self._keys.languages,
            self._keys.asked,
            self._keys.asked_by(record.asked_in.user),
            self._keys.cited,
        ]
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
            question_id,
            _in_milliseconds(now),
            json.dumps([page.page_id for page in record.cited]),
            _week(now),
        )
        await self._usage.save()

    async def count_language(self, language: str) -> None:
        """Remembers the language (ISO 639-1) of a question of which nothing else is kept."""
        with store_failures(_UNAVAILABLE):
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.lpush(self._keys.languages, language)
                pipe.ltrim(self._keys.languages, 0, LATEST - 1)
                await pipe.execute()

    async def latest_languages(self) -> list[str]:
        """Returns the languages of the latest questions, the last one first, without small talk."""
        with store_failures(_UNAVAILABLE):
            stored: list[Any] = await self._redis.lrange(self._keys.languages, 0, LATEST - 1)
        return [text_of(language) for language in stored]

    async def feedback(self, question_id: str, user: str, vote: Vote) -> bool:
        """Stores a user's vote, moving an earlier one. False: the same vote again, nothing changed."""
        keys = [self._keys.counts, self._keys.about(question_id), self._keys.votes(question_id)]
        return bool(await self._call("vote", keys, user, vote, milliseconds(self._keep)))

    async def explain(self, question_id: str, user: str, *, reason: str, comment: str | None) -> None:
        """Stores what a user found wrong with an answer, in the place of what they said before."""
        complaint = json.dumps({"reason": reason, "comment": comment}, ensure_ascii=False)
        with store_failures(_UNAVAILABLE):
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.hset(self._keys.reasons(question_id), user, complaint)
                pipe.pexpire(self._keys.reasons(question_id), self._keep)
                await pipe.execute()

    async def save_trace(self, question_id: str, payload: Any, ttl: timedelta = KEEP) -> None:
        """Keeps what "Why this answer?" shows. `payload` is JSON data."""
        with store_failures(_UNAVAILABLE):
            await self._redis.set(
                self._keys.trace(question_id), json.dumps(payload, ensure_ascii=False), px=ttl
            )

    async def load_trace(self, question_id: str) -> Any | None:
        """Returns None where it was never saved, has expired or was forgotten."""
        with store_failures(_UNAVAILABLE):
            payload = await self._redis.get(self._keys.trace(question_id))
        return None if payload is None else json.loads(payload)

    async def asked(self, limit: int = 2000) -> list[AskedQuestion]:
        """Returns the latest questions, the last one first, without those that were forgotten."""
        return await self._history.latest(self._keys.asked, limit)

    async def asked_by(self, user: str, limit: int = 10) -> list[AskedQuestion]:
        """Returns the latest questions of one person, the last one first."""
        return await self._history.latest(self._keys.asked_by(user), limit)

    async def one_asked(self, question_id: str) -> AskedQuestion | None:
        """Returns None where it was never recorded, has expired or was forgotten."""
        return await self._history.one(question_id)

    async def miss(self, question_id: str, user: str) -> bool:
        """Records that a user misses an answer in the pages. False: reported before, or the question is gone."""
        keys = [self._keys.counts, self._keys.about(question_id), self._keys.missed(question_id)]
        return bool(await self._call("miss", keys, user, milliseconds(self._keep)))

    async def close(self, question_ids: Sequence[str]) -> None:
        """Records that these questions are answered by now. One that is asked again is open again."""
        for question_id in question_ids:
            keys = [self._keys.counts, self._keys.about(question_id)]
            await self._call("close", keys, _in_milliseconds(self._clock()))

    async def citations(self) -> dict[str, int]:
        """Returns, by page id, how many answers of the last `keep` cited the page."""
        now = self._clock()
        weeks = {_week(now - timedelta(days=day)) for day in range(self._keep.days + 1)}
        with store_failures(_UNAVAILABLE):
            async with self._redis.pipeline(transaction=False) as pipe:
                for week in sorted(weeks):
                    pipe.hgetall(f"{self._keys.cited}:{week}")
                stored: list[dict[Any, Any]] = await pipe.execute()
        counted: Counter[str] = Counter()
        for weekly in stored:
            counted.update({text_of(page_id): int(times) for page_id, times in weekly.items()})
        return dict(counted)

    async def forget(self, question_id: str) -> None:
        """Removes what was written, since the message is deleted. Counts and votes stay, they hold no text."""
        with store_failures(_UNAVAILABLE):
            asked = await self.one_asked(question_id)
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.delete(
                    self._keys.about(question_id),
                    self._keys.trace(question_id),
                    self._keys.reasons(question_id),
                    self._keys.missed(question_id),
                )
                pipe.zrem(self._keys.asked, question_id)
                if asked is not None:
                    pipe.zrem(self._keys.asked_by(asked.record.asked_in.user), question_id)
                await pipe.execute()

    async def stats(self) -> Stats:
        await self._usage.save()
        with store_failures(_UNAVAILABLE):
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.hgetall(self._keys.counts)
                pipe.lrange(self._keys.times, 0, -1)
                pipe.hgetall(self._usage.key)
                stored, times, tokens = await pipe.execute()
        counts = {text_of(name): float(value) for name, value in stored.items()}
        return stats_of(counts, map(float, times), usage_of(tokens))

    async def _call(self, operation: str, keys: Sequence[str], *arguments: str | int | float) -> Any:
        with store_failures(_UNAVAILABLE):
            return await self._script(keys=keys, args=[operation, *arguments])


def _in_milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _week(moment: datetime) -> str:
    """Returns the calendar week, as ISO 8601 counts: "2026-W48"."""
    return f"{moment:%G-W%V}"


def _counted(checked: Checked | None) -> str:
    """Joins the counts in the order of `CHECKS` in analytics.lua."""
    if checked is None:
        return ""
    counts = (checked.sentences, checked.cited, checked.supported, checked.removed, checked.dropped_citations)
    return ",".join(map(str, counts))


def _rounded(milliseconds: float) -> float:
    return round(milliseconds, 3)
