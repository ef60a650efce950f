"""What the HTTP API says of itself: the committed description, whether it is true, and the page to try it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import pytest
from redis.asyncio import Redis

from bot.api.app import create_app
from tests.fakes.api import Api
from tests.fakes.api_trials import try_all

COMMITTED = Path(__file__).resolve().parents[3] / "docs/openapi.json"
EXAMPLES = 25
"""Requests of each kind to each route."""


@pytest.fixture
async def api(redis: Redis, namespace: str) -> AsyncIterator[Api]:
    async with Api(redis, namespace=namespace, concurrency=64).listening() as api:
        yield api


def test_the_committed_description_is_the_one_that_is_served():
    assert json.loads(COMMITTED.read_text(encoding="utf-8")) == create_app().openapi(), "run `make openapi`"


def test_it_is_openapi_3_1_and_asks_for_a_key_where_one_is_needed():
    told = create_app().openapi()
    assert told["openapi"].startswith("3.1")
    secured = {path for path, one in told["paths"].items() for route in one.values() if "security" in route}
    assert secured == {"/api/v1/search", "/api/v1/ask"}


async def test_what_it_serves_without_a_key_is_that_description(api: Api):
    async with api.client() as client:
        reply = await client.get("/api/v1/openapi.json")
    assert reply.json() == json.loads(COMMITTED.read_text(encoding="utf-8"))


async def test_the_page_to_try_it_brings_everything_along(api: Api):
    async with api.client() as client:
        page = await client.get("/api/v1/docs")
        loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
        assert len(loaded) >= 3
        for address in loaded:
            assert address.startswith("/api/v1/docs/static/")
            assert (await client.get(address)).status_code == 200
    assert "default-src 'self'" in page.headers["Content-Security-Policy"]


@pytest.mark.series
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", ["positive", "negative"])
@pytest.mark.parametrize("down", [False, True])
async def test_whatever_is_sent_every_answer_is_as_described_and_none_is_a_fault_of_ours(
    api: Api, kind: Literal["positive", "negative"], down: bool
):
    api.pipeline.down = down
    _, key = await api.keys.add("intranet", per_minute=100_000)
    assert await asyncio.to_thread(try_all, api.address, key, kind, EXAMPLES, down=down) >= EXAMPLES
