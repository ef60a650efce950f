"""One call to the answer model: text as it grows, tools, what is cached and what is counted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from anthropic.types import MessageParam, ToolParam

from kb.config.model_settings import ModelSettings
from kb.errors import ModelReplyError, ModelUnavailableError
from kb.llm.client import LanguageModel
from kb.llm.request import CitablePassage, search_result, tool_result
from kb.llm.stream import Reply, TextBlock, ToolUse, parse_reply
from tests.fakes.messages_replies import message
from tests.fakes.messages_server import Cite, MessagesServer, Say, Use, say_json

KEY = "sk-ant-test-0123456789"
SEARCH: ToolParam = {
    "name": "search_pages",
    "description": "Searches the pages.",
    "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}
LEAVE = CitablePassage(source="https://kb/leave", title="Leave", blocks=("Employees get 25 days.",))
SICK = CitablePassage(source="https://kb/sick", title="Sick", blocks=("Call before nine.", "Rest."))
ASKED: list[MessageParam] = [
    {"role": "user", "content": [search_result(LEAVE), {"type": "text", "text": "How many days?"}]}
]
EPHEMERAL = {"type": "ephemeral"}


def settings(url: str, **changes: Any) -> ModelSettings:
    fields = {"api_key": KEY, "base_url": url, "native_citations": True, "tools": True}
    return ModelSettings.model_validate(fields | changes)


@pytest.fixture
async def server() -> AsyncIterator[MessagesServer]:
    async with MessagesServer(key=KEY) as server:
        yield server


@pytest.fixture
async def model(server: MessagesServer) -> AsyncIterator[LanguageModel]:
    model = LanguageModel(settings(server.url), first_backoff_s=0.01)
    yield model
    await model.close()


class Watcher:
    def __init__(self) -> None:
        self.seen: list[tuple[TextBlock, ...]] = []

    async def __call__(self, blocks: tuple[TextBlock, ...]) -> None:
        self.seen.append(blocks)

    @property
    def texts(self) -> list[str]:
        return ["".join(block.text for block in blocks) for blocks in self.seen]


async def ask(
    model: LanguageModel,
    messages: list[MessageParam] = ASKED,
    *,
    tools: tuple[ToolParam, ...] = (SEARCH,),
    on_text: Watcher | None = None,
) -> Reply:
    return await model.converse(
        system="Answer from the passages.",
        messages=messages,
        tools=tools,
        max_tokens=500,
        deadline_s=20,
        on_text=on_text,
    )


async def test_text_is_shown_as_it_grows_and_at_last_whole(
    server: MessagesServer, model: LanguageModel
) -> None:
    pieces = ("You get twenty-five days of paid holiday in a year. ", "They expire on the last day of March.")
    server.script(Say(Cite(text=pieces[0]), pieces[1], thinking=True))
    watcher = Watcher()

    reply = await ask(model, on_text=watcher)

    assert len(watcher.seen) >= 2
    assert all(
        later.startswith(earlier) for earlier, later in zip(watcher.texts, watcher.texts[1:], strict=False)
    )
    assert watcher.seen[-1] == reply.blocks
    assert reply.text == "".join(pieces)
    assert reply.blocks[0].citations[0].passage == 0


async def test_a_stream_that_breaks_is_shown_from_its_beginning_again(
    server: MessagesServer, model: LanguageModel
) -> None:
    server.script(
        Say("A beginning that nobody will ever hear the end of, since it breaks.", fault="dropped", after=4),
        Say("You get 25 days."),
    )
    watcher = Watcher()

    reply = await ask(model, on_text=watcher)

    assert reply.text == watcher.texts[-1] == "You get 25 days."
    assert watcher.texts[0].startswith("A beginning")
    assert model.usage["claude-sonnet-5-5"].retries == 1


async def test_a_short_reply_is_shown_too(server: MessagesServer, model: LanguageModel) -> None:
    server.script(Say("No."))
    watcher = Watcher()

    await ask(model, on_text=watcher)

    assert watcher.texts == ["No."]


async def test_a_tool_is_called_and_its_passages_are_cited(
    server: MessagesServer, model: LanguageModel
) -> None:
    server.script(
        Say("Let me look.", Use(name="search_pages", input={"query": "sick leave"}), thinking=True),
        Say(Cite(text="Call before nine.", passage=1)),
    )

    first = await ask(model)
    results = [tool_result(use.id, [SICK]) for use in first.tool_uses]
    rounds: list[MessageParam] = [
        *ASKED,
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": results},
    ]
    second = await ask(model, rounds)

    assert first.stop_reason == "tool_use"
    assert first.tool_uses == (ToolUse(id="toolu_test", name="search_pages", input={"query": "sick leave"}),)
    assert [block["type"] for block in first.content] == ["thinking", "text", "tool_use"]
    assert second.blocks[0].citations[0].passage == 1
    assert server.refusals == []


async def test_a_tool_may_be_called_without_a_word(server: MessagesServer, model: LanguageModel) -> None:
    server.script(Say(Use(name="search_pages", input={})))

    reply = await ask(model)

    assert (reply.text, len(reply.tool_uses)) == ("", 1)


async def test_a_tools_result_may_be_words(server: MessagesServer, model: LanguageModel) -> None:
    server.script(Say(Use(name="search_pages", input={"query": "x"})), Say("Nothing."))
    first = await ask(model)
    said = tool_result(first.tool_uses[0].id, "nothing was found", is_error=True)

    await ask(
        model,
        [*ASKED, {"role": "assistant", "content": first.content}, {"role": "user", "content": [said]}],
    )

    assert server.refusals == []


async def test_a_reply_that_ran_out_of_tokens_is_no_reply(
    server: MessagesServer, model: LanguageModel
) -> None:
    server.script(Say("You get", stop_reason="max_tokens"))

    with pytest.raises(ModelReplyError, match="max_tokens"):
        await ask(model)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_use", "id": "t", "name": "search_pages", "partial_json": '{"query": '},
        {"type": "tool_use", "id": "t", "name": "search_pages", "partial_json": '["x"]'},
        {"type": "tool_use", "id": "", "name": "search_pages", "input": {}},
    ],
)
def test_a_tool_that_is_called_with_nonsense_is_an_unusable_reply(block: dict[str, Any]) -> None:
    with pytest.raises(ModelReplyError, match="calls a tool"):
        parse_reply({"content": [block], "stop_reason": "tool_use"})


async def test_a_whole_message_reads_as_its_stream(server: MessagesServer, model: LanguageModel) -> None:
    step = Say(
        Cite(text="You get 25 days."),
        " Also:",
        Use(name="search_pages", input={"query": "x"}),
        thinking=True,
        cache_read=7,
    )
    server.script(step)

    streamed = await ask(model)

    assert parse_reply(json.loads(message(step, server.requests[0]).model_dump_json())) == streamed


async def test_claude_caches_instructions_tools_and_passages(
    server: MessagesServer, model: LanguageModel
) -> None:
    await ask(model)
    sent = server.requests[0]

    assert sent["system"] == [
        {"type": "text", "text": "Answer from the passages.", "cache_control": EPHEMERAL}
    ]
    assert [block.get("cache_control") for block in sent["messages"][-1]["content"]] == [None, EPHEMERAL]
    assert "cache_control" not in json.dumps(ASKED), "the caller's messages are left as they are"


async def test_without_tools_there_is_no_second_round_to_cache_for(
    server: MessagesServer, model: LanguageModel
) -> None:
    await ask(model, tools=())
    await ask(model, [{"role": "user", "content": "How many days?"}])

    assert "cache_control" not in json.dumps(server.requests[0]["messages"])
    assert server.requests[1]["messages"][-1]["content"] == [
        {"type": "text", "text": "How many days?", "cache_control": EPHEMERAL}
    ]


async def test_other_endpoints_are_sent_no_cache_control(server: MessagesServer) -> None:
    model = LanguageModel(settings(server.url, native_citations=None, tools=None))
    server.script(Say("25."), say_json({}))
    await ask(model, [{"role": "user", "content": "How many days?"}], tools=())
    await model.complete_json("Rewrite.", "x", {"type": "object"}, max_tokens=9, deadline_s=20)

    assert "cache_control" not in json.dumps(server.requests)
    assert isinstance(server.requests[0]["system"], str)
    assert model.tools is False
    await model.close()


async def test_tokens_are_counted_by_model(server: MessagesServer, model: LanguageModel) -> None:
    server.script(Say("25.", cache_written=900), Say("25.", cache_read=900), say_json({}))
    await ask(model)
    await ask(model)
    await model.complete_json("Rewrite.", "x", {"type": "object"}, max_tokens=9, deadline_s=20)

    used = model.usage["claude-sonnet-5-5"]
    assert (used.calls, used.input_tokens, used.output_tokens) == (2, 200, 40)
    assert (used.cache_written_tokens, used.cache_read_tokens) == (900, 900)
    assert model.usage["claude-haiku-5-5"].calls == 1


async def test_tools_are_the_endpoints_unless_told_otherwise() -> None:
    cases = {
        ModelSettings.model_validate({"api_key": KEY}): True,
        ModelSettings.model_validate({"api_key": KEY, "tools": False}): False,
        ModelSettings.model_validate({"api_key": KEY, "base_url": "https://gateway.example"}): False,
        ModelSettings.model_validate({"ollama_base_url": "http://localhost:1", "tools": True}): True,
    }
    for given, tools in cases.items():
        model = LanguageModel(given)
        assert model.tools is tools
        await model.close()


async def test_a_deadline_covers_whoever_looks_on(server: MessagesServer, model: LanguageModel) -> None:
    server.script(Say("A beginning that is quite long enough to be shown.", fault="stall", after=4))
    watcher = Watcher()

    with pytest.raises(ModelUnavailableError, match="did not finish"):
        await model.converse(system="s", messages=ASKED, max_tokens=9, deadline_s=0.5, on_text=watcher)
    assert watcher.seen
