"""What `footnote doctor` says of the HTTP API: who can reach it, and whether anybody may ask."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.api.keys import ApiKeys
from bot.cli.checks.api import api_checks
from bot.cli.checks.check import Check
from bot.cli.composition.runtime import utc_now
from kb.config.settings import Settings


def a_setup(data: Path, redis_url: str, namespace: str, **api: Any) -> Settings:
    store = {"redis_url": redis_url, "namespace": namespace}
    return Settings.model_validate({"data": data, "store": store, "api": {"port": 8080} | api})


async def checked(settings: Settings) -> dict[str, Check]:
    return {check.name: check for check in await api_checks(settings)}


async def test_where_it_is_not_served_there_is_nothing_to_say(tmp_path: Path):
    assert await api_checks(Settings(data=tmp_path)) == []


async def test_on_loopback_with_a_key_all_is_fine(tmp_path: Path, redis: Any, redis_url: str, namespace: str):
    await ApiKeys(redis, namespace=namespace, clock=utc_now).add("intranet")
    found = await checked(a_setup(tmp_path, redis_url, namespace))
    assert {check.state for check in found.values()} == {"ok"}
    assert "from this machine alone" in found["http api"].told


async def test_without_a_key_that_counts_it_says_how_to_make_one(
    tmp_path: Path, redis: Any, redis_url: str, namespace: str
):
    long_ago = ApiKeys(redis, namespace=namespace, clock=lambda: utc_now() - timedelta(days=9))
    await long_ago.add("expired", expires_in=timedelta(days=1))
    check = (await checked(a_setup(tmp_path, redis_url, namespace)))["http api keys"]
    assert check.state == "warning"
    assert "footnote keys add" in check.mend


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3"])
async def test_beyond_loopback_it_warns_of_the_missing_tls_and_of_names_that_nobody_has_set(
    tmp_path: Path, redis_url: str, namespace: str, host: str
):
    found = await checked(a_setup(tmp_path, redis_url, namespace, host=host))
    assert found["http api"].state == found["http api hosts"].state == "warning"
    assert "TLS" in found["http api"].mend
    named = await checked(a_setup(tmp_path, redis_url, namespace, host=host, hosts=["kb.example.com"]))
    assert "http api hosts" not in named
