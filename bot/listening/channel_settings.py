"""Stores each channel's settings, as `/kb channel` sets them: when Footnote speaks there, from which sources, in
which language.

{NAMESPACE}:channels   hash: channel id -> its settings, who set them and when, as JSON

Whoever reads them never waits for an outage: while the store does not answer, what was last known of a channel holds,
else what the settings of the whole bot say.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Self

from pydantic import ValidationError
from redis.asyncio import Redis

from bot.frozen_model import FrozenModel
from kb.config.slack_settings import Corrections, FollowUps, SlackSettings
from kb.errors import StoreUnavailableError
from kb.store.redis import store_failures, text_of

logger = logging.getLogger(__name__)

CACHED_S = 30.0
"""Seconds for which another replica may use the old settings."""
_UNAVAILABLE = "the settings of the channels do not answer"


class ChannelSettings(FrozenModel):
    """The settings of one channel. `sources`: names of those that are searched; empty: all.
    `language`: of Footnote's own words, ISO 639-1; empty: the question's.
    `unasked`: questions without a mention are answered too, where it is very sure.
    """

    follow_ups: FollowUps = "auto"
    unasked: bool = False
    sources: tuple[str, ...] = ()
    language: str = ""
    corrections: Corrections = "note"

    @classmethod
    def of_bot(cls, settings: SlackSettings) -> Self:
        """Returns the settings of a channel that has set nothing."""
        return cls(follow_ups=settings.follow_ups, corrections=settings.corrections)


class _StoredSettings(ChannelSettings):
    by: str
    at: datetime


class ChannelSettingsStore:
    """See the module. `clock` gives aware datetimes, `monotonic` seconds."""

    def __init__(
        self,
        redis: Redis,
        *,
        namespace: str,
        defaults: ChannelSettings | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._redis = redis
        self._key = f"{{{namespace}}}:channels"
        self._defaults = defaults or ChannelSettings()
        self._clock = clock
        self._monotonic = monotonic
        self._cache: dict[str, tuple[float, ChannelSettings]] = {}

    async def of(self, channel_id: str) -> ChannelSettings:
        """Returns the settings of a channel. Never raises for an outage; see the module."""
        now = self._monotonic()
        read_at, settings = self._cache.get(channel_id, (None, self._defaults))
        if read_at is not None and now - read_at < CACHED_S:
            return settings
        try:
            with store_failures(_UNAVAILABLE):
                stored = await self._redis.hget(self._key, channel_id)
        except StoreUnavailableError as error:
            logger.warning("channel_settings.unavailable", extra={"cause": repr(error.__cause__)})
        else:
            settings = self._defaults if stored is None else self._read(channel_id, stored)
        self._cache[channel_id] = (now, settings)
        return settings

    async def save(self, channel_id: str, settings: ChannelSettings, *, by: str) -> None:
        """
        Raises:
            StoreUnavailableError: nothing was changed, as far as can be told.
        """
        stored = _StoredSettings(**settings.model_dump(), by=by, at=self._clock())
        with store_failures(_UNAVAILABLE):
            await self._redis.hset(self._key, channel_id, stored.model_dump_json())
        self._cache[channel_id] = (self._monotonic(), settings)
        logger.info("channel_settings.saved", extra={"channel": channel_id, "user": by})

    async def all(self) -> dict[str, ChannelSettings]:
        """Returns the settings of every channel that has any.

        Raises:
            StoreUnavailableError: they cannot be told.
        """
        with store_failures(_UNAVAILABLE):
            stored = await self._redis.hgetall(self._key)
        return {text_of(channel): self._read(text_of(channel), text) for channel, text in stored.items()}

    def _read(self, channel_id: str, stored: bytes | str) -> ChannelSettings:
        try:
            return ChannelSettings.model_validate_json(stored)
        except ValidationError as error:  # written by another version
            logger.warning(
                "channel_settings.unreadable", extra={"channel": channel_id, "problems": error.error_count()}
            )
            return self._defaults


def chosen(settings: ChannelSettings, sources: Collection[str]) -> tuple[str, ...]:
    """Returns those of the channel's sources that still exist; empty: all. A channel whose sources are all gone counts
    as having chosen none: otherwise nothing would ever be found there.
    """
    return tuple(name for name in settings.sources if name in sources)
