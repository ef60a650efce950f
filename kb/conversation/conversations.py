"""Conversations: the turns of a thread, with what was retrieved for each, in Redis.

A thread may go on for months. Its latest turns are kept whole, of the earlier ones only what a return to their topic
needs: the question, the topics and the pages that were cited. What is read for a question is bounded either way.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from pydantic import ConfigDict, TypeAdapter, ValidationError
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from kb.conversation.topics import MOST, key_topics
from kb.models import ThreadKey, Turn
from kb.store.redis import store_failures

WHOLE_TURNS = 10
"""Latest turns that keep their answers: twice what a rewriter reads and more than an answering model gets."""
KEPT_TURNS = 200
"""Latest turns of a thread that are kept: some 80 kB without the answers of the earlier ones, read in 2 ms."""
PARSED_THREADS = 64
"""Threads whose parsed turns are cached in this process: the active ones, at most some 20 MB."""
KEPT_CHARACTERS = 200
"""Characters kept of an earlier question: enough words to know its topic again."""

_TURNS = TypeAdapter(list[Turn], config=ConfigDict(hide_input_in_errors=True))

logger = logging.getLogger(__name__)


class RedisConversations:
    """Keeps one string a thread, the JSON of its turns, which expires `keep` after its last turn.

    A thread that did not change since it was last read or written here is not parsed again. Turns that cannot
    be read, as another version may have written them, do not count: who knows them from elsewhere stores them again.

    Every method raises `StoreUnavailableError` when Redis does not answer.
    """

    def __init__(self, redis: Redis, *, namespace: str, keep: timedelta) -> None:
        self._redis = redis
        self._namespace = namespace
        self._keep = keep
        self._parsed: OrderedDict[ThreadKey, tuple[bytes, tuple[Turn, ...]]] = OrderedDict()

    async def load(self, key: ThreadKey) -> list[Turn]:
        """Returns the turns of a thread, oldest first."""
        with store_failures("conversations cannot be read"):
            try:
                stored = await self._redis.get(self._name(key))
            except ResponseError as error:
                if not str(error).startswith("WRONGTYPE"):
                    raise
                return self._unreadable(key, 1)
        if stored is None:
            self._parsed.pop(key, None)
            return []
        stored = stored.encode() if isinstance(stored, str) else stored
        last_stored, turns = self._parsed.get(key, (b"", ()))
        if last_stored == stored:
            return list(turns)
        try:
            return self._remember(key, stored, _TURNS.validate_json(stored))
        except ValidationError as error:
            return self._unreadable(key, error.error_count())

    async def known(self, keys: Sequence[ThreadKey]) -> frozenset[ThreadKey]:
        """Returns those of the threads that are stored, by one request that reads no turn."""
        with store_failures("conversations cannot be read"):
            async with self._redis.pipeline(transaction=False) as pipe:
                for key in keys:
                    pipe.exists(self._name(key))
                stored = await pipe.execute()
        return frozenset(key for key, is_stored in zip(keys, stored, strict=True) if is_stored)

    async def append(self, key: ThreadKey, turn: Turn) -> None:
        """Adds a turn at the end, or replaces the one with its `question_ts` (an edited or repeated question)."""
        await self._write(key, compacted(with_turn(await self.load(key), turn)))

    async def forget(self, key: ThreadKey, question_ts: str) -> None:
        """Drops the turn that answered this message."""
        await self._write(key, [turn for turn in await self.load(key) if turn.question_ts != question_ts])

    async def _write(self, key: ThreadKey, turns: list[Turn]) -> None:
        # Read-modify-write without a lock: the queue works one question of a thread at a time.
        with store_failures("conversations cannot be written"):
            if turns:
                stored = _TURNS.dump_json(turns, exclude_defaults=True)
                await self._redis.set(self._name(key), stored, px=self._keep)
                self._remember(key, stored, turns)
            else:
                self._parsed.pop(key, None)
                await self._redis.delete(self._name(key))

    def _unreadable(self, key: ThreadKey, problems: int) -> list[Turn]:
        logger.warning("conversation.unreadable", extra={"conversation": str(key), "problems": problems})
        self._parsed.pop(key, None)
        return []

    def _remember(self, key: ThreadKey, stored: bytes, turns: list[Turn]) -> list[Turn]:
        self._parsed[key] = (stored, tuple(turns))
        self._parsed.move_to_end(key)
        while len(self._parsed) > PARSED_THREADS:
            self._parsed.popitem(last=False)
        return turns

    def _name(self, key: ThreadKey) -> str:
        return f"{self._namespace}:turns:{key}"


def with_turn(turns: Sequence[Turn], turn: Turn) -> list[Turn]:
    """Appends `turn`, or replaces the one that answered the same message."""
    if turn.question_ts is not None:
        for index, earlier in enumerate(turns):
            if earlier.question_ts == turn.question_ts:
                return [*turns[:index], turn, *turns[index + 1 :]]
    return [*turns, turn]


def compacted(turns: Sequence[Turn]) -> list[Turn]:
    """Keeps the latest turns whole and earlier ones without their texts, at most `KEPT_TURNS`."""
    kept = turns[-KEPT_TURNS:]
    return [*(_without_texts(turn) for turn in kept[:-WHOLE_TURNS]), *kept[-WHOLE_TURNS:]]


def _without_texts(turn: Turn) -> Turn:
    if not turn.answer and len(turn.question) <= KEPT_CHARACTERS:
        return turn
    return replace(
        turn,
        question=turn.question[:KEPT_CHARACTERS],
        rewritten=turn.rewritten[:KEPT_CHARACTERS] if turn.rewritten else None,
        answer="",
        topics=tuple(dict.fromkeys((*turn.topics, *key_topics(turn.answer))))[-MOST:],
        retrieved=tuple(passage for passage in turn.retrieved if passage.cited),
    )
