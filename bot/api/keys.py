"""Stores API keys in Redis: who may ask, what they may read, how often. Each request looks its key up, so that a
revoked key is refused at once.

A key reads `fnk_NAME_SECRET`. Its SHA-256 is kept, not the key: 256 random bits need no slow hash, unlike a password.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from redis.asyncio import Redis

from bot.api.errors import KeyRefusedError, TooManyRequestsError
from kb.errors import SettingsError
from kb.models import Audience
from kb.store.redis import store_failures, text_of

WINDOW = timedelta(minutes=1)
PER_MINUTE = 60
"""Requests a minute of a key that says nothing else."""
MOST_PER_MINUTE = 100_000

_PREFIX = "fnk"
_SECRET_BYTES = 32
_SHOWN = 4
"""Characters of the secret that lists show, of 43: enough to tell two keys apart."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_CHANNEL = re.compile(r"[CG][A-Z0-9]{5,}|#[^\s#@,*]{1,80}")
_GROUP = re.compile(r"S[A-Z0-9]{5,}|@[^\s#@,*]{1,80}")
_UNAVAILABLE = "the keys of the API cannot be read"
_UNKNOWN = "0" * 64
"""What an unknown key is compared with, so that it takes as long as a wrong one."""


class ApiKey(BaseModel):
    """`audience`: the channels and user groups that it asks for, as pages name them (docs/permissions.md); empty: what
    is for everyone. `sources`: those that are searched; empty: all. `expires_at` is aware.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    prefix: str
    digest: str = Field(repr=False)
    audience: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    per_minute: Annotated[int, Field(ge=1, le=MOST_PER_MINUTE)] = PER_MINUTE
    created_at: datetime
    expires_at: datetime | None = None

    @property
    def reads(self) -> Audience:
        return Audience(
            channels=frozenset(principal for principal in self.audience if _CHANNEL.fullmatch(principal)),
            groups=frozenset(principal for principal in self.audience if _GROUP.fullmatch(principal)),
            sources=frozenset(self.sources),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyInUse:
    key: ApiKey
    last_used: datetime | None


class ApiKeys:
    """`clock` gives aware datetimes. Every method raises `StoreUnavailableError` when Redis does not answer."""

    def __init__(self, redis: Redis, *, namespace: str, clock: Callable[[], datetime]) -> None:
        self._redis = redis
        self._clock = clock
        root = f"{{{namespace}}}:api"
        self._keys, self._used, self._rates = f"{root}:keys", f"{root}:used", f"{root}:rate"

    async def add(
        self,
        name: str,
        *,
        audience: Sequence[str] = (),
        sources: Sequence[str] = (),
        per_minute: int = PER_MINUTE,
        expires_in: timedelta | None = None,
    ) -> tuple[ApiKey, str]:
        """Adds a key. Returns it, and the only copy of what its holder sends.

        Raises:
            SettingsError: the name is taken or not a name, or a principal of the audience is not one.
        """
        if not _NAME.fullmatch(name):
            raise SettingsError(f"{name!r} is no name for a key: use up to 40 of a-z, 0-9 and -")
        now = self._clock()
        whole = f"{_PREFIX}_{name}_{secrets.token_urlsafe(_SECRET_BYTES)}"
        key = ApiKey(
            name=name,
            prefix=whole[: len(f"{_PREFIX}_{name}_") + _SHOWN],
            digest=_digest(whole),
            audience=tuple(dict.fromkeys(map(_principal, audience))),
            sources=tuple(dict.fromkeys(sources)),
            per_minute=per_minute,
            created_at=now,
            expires_at=now + expires_in if expires_in is not None else None,
        )
        with store_failures(_UNAVAILABLE):
            added = await self._redis.hsetnx(self._keys, name, key.model_dump_json())
        if not added:
            raise SettingsError(f"there is a key {name!r} already: revoke it first, or choose another name")
        return key, whole

    async def all(self) -> list[KeyInUse]:
        """Returns all keys by name, expired ones too."""
        with store_failures(_UNAVAILABLE):
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.hgetall(self._keys)
                pipe.hgetall(self._used)
                kept, used = await pipe.execute()
        last = {text_of(name): datetime.fromisoformat(text_of(when)) for name, when in used.items()}
        keys = sorted(map(ApiKey.model_validate_json, kept.values()), key=lambda key: key.name)
        return [KeyInUse(key=key, last_used=last.get(key.name)) for key in keys]

    async def revoke(self, name: str) -> bool:
        """Deletes a key; returns whether there was one."""
        with store_failures(_UNAVAILABLE):
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.hdel(self._keys, name)
                pipe.hdel(self._used, name)
                pipe.delete(f"{self._rates}:{name}")
                deleted, *_ = await pipe.execute()
        return bool(deleted)

    async def admit(self, presented: str) -> ApiKey:
        """Returns the key that was sent, and counts one request of its minute.

        Raises:
            KeyRefusedError, TooManyRequestsError: it may not ask, or not now.
        """
        _, _, name_and_secret = presented.partition("_")
        name = name_and_secret.partition("_")[0]
        key = await self._key(name) if _NAME.fullmatch(name) else None
        if not hmac.compare_digest(_digest(presented), key.digest if key else _UNKNOWN) or key is None:
            raise KeyRefusedError
        now = self._clock()
        if key.expires_at is not None and key.expires_at <= now:
            raise KeyRefusedError
        await self._count(key, now)
        return key

    async def _key(self, name: str) -> ApiKey | None:
        with store_failures(_UNAVAILABLE):
            kept = await self._redis.hget(self._keys, name)
        return None if kept is None else ApiKey.model_validate_json(kept)

    async def _count(self, key: ApiKey, now: datetime) -> None:
        """Counts by Redis' clock alone: those of the replicas may differ."""
        rate = f"{self._rates}:{key.name}"
        with store_failures(_UNAVAILABLE):
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.incr(rate)
                pipe.pexpire(rate, WINDOW, nx=True)
                pipe.pttl(rate)
                pipe.hset(self._used, key.name, now.isoformat())
                count, _, left_ms, _ = await pipe.execute()
        if count > key.per_minute:
            raise TooManyRequestsError(retry_after_s=max(1, -(-left_ms // 1000)))


def _digest(presented: str) -> str:
    return hashlib.sha256(presented.encode("utf-8", "surrogatepass")).hexdigest()


def _principal(written: str) -> str:
    """Normalizes a principal as pages name it: names and handles in small letters.

    Raises:
        SettingsError: it is neither a channel nor a user group.
    """
    principal = written.strip()
    if principal.startswith(("#", "@")):
        principal = principal.lower()
    if _CHANNEL.fullmatch(principal) or _GROUP.fullmatch(principal):
        return principal
    raise SettingsError(
        f"{written!r} is no channel or user group: write '#people-leads', C0123456, '@finance' or S0123456"
    )
