"""What `footnote doctor` and a starting bot say of a Redis that would lose what it is given."""

from __future__ import annotations

import logging

from redis.asyncio import Redis

from bot.cli.checks.check import Check
from kb.config.settings import Settings
from kb.errors import StoreUnavailableError
from kb.store.keeping import store_concerns
from kb.store.valkey import connect_redis

logger = logging.getLogger(__name__)

SAFE = "keeps what it is given: nothing is thrown away, and all is written to disk"


async def store_checks(settings: Settings) -> list[Check]:
    """Checks a configured Redis. The one in the data folder is set up by us."""
    if settings.store.redis_url is None:
        return []
    async with connect_redis(settings.store.redis_url.get_secret_value()) as redis:
        try:
            concerns = await store_concerns(redis)
        except StoreUnavailableError as error:
            mend = "start the server, or correct REDIS_URL"
            return [Check.broken("store", f"{error}: {error.__cause__}", mend)]
    return [
        Check(
            name="store",
            state="broken" if concern.urgent else "warning",
            told=concern.finding,
            mend=concern.fix,
        )
        for concern in concerns
    ] or [Check.ok("store", SAFE)]


async def warn_of_store(redis: Redis) -> None:
    """Warns at the start of what may get lost; a server that does not answer is waited for elsewhere."""
    try:
        concerns = await store_concerns(redis)
    except StoreUnavailableError:
        return
    for concern in concerns:
        logger.warning("store.unsafe", extra={"told": concern.finding, "mend": concern.fix})
