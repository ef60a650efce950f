"""The alert rules and the dashboard of deploy/, in a real Prometheus that watches a real bot."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.deploy.conftest import Watched
from tests.deploy.test_rules import DEPLOYED, ROOT, alerts, expressions, needed, rules_of
from tests.fakes.ports import free_port
from tests.fakes.waiting import until

METRIC = re.compile(r"\b(?:footnote|process)_[a-z0-9_]+")
SUFFIX = re.compile(r"_(?:bucket|sum|count)$")
STANDARD = frozenset({"process_virtual_memory_bytes", "process_start_time_seconds"})
"""That Prometheus' client tells besides, on Linux."""
NOT_HERE = {"footnote_reranker_up": "gauge", "footnote_rewrite_mean_seconds": "gauge"}
"""Told only where a reranker is wanted, and once a question was rewritten."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.timeout(400),
]


@dataclass(frozen=True, kw_only=True)
class Prometheus:
    url: str

    async def get(self, path: str, **asked: str) -> Any:
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{self.url}/api/v1/{path}", params=asked) as response,
        ):
            told = await response.json()
        assert told["status"] == "success", told
        return told["data"]

    async def value(self, expression: str) -> list[str]:
        return [one["value"][1] for one in (await self.get("query", query=expression))["result"]]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def prometheus(watched: Watched, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Prometheus]:
    """With the configuration of deploy/, but for the bot's port and the
    pauses; it has scraped and looked at the rules.
    """
    program = needed("prometheus")
    folder = tmp_path_factory.mktemp("prometheus")
    shutil.copy(DEPLOYED / "footnote-rules.yaml", folder)
    config = yaml.safe_load((DEPLOYED / "prometheus.yaml").read_text(encoding="utf-8"))
    config["global"] = {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"}
    config["scrape_configs"][0]["static_configs"][0]["targets"] = [watched.metrics]
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    port = free_port()
    with (folder / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            program,
            f"--config.file={folder / 'prometheus.yaml'}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
            stdout=log,
            stderr=log,
        )
    try:
        server = Prometheus(url=f"http://127.0.0.1:{port}")
        await until(lambda: _has_looked(server, process, folder), seconds=60, pause=0.2)
        yield server
    finally:
        process.terminate()
        await process.wait()


async def _has_looked(server: Prometheus, process: asyncio.subprocess.Process, folder: Path) -> bool:
    assert process.returncode is None, (folder / "log").read_text()
    try:
        rules = await server.get("rules")
        counted = await server.value("footnote_questions_total")
    except aiohttp.ClientError:
        return False
    return bool(counted) and all(rule["health"] != "unknown" for rule in rules_of(rules))


@pytest.mark.series
async def test_prometheus_reads_the_figures_and_evaluates_every_rule(prometheus: Prometheus) -> None:
    assert await prometheus.value('up{job="footnote"}') == ["1"]
    told = rules_of(await prometheus.get("rules"))
    assert [(rule["name"], rule.get("lastError")) for rule in told if rule["health"] != "ok"] == []
    assert {rule["name"] for rule in told if rule["type"] == "alerting"} == set(alerts())
    assert [rule["name"] for rule in told if rule.get("state") == "firing"] == []


@pytest.mark.series
async def test_what_was_asked_and_synced_is_told(prometheus: Prometheus) -> None:
    assert await prometheus.value("footnote_questions_total") == ["1"]
    assert await prometheus.value('footnote_process_answer_seconds_count{outcome="answered"}') == ["1"]
    assert await prometheus.value("footnote_slack_connected + footnote_store_up + footnote_index_up") == ["3"]
    assert await prometheus.value('footnote_sync_failures_in_a_row{source="handbook"}') == ["0"]
    [ago] = await prometheus.value('time() - footnote_sync_last_success_timestamp_seconds{source="handbook"}')
    assert 0 <= float(ago) < 400
    [memory] = await prometheus.value("process_resident_memory_bytes")
    assert float(memory) > 50e6


def filled(expression: str) -> str:
    return expression.replace("$job", "footnote").replace("$__rate_interval", "1m")


@pytest.mark.series
async def test_every_expression_of_the_dashboard_is_answered(prometheus: Prometheus) -> None:
    for title, expression in expressions():
        assert "$" not in filled(expression), title
        await prometheus.value(filled(expression))


async def exported(watched: Watched) -> dict[str, str]:
    """Name -> its kind."""
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://{watched.metrics}/metrics") as response,
    ):
        text = await response.text()
    return NOT_HERE | {
        family.name + ("_total" if family.type == "counter" else ""): family.type
        for family in text_string_to_metric_families(text)
    }


async def test_rules_and_dashboard_name_only_figures_that_are_exported(watched: Watched) -> None:
    asked = " ".join(expression for _, expression in expressions())
    asked += " ".join(str(rule["expr"]) for rule in alerts().values())
    known = await exported(watched)
    named = {SUFFIX.sub("", name) for name in METRIC.findall(re.sub(r"job:footnote\w+:\w+", "", asked))}
    assert named - set(known) == set()


async def test_the_table_in_the_docs_is_of_the_figures_that_are_exported(watched: Watched) -> None:
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z0-9_]+)(?:\{[a-z_, ]+\})?` \| (\w+) \|", page, re.MULTILINE)
    assert len(rows) == len(dict(rows))
    told = {name: kind for name, kind in (await exported(watched)).items() if name not in STANDARD}
    assert dict(rows) == told


async def test_the_text_is_as_prometheus_wants_it(watched: Watched) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://{watched.metrics}/metrics") as response,
    ):
        text = await response.text()
    done = await asyncio.to_thread(
        subprocess.run, [needed("promtool"), "check", "metrics"], input=text.encode(), capture_output=True
    )
    problems = done.stderr.decode().splitlines()
    assert [
        one for one in problems if not one.startswith("footnote_answer_seconds ")
    ] == []  # quantiles of a gauge
