"""What tests of many rooms need: a real Valkey that they share, empty for each that asks for it, and real handbooks."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from kb.valkey import connect_redis
from tests.fakes.redis_server import RedisServer, a_server
from tests.fakes.shared import shared


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A Valkey. Tests of what must hold on Redis as well put both in its place."""
    with a_server("valkey", tmp_path_factory.mktemp("valkey")) as server:
        yield server


@pytest.fixture
async def redis(redis_server: RedisServer) -> AsyncIterator[Redis]:
    async with connect_redis(redis_server.socket) as client:
        await client.flushall()
        yield client


@pytest.fixture
def redis_url(redis_server: RedisServer, redis: Redis) -> str:
    """For programs in processes of their own."""
    return f"unix://{redis_server.socket}"


@pytest.fixture(scope="session")
def handbooks() -> Path:
    """The real handbooks that are not part of the project."""
    return shared("data/kb")


@pytest.fixture
def namespace() -> str:
    return f"test-{uuid.uuid4().hex[:8]}"
