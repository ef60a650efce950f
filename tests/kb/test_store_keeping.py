"""What is said of a Redis that would lose what it is given: asked of real servers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from bot.cli.checks.store import store_checks
from bot.queue.queue import QuestionQueue
from kb.config.settings import Settings
from kb.errors import StoreUnavailableError
from kb.store.keeping import store_concerns
from kb.store.valkey import connect_redis
from tests.fakes.questions import a_question
from tests.fakes.redis_server import RedisServer, a_server


@pytest.fixture(scope="module", params=["valkey", "redis"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with a_server(request.param, tmp_path_factory.mktemp(request.param)) as running:
        yield running


async def told(server: RedisServer, **changes: str) -> list[str]:
    """What is said once the server is set so."""
    settings = {"maxmemory-policy": "noeviction", "maxmemory": "0", "appendonly": "yes", "save": ""}
    async with connect_redis(server.socket) as redis:
        for name, value in (
            settings | {name.replace("_", "-"): value for name, value in changes.items()}
        ).items():
            await redis.config_set(name, value)
        return [one.finding for one in await store_concerns(redis)]


async def test_a_server_that_keeps_everything_is_no_concern(server: RedisServer) -> None:
    assert await told(server) == []
    assert await told(server, maxmemory="1gb") == []


@pytest.mark.parametrize(
    "policy",
    [
        "allkeys-random",
        "allkeys-lru",
        "allkeys-lfu",
        "volatile-lru",
        "volatile-ttl",
        "volatile-random",
        "volatile-lfu",
    ],
)
async def test_a_server_that_throws_keys_away_is_named_with_its_policy(
    server: RedisServer, policy: str
) -> None:
    (limited,) = await told(server, maxmemory_policy=policy, maxmemory="1gb")
    assert policy in limited
    assert "1,074 MB" in limited
    (unlimited,) = await told(server, maxmemory_policy=policy)
    assert "as soon as" in unlimited


async def test_a_server_that_writes_little_or_nothing_to_disk_is_named(server: RedisServer) -> None:
    (nothing,) = await told(server, appendonly="no")
    assert "a restart loses" in nothing
    (snapshots,) = await told(server, appendonly="no", save="3600 1")
    assert "only snapshots" in snapshots


async def test_where_config_is_denied_info_is_enough_and_where_both_are_it_is_said(
    server: RedisServer,
) -> None:
    await told(server)
    async with connect_redis(server.socket) as redis:
        await redis.config_set("maxmemory-policy", "allkeys-lru")
        await redis.execute_command("ACL", "SETUSER", "app", "on", "nopass", "~*", "+@all", "-config")
        await redis.execute_command(
            "ACL", "SETUSER", "poor", "on", "nopass", "~*", "+@all", "-config", "-info"
        )
    async with Redis(unix_socket_path=server.socket, username="app", password="x") as redis:
        (concern,) = await store_concerns(redis)
        assert "allkeys-lru" in concern.finding
    async with Redis(unix_socket_path=server.socket, username="poor", password="x") as redis:
        with pytest.raises(ResponseError):
            await redis.info()
        (untold,) = await store_concerns(redis)
        assert "INFO is denied" in untold.finding
        assert "noeviction" in untold.fix


async def test_doctor_tells_what_to_set(server: RedisServer) -> None:
    settings = Settings.model_validate({"store": {"redis_url": SecretStr(f"unix://{server.socket}")}})
    await told(server)
    assert [check.state for check in await store_checks(settings)] == ["ok"]
    await told(server, maxmemory_policy="allkeys-random", maxmemory="1gb", appendonly="no")
    evicting, forgetting = await store_checks(settings)
    assert (evicting.state, forgetting.state) == ("broken", "warning")
    assert "noeviction" in evicting.mend
    assert "appendonly yes" in forgetting.mend
    assert await store_checks(Settings()) == []


async def test_doctor_tells_of_a_server_that_is_not_there() -> None:
    settings = Settings.model_validate({"store": {"redis_url": SecretStr("unix:///nowhere/redis.sock")}})
    (check,) = await store_checks(settings)
    assert check.state == "broken"


async def test_a_full_server_takes_no_question_says_so_and_loses_none(
    server: RedisServer, namespace: str
) -> None:
    await told(server)
    async with connect_redis(server.socket) as redis:
        queue = QuestionQueue(redis, namespace=namespace)
        first: Any = a_question()
        assert await queue.accept(first)
        await redis.config_set("maxmemory", "1")
        with pytest.raises(StoreUnavailableError, match="memory is full"):
            await queue.accept(a_question())
        (concern,) = await store_concerns(redis)
        assert "is full" in concern.finding
        assert concern.urgent
        await redis.config_set("maxmemory", "0")
        assert not await queue.accept(first)
        assert (await queue.depth()).waiting == 1
