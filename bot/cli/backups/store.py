"""The store's part of a backup: every key of the namespace that is worth keeping, by its type
and not as the server dumps it, so that it moves between Valkey and Redis of any version.

Left out is what belongs to the moment. Above all the questions that wait: put back hours later,
they would be answered a second time. Dead letters, and which messages were accepted, are kept.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from kb.errors import FootnoteError
from kb.store.redis import store_failures, text_of

AT_ONCE = 200
"""Keys of one part and of one round trip."""
STAGED = "footnote-restoring"
"""Prefixes the names of keys until all of them are written."""
_UNAVAILABLE = "the store cannot be read or written"
_MOMENTARY = ("reindex:", "pages:", "rewrite:", "unread", "api:rate")
_QUEUE = "queue:"
_QUEUE_KEPT = ("queue:claim:", "queue:message:", "queue:dead", "queue:untidy")

Line = dict[str, Any]
"""A key: `name` without the namespace, `braced` (whether that stands in braces), `kind`, `until`
(milliseconds since 1970; 0: for ever) and `value`: text in base64, or a list of such, flat.
"""


async def keys_of(redis: Redis, namespace: str) -> AsyncIterator[list[Line]]:
    """Yields the keys in batches of `AT_ONCE`, in no particular order.

    Raises:
        StoreUnavailableError: the store does not answer.
    """
    dead = await _dead(redis, namespace)
    some: list[tuple[str, bool]] = []
    for braced in (True, False):
        async for name in _names(redis, namespace, braced):
            if _is_kept(name, dead):
                some.append((name, braced))
            if len(some) == AT_ONCE:
                yield await _lines(redis, namespace, some)
                some = []
    if some:
        yield await _lines(redis, namespace, some)


async def holds_keys(redis: Redis, namespace: str) -> bool:
    """Whether anything is there that a backup would keep."""
    async for _ in keys_of(redis, namespace):
        return True
    return False


async def stage(redis: Redis, lines: Sequence[Line]) -> None:
    """Writes keys under names that nothing reads."""
    with store_failures(_UNAVAILABLE):
        async with redis.pipeline(transaction=False) as pipe:
            for line in lines:
                _write(pipe, f"{STAGED}:{int(line['braced'])}:{line['name']}", line)
            await pipe.execute()


async def drop_staged(redis: Redis) -> None:
    """Deletes the staged keys that an interrupted restore left behind."""
    with store_failures(_UNAVAILABLE):
        staged = [key async for key in redis.scan_iter(match=f"{STAGED}:*", count=1000)]
        for first in range(0, len(staged), AT_ONCE):
            await redis.unlink(*staged[first : first + AT_ONCE])


async def put_to_use(redis: Redis, namespace: str, *, forgotten: Iterable[str]) -> None:
    """Swaps in one step: the staged keys replace those of the namespace, and these pages are forgotten as well."""
    with store_failures(_UNAVAILABLE):
        staged = [text_of(key) async for key in redis.scan_iter(match=f"{STAGED}:*", count=1000)]
        old = [
            key
            for braced in (True, False)
            async for key in redis.scan_iter(match=_glob(namespace, braced), count=1000)
            if not text_of(key).startswith(f"{namespace}:reindex:")  # the restore holds this lock itself
        ]
        async with redis.pipeline(transaction=True) as pipe:
            for key in old:
                pipe.unlink(key)
            for key in staged:
                _, braced, name = key.split(":", 2)
                pipe.rename(key, _prefix(namespace, braced == "1") + name)
            if pages := list(forgotten):
                pipe.sadd(f"{namespace}:forgotten", *pages)
            await pipe.execute()


def forgotten_in(lines: Iterable[Line]) -> set[str]:
    """Returns the ids of the pages that were forgotten when the backup was made."""
    return {
        base64.b64decode(member).decode()
        for line in lines
        if not line["braced"] and line["name"] == "forgotten"
        for member in line["value"]
    }


async def _dead(redis: Redis, namespace: str) -> frozenset[str]:
    with store_failures(_UNAVAILABLE):
        dead: list[Any] = await redis.zrange(f"{{{namespace}}}:queue:dead", 0, -1)
    return frozenset(text_of(name) for name in dead)


async def _names(redis: Redis, namespace: str, braced: bool) -> AsyncIterator[str]:
    prefix = _prefix(namespace, braced)
    seen = set()
    with store_failures(_UNAVAILABLE):
        async for key in redis.scan_iter(match=_glob(namespace, braced), count=1000):
            name = text_of(key).removeprefix(prefix)
            if name not in seen:  # a scan may bring one twice
                seen.add(name)
                yield name


def _is_kept(name: str, dead: frozenset[str]) -> bool:
    if name.startswith(_QUEUE):
        letter = name.removeprefix("queue:question:")
        return name.startswith(_QUEUE_KEPT) or (letter != name and letter in dead)
    return not name.startswith(_MOMENTARY)


async def _lines(redis: Redis, namespace: str, names: Sequence[tuple[str, bool]]) -> list[Line]:
    keys = [_prefix(namespace, braced) + name for name, braced in names]
    with store_failures(_UNAVAILABLE):
        async with redis.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.type(key)
                pipe.pexpiretime(key)
            replies = await pipe.execute()
        kinds, ends = [text_of(kind) for kind in replies[::2]], replies[1::2]
        there = [index for index, kind in enumerate(kinds) if kind != "none"]  # others expired meanwhile
        async with redis.pipeline(transaction=False) as pipe:
            for index in there:
                _read(pipe, keys[index], kinds[index])
            values = await pipe.execute() if there else []
    return [
        {
            "name": names[index][0],
            "braced": names[index][1],
            "kind": kinds[index],
            "until": max(0, ends[index]),
            "value": _packed(value),
        }
        for index, value in zip(there, values, strict=True)
        if value not in (None, [], {}, set())
    ]


def _read(pipe: Pipeline, key: str, kind: str) -> None:
    match kind:
        case "string":
            pipe.get(key)
        case "hash":
            pipe.hgetall(key)
        case "list":
            pipe.lrange(key, 0, -1)
        case "set":
            pipe.smembers(key)
        case "zset":
            pipe.zrange(key, 0, -1, withscores=True)
        case _:
            raise FootnoteError(f"the store holds {key}, a {kind}: this Footnote cannot back that up")


def _write(pipe: Pipeline, key: str, line: Mapping[str, Any]) -> None:
    value = line["value"]
    many = [base64.b64decode(packed) for packed in value] if isinstance(value, list) else []
    match line["kind"]:
        case "string":
            pipe.set(key, base64.b64decode(value))
        case "hash":
            pipe.hset(key, mapping=dict(zip(many[::2], many[1::2], strict=True)))
        case "list":
            pipe.rpush(key, *many)
        case "set":
            pipe.sadd(key, *many)
        case "zset":
            scores = [float(score) for score in many[1::2]]
            pipe.zadd(key, dict(zip(many[::2], scores, strict=True)))
        case other:
            raise FootnoteError(f"the backup holds a key of a kind that this Footnote does not know: {other}")
    if line["until"]:
        pipe.pexpireat(key, line["until"])


def _packed(value: Any) -> str | list[str]:
    if isinstance(value, Mapping):
        return [_text(part) for pair in value.items() for part in pair]
    if isinstance(value, list | set | tuple):
        flat = [part for item in value for part in (item if isinstance(item, list | tuple) else (item,))]
        return [_text(part) for part in flat]
    return _text(value)


def _text(value: Any) -> str:
    raw = (
        value
        if isinstance(value, bytes)
        else (repr(value) if isinstance(value, float) else str(value)).encode()
    )
    return base64.b64encode(raw).decode()


def _prefix(namespace: str, braced: bool) -> str:
    return f"{{{namespace}}}:" if braced else f"{namespace}:"


def _glob(namespace: str, braced: bool) -> str:
    literal = "".join(
        f"\\{character}" if character in "*?[]\\^-" else character for character in _prefix(namespace, braced)
    )
    return literal + "*"
