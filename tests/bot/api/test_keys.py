"""Keys of the HTTP API, in a real Valkey."""

from __future__ import annotations

import asyncio
import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot.api.errors import KeyRefusedError, TooManyRequestsError
from bot.api.keys import ApiKeys
from kb.errors import SettingsError, StoreUnavailableError
from kb.store.valkey import connect_redis

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(redis: Redis, namespace: str, clock: Clock) -> ApiKeys:
    return ApiKeys(redis, namespace=namespace, clock=clock)


async def test_a_key_admits_who_has_it_and_nothing_that_is_kept_does(
    keys: ApiKeys, redis: Redis, namespace: str
):
    key, whole = await keys.add("intranet")
    assert await keys.admit(whole) == key
    kept = b" ".join((await redis.hgetall(f"{{{namespace}}}:api:keys")).values()).decode()
    secret = whole.split("_", 2)[2]
    assert whole not in kept
    assert secret not in kept
    assert hashlib.sha256(whole.encode()).hexdigest() in kept
    for told in (kept, key.prefix, key.digest):
        with pytest.raises(KeyRefusedError):
            await keys.admit(told)


async def test_neither_the_key_nor_its_digest_stands_in_a_repr(keys: ApiKeys):
    key, whole = await keys.add("intranet")
    assert key.digest not in repr(key)
    assert whole.split("_", 2)[2] not in repr(key)


async def test_secrets_are_long_and_never_the_same(keys: ApiKeys):
    wholes = [(await keys.add(f"key-{number}"))[1] for number in range(20)]
    secrets = {whole.split("_", 2)[2] for whole in wholes}
    assert len(secrets) == 20
    assert min(map(len, secrets)) >= 43


@pytest.mark.parametrize(
    "sent",
    ["", "fnk", "fnk_", "fnk_intranet", "fnk_intranet_", "fnk_nobody_x", "é_ü_\x00", "\ud800", "x" * 9999],
)
async def test_what_is_no_key_is_refused(keys: ApiKeys, sent: str):
    await keys.add("intranet")
    with pytest.raises(KeyRefusedError):
        await keys.admit(sent)


async def test_another_keys_name_before_ones_own_secret_is_refused(keys: ApiKeys):
    await keys.add("first", audience=["#people-leads"])
    _, second = await keys.add("second")
    with pytest.raises(KeyRefusedError):
        await keys.admit(second.replace("second", "first"))


async def test_a_revoked_key_is_refused_at_once_by_every_replica(
    keys: ApiKeys, redis_server: object, redis: Redis, namespace: str, clock: Clock
):
    _, whole = await keys.add("intranet")
    async with connect_redis(redis_server.socket) as other:  # type: ignore[attr-defined]
        replica = ApiKeys(other, namespace=namespace, clock=clock)
        await replica.admit(whole)
        assert await keys.revoke("intranet")
        with pytest.raises(KeyRefusedError):
            await replica.admit(whole)
    assert not await keys.revoke("intranet")
    assert await redis.keys(f"{{{namespace}}}:api:*") == []


async def test_a_new_key_of_an_old_name_does_not_bring_the_old_one_back(keys: ApiKeys):
    _, old = await keys.add("intranet")
    await keys.revoke("intranet")
    _, new = await keys.add("intranet")
    await keys.admit(new)
    with pytest.raises(KeyRefusedError):
        await keys.admit(old)


async def test_a_key_expires_when_it_was_to(keys: ApiKeys, clock: Clock):
    _, whole = await keys.add("intranet", expires_in=timedelta(days=1))
    clock.now += timedelta(days=1, seconds=-1)
    await keys.admit(whole)
    clock.now += timedelta(seconds=1)
    with pytest.raises(KeyRefusedError):
        await keys.admit(whole)


async def test_a_name_is_given_once_whoever_comes_first(keys: ApiKeys):
    outcomes = await asyncio.gather(*(keys.add("intranet") for _ in range(10)), return_exceptions=True)
    assert sum(isinstance(one, SettingsError) for one in outcomes) == 9
    (kept,) = await keys.all()
    ((key, whole),) = [one for one in outcomes if not isinstance(one, BaseException)]
    assert kept.key == key
    await keys.admit(whole)


@pytest.mark.parametrize("name", ["", "With Space", "under_score", "-x", "é", "a" * 41, "x\n"])
async def test_a_name_that_could_be_misread_is_refused(keys: ApiKeys, name: str):
    with pytest.raises(SettingsError, match="is no name"):
        await keys.add(name)


async def test_an_audience_is_read_as_pages_write_it(keys: ApiKeys):
    marks = ["#People-Leads", "C0123456", "@Finance", "S0123456", "#people-leads"]
    key, _ = await keys.add("leads", audience=marks, sources=["handbook"])
    assert key.reads.channels == {"#people-leads", "C0123456"}
    assert key.reads.groups == {"@finance", "S0123456"}
    assert key.reads.sources == {"handbook"}
    assert key.reads.everyone


async def test_without_an_audience_a_key_reads_what_is_for_everyone(keys: ApiKeys):
    key, _ = await keys.add("intranet")
    assert key.reads.principals == ["*"]


@pytest.mark.parametrize(
    "mark", ["", "*", "-", "people leads", "people-leads", "#", "@", "U0123456", "#a,#b", "everyone"]
)
async def test_a_mark_that_no_page_can_have_is_refused(keys: ApiKeys, mark: str):
    with pytest.raises(SettingsError, match="is no channel or user group"):
        await keys.add("leads", audience=[mark])


async def test_a_key_asks_as_often_as_it_may_and_is_told_when_it_may_again(
    keys: ApiKeys, redis: Redis, namespace: str
):
    _, whole = await keys.add("intranet", per_minute=3)
    _, other = await keys.add("other", per_minute=3)
    outcomes = await asyncio.gather(*(keys.admit(whole) for _ in range(10)), return_exceptions=True)
    refused = [one for one in outcomes if isinstance(one, TooManyRequestsError)]
    assert len(refused) == 7
    assert all(1 <= int(one.headers["Retry-After"]) <= 60 for one in refused)
    await keys.admit(other)
    counter = f"{{{namespace}}}:api:rate:intranet"
    assert 0 < await redis.pttl(counter) <= 60_000
    await redis.delete(counter)  # as its end does
    await keys.admit(whole)


async def test_a_refused_request_does_not_begin_the_minute_anew(keys: ApiKeys, redis: Redis, namespace: str):
    _, whole = await keys.add("intranet", per_minute=1)
    await keys.admit(whole)
    await redis.pexpire(f"{{{namespace}}}:api:rate:intranet", 5000)
    with pytest.raises(TooManyRequestsError) as refused:
        await keys.admit(whole)
    assert int(refused.value.headers["Retry-After"]) <= 5


async def test_a_list_tells_when_each_key_was_made_and_last_used(keys: ApiKeys, clock: Clock):
    _, whole = await keys.add("b-used")
    await keys.add("a-unused")
    clock.now += timedelta(hours=3)
    await keys.admit(whole)
    unused, used = await keys.all()
    assert (unused.key.name, unused.last_used) == ("a-unused", None)
    assert (used.key.name, used.key.created_at, used.last_used) == ("b-used", NOW, clock.now)


async def test_a_store_that_is_down_is_an_outage_and_admits_nobody(tmp_path: Path, clock: Clock):
    async with connect_redis(str(tmp_path / "nothing.sock")) as nowhere:
        with pytest.raises(StoreUnavailableError):
            await ApiKeys(nowhere, namespace="n", clock=clock).admit("fnk_intranet_x")
