"""Posts notices exactly once, over double presses, restarts and replicas: claims and promises in Redis.

    nobody -> held by one for LEASE -> said, for good (`keep`)

Whoever holds it looks whether an earlier holder, who died, had posted it, and posts it only then. What
must be said though everybody dies first is promised before: `promised` hands it over to whoever lives.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from redis.asyncio import Redis
from slack_sdk.web.async_client import AsyncWebClient

from bot.listening.threads import Threads
from bot.rendering.layout import Block
from bot.slack.events import AnswerMetadata, Message, answer_metadata, slack_metadata
from bot.slack.people import People
from kb.store.redis import store_failures, text_of

logger = logging.getLogger(__name__)

LEASE = timedelta(minutes=2)
"""Longer than a post takes with all its waiting for Slack's rate limits."""
KEEP = timedelta(days=120)
"""Longer than the buttons that might be pressed again keep their records."""
LOOKED_AT = 200
"""Messages of a channel in which an earlier post is looked for: it is minutes old."""

ClaimState = Literal["mine", "held", "said"]

_UNAVAILABLE = "what was said once cannot be told"


class ExactlyOnce:
    """Claims and promises of notices. Every method raises `StoreUnavailableError` when Redis does not answer."""

    def __init__(self, redis: Redis, *, namespace: str) -> None:
        self._redis = redis
        self._root = f"{{{namespace}}}:once"

    async def begin(self, name: str) -> ClaimState:
        """Claims a notice. "mine": post it, then call `complete`. "held": another holder is at work, or died within
        LEASE.
        """
        with store_failures(_UNAVAILABLE):
            if await self._redis.set(self._key(name), "held", nx=True, px=LEASE):
                return "mine"
            state = await self._redis.get(self._key(name))
        return "said" if state is not None and text_of(state) == "said" else "held"

    async def complete(self, name: str, *, keep: timedelta = KEEP) -> None:
        with store_failures(_UNAVAILABLE):
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.set(self._key(name), "said", px=keep)
                pipe.hdel(self._promises, name)
                await pipe.execute()

    async def is_complete(self, name: str) -> bool:
        with store_failures(_UNAVAILABLE):
            state = await self._redis.get(self._key(name))
        return state is not None and text_of(state) == "said"

    async def promise(self, name: str, what: Mapping[str, Any]) -> None:
        """Records that a notice must be posted. `what`: JSON data that posting it needs."""
        with store_failures(_UNAVAILABLE):
            await self._redis.hset(self._promises, name, json.dumps(what, ensure_ascii=False))

    async def withdraw(self, name: str) -> None:
        """Removes a promise; whoever holds its claim may still post."""
        with store_failures(_UNAVAILABLE):
            await self._redis.hdel(self._promises, name)

    async def promised(self) -> dict[str, Any]:
        with store_failures(_UNAVAILABLE):
            stored: dict[Any, Any] = await self._redis.hgetall(self._promises)
        return {text_of(name): json.loads(what) for name, what in stored.items()}

    def _key(self, name: str) -> str:
        return f"{self._root}:{name}"

    @property
    def _promises(self) -> str:
        return f"{self._root}-promised"


@dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """A message to post. `name` identifies it; it travels in the message's metadata."""

    name: str
    channel: str
    text: str
    blocks: Sequence[Block] = ()
    thread_ts: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Notices:
    """Posts notices. `posting` must not retry lost connections."""

    posting: AsyncWebClient
    reading: AsyncWebClient
    people: People
    threads: Threads

    async def post(self, notice: Notice) -> None:
        """Posts a notice, unless an earlier holder of its claim posted it.

        Raises:
            slack_sdk's and aiohttp's errors: it may stand there or not; the next holder looks.
        """
        if await self._stands(notice):
            logger.info("notice.stood", extra={"notice": notice.name})
            return
        metadata = AnswerMetadata(question_id=notice.name, question_ts="", state="note")
        await self.posting.chat_postMessage(
            channel=notice.channel,
            thread_ts=notice.thread_ts,
            text=notice.text,
            blocks=list(notice.blocks) or None,
            metadata=slack_metadata(metadata),
            unfurl_links=False,
            unfurl_media=False,
        )

    async def _stands(self, notice: Notice) -> bool:
        me = await self.people.me()
        messages = (
            await self.threads.messages(notice.channel, notice.thread_ts)
            if notice.thread_ts is not None
            else await self._latest(notice.channel)
        )
        found = [answer_metadata(message.metadata) for message in messages if me.wrote(message)]
        return any(metadata is not None and metadata.question_id == notice.name for metadata in found)

    async def _latest(self, channel: str) -> list[Message]:
        page = await self.reading.conversations_history(
            channel=channel, limit=LOOKED_AT, include_all_metadata=True
        )
        return [Message.model_validate(payload) for payload in page.get("messages") or []]
