"""Conversations: the turns of a thread, with what was retrieved for each. In memory, or in Redis."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from pydantic import TypeAdapter
from redis.asyncio import Redis
from redis.exceptions import RedisError

from kb.errors import StoreUnavailableError
from kb.models import ThreadKey, Turn

_TURN = TypeAdapter(Turn)


class ConversationStore(Protocol):
    """Turns of a thread, oldest first. Raises `StoreUnavailableError` when its server does not answer."""

    async def load(self, key: ThreadKey) -> list[Turn]: ...

    async def append(self, key: ThreadKey, turn: Turn) -> None:
        """Adds a turn at the end. A turn with the `question_ts` of an earlier one replaces it (an edited or repeated question)."""

    async def forget(self, key: ThreadKey, question_ts: str) -> None:
        """Drops the turn that answered this message."""


class InMemoryConversations:
    """For tests and for one-off commands: lost with the process."""

    def __init__(self) -> None:
        self._threads: dict[ThreadKey, list[Turn]] = {}

    async def load(self, key: ThreadKey) -> list[Turn]:
        return list(self._threads.get(key, []))

    async def append(self, key: ThreadKey, turn: Turn) -> None:
        self._threads[key] = with_turn(self._threads.get(key, []), turn)

    async def forget(self, key: ThreadKey, question_ts: str) -> None:
        self._threads[key] = [turn for turn in self._threads.get(key, []) if turn.question_ts != question_ts]


class RedisConversations:
    """One Redis list a thread, JSON a turn. A thread is kept for `keep` after its last turn, `limit` turns at most."""

    def __init__(self, redis: Redis, *, namespace: str, keep: timedelta, limit: int = 200) -> None:
        self._redis = redis
        self._namespace = namespace
        self._keep = keep
        self._limit = limit

    async def load(self, key: ThreadKey) -> list[Turn]:
        try:
            items = await self._redis.lrange(self._name(key), 0, -1)
        except (RedisError, OSError) as error:
            raise StoreUnavailableError("conversations cannot be read") from error
        return [_TURN.validate_json(item) for item in items]

    async def append(self, key: ThreadKey, turn: Turn) -> None:
        await self._write(key, with_turn(await self.load(key), turn)[-self._limit :])

    async def forget(self, key: ThreadKey, question_ts: str) -> None:
        await self._write(key, [turn for turn in await self.load(key) if turn.question_ts != question_ts])

    async def _write(self, key: ThreadKey, turns: Sequence[Turn]) -> None:
        # Read-modify-write without a lock: the queue works one question of a thread at a time.
        name = self._name(key)
        try:
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.delete(name)
                if turns:
                    pipe.rpush(name, *[_TURN.dump_json(turn) for turn in turns])
                    pipe.expire(name, self._keep)
                await pipe.execute()
        except (RedisError, OSError) as error:
            raise StoreUnavailableError("conversations cannot be written") from error

    def _name(self, key: ThreadKey) -> str:
        return f"{self._namespace}:thread:{key}"


def with_turn(turns: Sequence[Turn], turn: Turn) -> list[Turn]:
    """The turns with `turn` at the end, or in the place of the one that answered the same message."""
    if turn.question_ts is not None:
        for at, earlier in enumerate(turns):
            if earlier.question_ts == turn.question_ts:
                return [*turns[:at], turn, *turns[at + 1 :]]
    return [*turns, turn]
