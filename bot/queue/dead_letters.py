"""Lists, revives and drops dead letters: questions that were given up.

They hold what people wrote, so they are few (1,000), for 30 days, and go with the message that they are about. How a
question becomes one is in `queue_operations.lua`.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import ValidationError
from redis.asyncio import Redis

from bot.queue.queued_question import QueuedQuestion
from bot.queue.script import QuestionsScript
from kb.store.redis import milliseconds, store_failures, text_of

KEEP_DEAD = timedelta(days=30)
"""Long enough to investigate an incident after a holiday."""
MOST = 1000
"""As many as `queue_state.lua` keeps."""
KEEP_CLAIM = timedelta(days=7)

_UNAVAILABLE = "the dead letters cannot be reached"


@dataclass(frozen=True, kw_only=True, slots=True)
class DeadLetter:
    """A question that was given up. `reason`: Slack's error code, or the
    class of the error: its text could quote the message.

    `question` is None where another version of Footnote wrote it, in a form that this one cannot read.
    """

    id: str
    question: QueuedQuestion | None
    reason: str
    attempts: int
    died_at: datetime


class DeadLetters:
    """Every method raises `StoreUnavailableError` when Redis does not answer."""

    def __init__(self, redis: Redis, *, namespace: str) -> None:
        self._redis = redis
        self._script = QuestionsScript(redis, namespace=namespace)

    async def all(self, limit: int = MOST) -> list[DeadLetter]:
        """Returns dead letters, newest first."""
        oldest = datetime.now(UTC) - KEEP_DEAD
        with store_failures(_UNAVAILABLE):
            dead: list[Any] = await self._redis.zrange(
                f"{self._script.root}:dead", "+inf", milliseconds(oldest - _EPOCH), desc=True, byscore=True,
                offset=0, num=limit, withscores=True,
            )  # fmt: skip
            async with self._redis.pipeline(transaction=False) as pipe:
                for identity, _ in dead:
                    pipe.hmget(self._key(text_of(identity)), "body", "reason", "starts")
                stored: list[list[Any]] = await pipe.execute() if dead else []
        return [
            _letter(text_of(identity), body, reason, attempts, died_at)
            for (identity, died_at), (body, reason, attempts) in zip(dead, stored, strict=True)
            if body is not None  # expired between the two reads
        ]

    async def reasons(self) -> dict[str, int]:
        """Counts dead letters by reason, the most frequent first."""
        return dict(Counter(letter.reason for letter in await self.all()).most_common())

    async def revive(self, ids: Sequence[str]) -> list[str]:
        """Queues dead letters again, to be answered however old they are. Returns the ids that it found."""
        revived = []
        for identity in ids:
            with store_failures(_UNAVAILABLE):
                body = await self._redis.hget(self._key(identity), "body")
            if body is None:
                continue
            try:
                question = QueuedQuestion.model_validate_json(body).model_copy(update={"however_late": True})
            except ValidationError:  # no worker can read it either
                continue
            if await self._call(
                "revive", identity, question.model_dump_json(), uuid.uuid4().hex, milliseconds(KEEP_CLAIM)
            ):
                revived.append(identity)
        return revived

    async def drop(self, ids: Sequence[str]) -> list[str]:
        """Deletes dead letters. Returns the ids that it found."""
        return [identity for identity in ids if await self._call("discard", identity)]

    async def leftovers(self) -> list[QueuedQuestion]:
        """Returns the questions of dead letters that may have left a placeholder or a status in Slack."""
        with store_failures(_UNAVAILABLE):
            ids = {
                text_of(identity) for identity in await self._redis.smembers(f"{self._script.root}:untidy")
            }
        if not ids:
            return []
        letters = {letter.id: letter for letter in await self.all()}
        for gone in ids - letters.keys():
            await self.cleaned_up(gone)
        return [question for name in ids & letters.keys() if (question := letters[name].question) is not None]

    async def cleaned_up(self, identity: str) -> None:
        with store_failures(_UNAVAILABLE):
            await self._redis.srem(f"{self._script.root}:untidy", identity)

    def _key(self, identity: str) -> str:
        return f"{self._script.root}:question:{identity}"

    async def _call(self, operation: str, *arguments: str | int) -> Any:
        with store_failures(_UNAVAILABLE):
            return await self._script(operation, *arguments)


_EPOCH = datetime.fromtimestamp(0, UTC)


def _letter(identity: str, body: Any, reason: Any, attempts: Any, died_at: float) -> DeadLetter:
    try:
        question = QueuedQuestion.model_validate_json(body)
    except ValidationError:
        question = None
    died = datetime.fromtimestamp(died_at / 1000, UTC)
    return DeadLetter(
        id=identity, question=question, reason=text_of(reason), attempts=int(attempts), died_at=died
    )
