"""Reads the latest questions back from Redis, with votes, reasons and reports; names the keys of the statistics."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from redis.asyncio import Redis

from bot.questions.answer_record import AskedQuestion, record_kept
from kb.store.redis import store_failures, text_of

READ_AT_ONCE = 100
"""Questions a round trip: some 400 kB, parsed in a hundredth of a second, which holds up the event loop."""

_UNAVAILABLE = "the statistics' Redis failed"


class AnalyticsKeys:
    """The keys of `Analytics` below `root`."""

    def __init__(self, root: str) -> None:
        self._root = root
        self.counts = f"{root}:counts"
        self.times = f"{root}:times"
        self.tokens = f"{root}:tokens"
        self.languages = f"{root}:languages"
        self.cited = f"{root}:cited"
        self.asked = f"{root}:asked"

    def asked_by(self, user: str) -> str:
        return f"{self._root}:asked-by:{user}"

    def missed(self, question_id: str) -> str:
        return f"{self._root}:missed:{question_id}"

    def about(self, question_id: str) -> str:
        return f"{self._root}:answer:{question_id}"

    def votes(self, question_id: str) -> str:
        return f"{self._root}:votes:{question_id}"

    def reasons(self, question_id: str) -> str:
        return f"{self._root}:reasons:{question_id}"

    def trace(self, question_id: str) -> str:
        return f"{self._root}:trace:{question_id}"


class QuestionHistory:
    """Every method raises `StoreUnavailableError` when Redis does not answer."""

    def __init__(self, redis: Redis, keys: AnalyticsKeys) -> None:
        self._redis = redis
        self._keys = keys

    async def latest(self, key: str, limit: int) -> list[AskedQuestion]:
        """Returns the questions whose ids stand in the sorted set `key`, the last one first."""
        with store_failures(_UNAVAILABLE):
            listed: list[Any] = await self._redis.zrange(key, 0, limit - 1, desc=True)
            ids = list(map(text_of, listed))
            batches = [ids[start:][:READ_AT_ONCE] for start in range(0, len(ids), READ_AT_ONCE)]
            found = [question for batch in batches for question in await self._all(batch)]
        return [question for question in found if question is not None]

    async def one(self, question_id: str) -> AskedQuestion | None:
        with store_failures(_UNAVAILABLE):
            [found] = await self._all([question_id])
        return found

    async def _all(self, question_ids: Sequence[str]) -> list[AskedQuestion | None]:
        async with self._redis.pipeline(transaction=False) as pipe:
            for question_id in question_ids:
                pipe.hmget(self._keys.about(question_id), "context", "closed")
                pipe.hgetall(self._keys.votes(question_id))
                pipe.hgetall(self._keys.reasons(question_id))
                pipe.smembers(self._keys.missed(question_id))
            stored: list[Any] = await pipe.execute()
        parts = zip(question_ids, stored[::4], stored[1::4], stored[2::4], stored[3::4], strict=True)
        return [_asked(*part) for part in parts]


def _asked(
    identity: str, about: Sequence[Any], votes: dict[Any, Any], reasons: dict[Any, Any], missed_by: set[Any]
) -> AskedQuestion | None:
    context, closed = about
    record = None if context is None else record_kept(context, question_id=identity)
    if record is None:
        return None
    return AskedQuestion(
        question_id=identity,
        record=record,
        votes={text_of(user): "good" if text_of(vote) == "good" else "bad" for user, vote in votes.items()},
        reasons={text_of(user): json.loads(reason) for user, reason in reasons.items()},
        missed_by=frozenset(map(text_of, missed_by)),
        closed_at=None if closed is None else datetime.fromtimestamp(float(closed) / 1000, UTC),
    )
