"""Checks whether a Redis keeps what it is given: waiting questions, claims, conversations, keys.

None of that may be thrown away by the server. Read from INFO, which managed services allow where they deny CONFIG.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from kb.store.redis import store_failures, text_of

KEEPS = "noeviction"
NEARLY_FULL = 0.9
"""Share of its memory from which a store is called nearly full."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreConcern:
    """`finding`: what the server would do. `fix`: how to set it. `urgent`: it is losing or refusing something now."""

    finding: str
    fix: str
    urgent: bool = False


INFO_DENIED = StoreConcern(
    finding="it does not say whether it keeps what it is given: INFO is denied to this user",
    fix=(
        f"allow it (`ACL SETUSER <user> +info`), or see yourself that `maxmemory-policy` is {KEEPS} and "
        f"`appendonly` yes"
    ),
)


async def store_concerns(redis: Redis) -> list[StoreConcern]:
    """Finds the settings of the server that can lose questions; empty where none can.

    Raises:
        StoreUnavailableError: it does not answer.
    """
    with store_failures("Redis does not answer"):
        try:
            info: Mapping[str, Any] = await redis.info()
        except ResponseError:  # denied to this user, as all commands that Redis calls dangerous may be
            return [INFO_DENIED]
        snapshots = await _setting(redis, "save")
        policy = info.get("maxmemory_policy") or await _setting(redis, "maxmemory-policy") or ""
    return [*_memory(str(policy), info), *_persistence(info, snapshots)]


def _memory(policy: str, info: Mapping[str, Any]) -> list[StoreConcern]:
    most, used = int(info.get("maxmemory") or 0), int(info.get("used_memory") or 0)
    concerns = list[StoreConcern]()
    if policy and policy != KEEPS:
        when = f"at its limit of {_size(most)}" if most else "as soon as it has a memory limit"
        concerns.append(
            StoreConcern(
                finding=(
                    f"maxmemory-policy is {policy}: {when} Redis throws away keys, and waiting questions "
                    f"with them, in silence"
                ),
                fix=(
                    f"set `maxmemory-policy {KEEPS}` in redis.conf (or in the service's parameters), and "
                    f"share this Redis with no cache"
                ),
                urgent=bool(most),
            )
        )
    elif most and used > NEARLY_FULL * most:
        full = used >= most
        concerns.append(
            StoreConcern(
                finding=f"its memory is {'full' if full else 'nearly full'}: {_size(used)} of {_size(most)}"
                + (", so that no question is taken" if full else ""),
                fix="raise `maxmemory`; nothing that Footnote keeps there is for throwing away",
                urgent=full,
            )
        )
    return concerns


def _persistence(info: Mapping[str, Any], snapshots: str | None) -> list[StoreConcern]:
    if info.get("aof_enabled") not in (0, "0"):  # or it does not tell
        return []
    fix = "set `appendonly yes` (and `appendfsync always`, to lose not even the last second)"
    if snapshots == "":
        finding = "nothing is written to disk: a restart loses questions, conversations and keys"
        return [StoreConcern(finding=finding, fix=fix)]
    finding = "only snapshots are written to disk: a crash loses what came since the last one"
    return [StoreConcern(finding=finding, fix=fix)]


async def _setting(redis: Redis, name: str) -> str | None:
    """Returns None where it is denied, as managed services do."""
    try:
        found = await redis.config_get(name)
    except ResponseError:
        return None
    return next((text_of(value or "") for value in found.values()), None)


def _size(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
