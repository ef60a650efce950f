"""A model that sends nothing: requests go to a file, replies come from
one, and nothing stands in for one that is missing.
"""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from anthropic.types import ToolParam

from kb.config.model_settings import ModelSettings
from kb.config.settings import Settings
from kb.errors import ModelReplyError, SettingsError
from kb.llm.recorded import (
    PendingReplyError,
    RecordedModel,
    custom_id,
    read_replies,
    unknown_requests,
    write_requests,
)
from kb.llm.stream import Reply, TextBlock
from kb.models import Turn
from kb.rewriting.heuristic import HeuristicRewriter
from kb.rewriting.model import ModelRewriter
from kb.rewriting.rewriter import RewriteChoice
from tests.fakes.messages_replies import message
from tests.fakes.messages_rules import API_VERSION, check_request
from tests.fakes.messages_server import Cite, Say, Use

SEARCH: ToolParam = {
    "name": "search_pages",
    "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}},
}
CLAUDE = ModelSettings(provider="anthropic")


async def ask(model: RecordedModel, question: str = "How many days?", **more: Any) -> Reply:
    return await model.converse(
        system="Answer.",
        messages=[{"role": "user", "content": question}],
        tools=[SEARCH],
        max_tokens=100,
        deadline_s=5,
        **more,
    )


async def recorded(*questions: str) -> RecordedModel:
    model = RecordedModel(CLAUDE, {})
    for question in questions:
        with pytest.raises(PendingReplyError):
            await ask(model, question)
    return model


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


async def test_what_is_recorded_is_what_claude_takes(tmp_path: Path) -> None:
    model = await recorded("How many days?", "And for part-timers: € 5?", "How many days?")
    write_requests(tmp_path / "ask.jsonl", list(model.recorded.values()))

    lines = lines_of(tmp_path / "ask.jsonl")
    assert len(lines) == 2
    for line in lines:
        assert line.keys() == {"custom_id", "params"}
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", line["custom_id"])
        assert "stream" not in line["params"]
        check_request({"x-api-key": "k", "anthropic-version": API_VERSION}, line["params"], key="k")
    assert model.usage["claude-sonnet-5-5"].input_tokens == 0


async def test_replies_of_the_batches_api_and_by_hand_are_given_back(tmp_path: Path) -> None:
    model = await recorded("a", "b", "c", "d")
    (first, first_asked), *others = [(one.custom_id, one.params) for one in model.recorded.values()]
    whole = json.loads(
        message(Say("25 ", Cite(text="days.", passage=9), thinking=True), first_asked).model_dump_json()
    )
    (tmp_path / "got.jsonl").write_text(
        "\n".join(
            json.dumps(line)
            for line in (
                {"custom_id": first, "result": {"type": "succeeded", "message": whole}},
                {"custom_id": others[0][0], "text": "By hand. [1]"},
                {"custom_id": others[1][0], "search": "part-time"},
                {"custom_id": others[2][0], "result": {"type": "errored", "error": {"type": "x"}}},
            )
        )
    )
    model = RecordedModel(CLAUDE, read_replies([tmp_path / "got.jsonl"]))

    assert (await ask(model, "a")).text == "25 days."
    assert (await ask(model, "b")).text == "By hand. [1]"
    searched = await ask(model, "c")
    assert (searched.tool_uses[0].name, searched.tool_uses[0].input) == (
        "search_pages",
        {"query": "part-time"},
    )
    assert searched.stop_reason == "tool_use"
    with pytest.raises(PendingReplyError):
        await ask(model, "d")
    assert model.usage["claude-sonnet-5-5"].output_tokens == 20


async def test_a_known_reply_is_shown_like_a_stream() -> None:
    model = await recorded("a")
    (asked,) = model.recorded
    replies = {asked: {"content": [{"type": "text", "text": "25 days."}], "stop_reason": "end_turn"}}
    seen: list[tuple[TextBlock, ...]] = []

    async def on_text(blocks: tuple[TextBlock, ...]) -> None:
        seen.append(blocks)

    reply = await ask(RecordedModel(CLAUDE, replies), "a", on_text=on_text)

    assert seen == [reply.blocks]


async def test_an_unusable_reply_fails_as_it_would_on_the_wire() -> None:
    model = await recorded("a")
    (asked,) = model.recorded
    step = Say(Use(name="search_pages", input={"query": "x"}), stop_reason="max_tokens")
    cut = json.loads(message(step, {"model": "m", "messages": []}).model_dump_json())

    with pytest.raises(ModelReplyError, match="max_tokens"):
        await ask(RecordedModel(CLAUDE, {asked: cut}), "a")


def test_the_same_request_has_the_same_id_whatever_the_order_of_its_keys() -> None:
    assert custom_id({"a": 1, "b": {"c": 2, "d": 3}}) == custom_id({"b": {"d": 3, "c": 2}, "a": 1})
    assert custom_id({"a": 1}) != custom_id({"a": 2})


async def test_rules_do_not_stand_in_for_a_rewrite_that_is_not_there_yet() -> None:
    settings = Settings(model=CLAUDE)
    model = RecordedModel(settings.model, {})
    rewriter = RewriteChoice(HeuristicRewriter(), ModelRewriter(model, settings))
    turns = [Turn(question="What is mulch?", answer="Mulch is ground wood for gardens.")]

    with unknown_requests() as unknown, pytest.raises(PendingReplyError):
        await rewriter.rewrite("and the price?", turns, language="en")
    assert unknown == list(model.recorded)
    assert len(unknown) == 1


async def test_requests_of_tasks_are_seen_and_those_of_others_are_not() -> None:
    model = RecordedModel(CLAUDE, {})
    with unknown_requests() as mine:
        await asyncio.gather(ask(model, "a"), ask(model, "b"), return_exceptions=True)
    with unknown_requests() as others:
        pass
    assert (len(mine), others) == (2, [])


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"custom_id": "a"}',
        '{"custom_id": "a", "text": ""}',
        '{"custom_id": "a b", "text": "x"}',
        '{"custom_id": "a", "text": "x", "search": "y"}',
    ],
)
def test_a_line_of_another_form_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "got.jsonl"
    file.write_text('{"custom_id": "a", "text": "x"}\n\n' + line)
    with pytest.raises(SettingsError, match=r"got\.jsonl, line 3 is no reply"):
        read_replies([file])


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nope\.jsonl cannot be read"):
        read_replies([tmp_path / "nope.jsonl"])


def test_the_later_of_two_replies_counts(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).write_text(json.dumps({"custom_id": "a", "text": name}))
    replies = read_replies([tmp_path / "first", tmp_path / "second"])
    assert replies["a"]["content"][0]["text"] == "second"
