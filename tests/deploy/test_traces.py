"""What a collector is told of a question and of a sync, and what the log and the question cost without one."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
from pathlib import Path

import aiohttp
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from bot.cli.composition.telemetry import telemetry
from kb.config.server_settings import TelemetrySettings
from kb.runtime.tracing import current_ids, span
from tests.deploy.conftest import QUESTION, Watched
from tests.fakes.collector import attributes
from tests.fakes.serving import environment, sample_data
from tests.fakes.waiting import until
from tests.fakes.warm_command import WarmCommand

pytestmark = [
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.timeout(400),
]

CODES = {
    *(f"footnote.{name}" for name in ("door", "outcome", "question_id", "source", "state")),
    *(f"gen_ai.{name}" for name in ("operation.name", "provider.name", "request.model")),
    "gen_ai.response.finish_reasons",
    "server.address",
}
"""What is no number: names and codes of ours, of Slack and of the model's maker."""
OURS = {"answer", "answered", "source", "question", "handbook", "general", "page", "pages", "slack", "havik"}
WORD = re.compile(r"[^\W\d_]{4,}")


def the_question(watched: Watched) -> Span:
    return asked_at(watched, "slack")


def asked_at(watched: Watched, door: str) -> Span:
    [root] = [one for one in watched.collector.named("question") if attributes(one)["footnote.door"] == door]
    return root


async def test_a_question_is_one_trace_from_its_words_to_its_post(watched: Watched) -> None:
    root = the_question(watched)
    told = attributes(root)
    assert root.parent_span_id == b""
    assert (told["footnote.door"], told["footnote.attempt"], told["footnote.outcome"]) == (
        "slack",
        1,
        "answered",
    )
    assert str(told["footnote.question_id"]).endswith(watched.asked)
    parts = watched.collector.below(root)
    assert {"rewrite", "embed", "search", "answer", "check", "model", "post"} <= {one.name for one in parts}
    assert len(parts) + 1 == len(watched.collector.trace_of(root))
    for part in parts:
        assert root.start_time_unix_nano <= part.start_time_unix_nano <= part.end_time_unix_nano
        assert part.end_time_unix_nano <= root.end_time_unix_nano


async def test_a_request_to_the_model_has_the_names_that_opentelemetry_gives_it(watched: Watched) -> None:
    root = the_question(watched)
    [answering] = [one for one in watched.collector.below(root) if one.name == "answer"]
    asked = [attributes(one) for one in watched.collector.below(answering) if one.name == "model"]
    assert {one["gen_ai.request.model"] for one in asked} <= {
        body["model"] for body in watched.model.requests
    }
    for one in asked:
        assert one["gen_ai.operation.name"] == "chat"
        assert one["gen_ai.usage.input_tokens"] > 0
        assert one["gen_ai.usage.output_tokens"] > 0


async def test_a_sync_is_one_trace_with_a_part_for_each_source_and_none_for_each_page(
    watched: Watched,
) -> None:
    [root] = watched.collector.named("sync")
    assert attributes(root)["footnote.full"] is True
    parts = watched.collector.below(root)
    assert [attributes(one)["footnote.source"] for one in parts if one.name == "list"] == ["handbook"]
    assert {"list", "read", "embed", "write"} <= {one.name for one in parts}
    assert len(parts) < 20


async def test_no_word_that_somebody_wrote_is_in_a_trace(watched: Watched) -> None:
    written = set(WORD.findall(f"{QUESTION} {watched.answer}".lower())) - OURS
    assert len(written) > 15
    for one in watched.collector.spans:
        told = attributes(one)
        assert {key for key, value in told.items() if not isinstance(value, int | float)} <= CODES
        assert list(one.events) == []
        seen = WORD.findall(f"{list(told.values())} {one.name} {one.status.message}".lower())
        assert written & set(seen) == set()


async def test_whoever_runs_the_model_is_told_nothing_of_the_trace(watched: Watched) -> None:
    assert [one for one in watched.model.headers if "traceparent" in one] == []


async def test_the_service_is_named(watched: Watched) -> None:
    told = attributes(watched.collector.resources[0])
    assert told["service.name"] == "footnote"
    assert told["service.version"]


async def test_the_log_lines_of_a_question_carry_its_trace(watched: Watched) -> None:
    root = the_question(watched)
    lines = [json.loads(line) for line in watched.bot.log.splitlines() if line.startswith("{")]
    told = [one for one in lines if str(one.get("question_id", "")).endswith(watched.asked)]
    worked_on = [one for one in told if one["logger"] != "bot.queue.queue"]  # that is how it came in
    assert worked_on
    assert {one.get("trace_id") for one in worked_on} == {root.trace_id.hex()}
    completed = [one for one in lines if one["event"] == "llm.completed"]
    spans = {one.span_id.hex() for one in watched.collector.named("model")}
    assert completed
    assert all(one["span_id"] in spans for one in completed)


async def test_a_search_by_the_http_api_is_one_trace_as_well(watched: Watched, tmp_path: Path) -> None:
    _, made, _ = await asyncio.to_thread(
        footnote, tmp_path, "keys", "add", "traced", "--json", "--data", watched.bot.data
    )
    keyed = {"Authorization": f"Bearer {json.loads(made)['key']}"}
    search = f"http://{watched.metrics}/api/v1/search"
    async with (
        aiohttp.ClientSession(headers=keyed) as session,
        session.post(search, json={"query": QUESTION}) as response,
    ):
        assert response.status == 200
    await until(lambda: len(watched.collector.named("question")) == 2)
    root = asked_at(watched, "api")
    assert {"rewrite", "embed", "search"} <= {one.name for one in watched.collector.below(root)}


async def test_without_a_collector_no_thread_is_started_and_nothing_is_traced() -> None:
    before = {thread.name for thread in threading.enumerate()}
    async with telemetry(TelemetrySettings()):
        with span("question"):
            assert current_ids() is None
        assert {thread.name for thread in threading.enumerate()} == before


async def test_a_collector_that_is_away_costs_no_answer(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    data = await asyncio.to_thread(sample_data, tmp_path_factory.getbasetemp(), "no-collector")
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections, and never says a word
        traces = {"FOOTNOTE_TELEMETRY__TRACES": f"http://127.0.0.1:{silent.getsockname()[1]}"}
        code, answer, errors = await asyncio.to_thread(
            footnote, tmp_path, "ask", QUESTION, "--json", "--data", data, **traces
        )
    assert code == 0, errors
    assert json.loads(answer)["outcome"] == "answered"
    assert "Traceback" not in errors


def footnote(folder: Path, *arguments: str | Path, **variables: str) -> tuple[int, str, str]:
    """Its exit code, its output and its errors."""
    return WarmCommand(folder).run(
        [*map(str, arguments)], folder=folder, variables=environment(**variables), timeout=200
    )
