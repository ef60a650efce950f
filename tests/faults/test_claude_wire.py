"""Claude's wire, with everything that goes wrong on it: our typed server, and somebody else's (llmock)."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import subprocess
import sys
import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx2
import pytest

from kb.config.model_settings import ModelSettings
from kb.errors import FootnoteError, ModelRefusedError, ModelReplyError, ModelUnavailableError, SettingsError
from kb.llm.client import LanguageModel, connect_model
from kb.llm.request import CitablePassage, search_result
from kb.llm.stream import CitedBlocks, Reply
from tests.fakes.messages_server import Cite, Failure, MessagesServer, Say, say_json
from tests.fakes.ports import free_port

KEY = "sk-ant-test-0123456789"
SCHEMA = {
    "type": "object",
    "properties": {"query": {"type": "string", "maxLength": 200}, "is_follow_up": {"type": "boolean"}},
    "required": ["query", "is_follow_up"],
}
NO_RETRY_AFTER = {"retry-after-ms": "1"}
LEAVE = CitablePassage(
    source="https://kb/leave", title="Leave", blocks=("Employees get 25 days.", "They expire on 31 March.")
)


def settings(url: str, **changes: Any) -> ModelSettings:
    fields: dict[str, Any] = {
        "api_key": KEY,
        "base_url": url,
        "native_citations": True,
        "answer_deadline_s": 20.0,
    }
    return ModelSettings(**fields | changes)


@pytest.fixture
async def server() -> AsyncIterator[MessagesServer]:
    async with MessagesServer(key=KEY) as server:
        yield server


@pytest.fixture
async def model(server: MessagesServer) -> AsyncIterator[LanguageModel]:
    model = LanguageModel(settings(server.url), first_backoff_s=0.01)
    yield model
    await model.close()


async def converse(model: LanguageModel, *, deadline_s: float = 20.0) -> Reply:
    return await model.converse(
        system="Answer from the passages.",
        messages=[
            {"role": "user", "content": [search_result(LEAVE), {"type": "text", "text": "How many days?"}]}
        ],
        max_tokens=500,
        deadline_s=deadline_s,
    )


async def ask(model: LanguageModel, *, deadline_s: float = 20.0) -> str:
    return (await converse(model, deadline_s=deadline_s)).text


async def test_a_cited_answer_arrives_with_its_sources(server: MessagesServer, model: LanguageModel) -> None:
    server.script(
        Say(
            Cite(text="You get 25 days of paid holiday a year."),
            " ",
            Cite(text="They expire on 31 March.", first=1, end=2),
        )
    )

    reply = await converse(model)

    assert [(block.text, block.citations) for block in reply.blocks] == [
        ("You get 25 days of paid holiday a year.", (CitedBlocks(passage=0, first=0, end=1),)),
        (" ", ()),
        ("They expire on 31 March.", (CitedBlocks(passage=0, first=1, end=2),)),
    ]
    assert server.refusals == []


@pytest.mark.parametrize("citations_first", [True, False])
async def test_a_citation_counts_whether_it_comes_before_or_after_its_text(
    server: MessagesServer, model: LanguageModel, citations_first: bool
) -> None:
    server.script(Say(Cite(text="You get 25 days."), citations_first=citations_first, thinking=True))

    (block,) = (await converse(model)).blocks

    assert (block.text, len(block.citations)) == ("You get 25 days.", 1)


async def test_thinking_is_no_part_of_the_answer(server: MessagesServer, model: LanguageModel) -> None:
    server.script(Say("25 days.", thinking=True))

    assert await ask(model) == "25 days."


async def test_json_is_held_to_its_schema_by_the_api(server: MessagesServer, model: LanguageModel) -> None:
    server.script(say_json({"query": "When do holidays expire?", "is_follow_up": True}))

    found = await model.complete_json("Rewrite.", "and when?", SCHEMA, max_tokens=300, deadline_s=20)

    assert found == {"query": "When do holidays expire?", "is_follow_up": True}
    sent = server.requests[0]
    assert sent["model"] == "claude-haiku-5-5"
    assert sent["output_config"]["effort"] == "low"
    assert sent["output_config"]["format"]["type"] == "json_schema"
    assert "temperature" not in sent
    assert server.refusals == []


async def test_other_endpoints_are_asked_for_json_in_the_prompt(server: MessagesServer) -> None:
    model = LanguageModel(settings(server.url, native_citations=None))
    server.script(Say('Sure!\n```json\n{"query": "x", "is_follow_up": false}\n```'))

    found = await model.complete_json("Rewrite.", "and when?", SCHEMA, max_tokens=300, deadline_s=20)

    assert found == {"query": "x", "is_follow_up": False}
    assert "output_config" not in server.requests[0]
    assert '"is_follow_up"' in server.requests[0]["system"]
    await model.close()


@pytest.mark.parametrize("status", [429, 500, 503, 529])
async def test_a_busy_server_is_asked_again(
    server: MessagesServer, model: LanguageModel, status: int
) -> None:
    server.script(Failure(status=status), Failure(status=status, headers=NO_RETRY_AFTER), Say("25 days."))

    assert await ask(model) == "25 days."
    assert server.calls == 3
    assert sum(one.retries for one in model.usage.values()) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413])
async def test_a_refused_request_is_not_repeated(
    server: MessagesServer, model: LanguageModel, status: int
) -> None:
    server.script(Failure(status=status))

    with pytest.raises(ModelUnavailableError, match=str(status)):
        await ask(model)
    assert server.calls == 1


async def test_retries_end(server: MessagesServer, model: LanguageModel) -> None:
    server.script(*[Failure(status=529, headers=NO_RETRY_AFTER)] * 5)

    with pytest.raises(ModelUnavailableError, match="529 overloaded_error"):
        await ask(model)
    assert server.calls == 3
    assert model.usage["claude-sonnet-5-5"].failures == 1


async def test_a_wait_longer_than_the_deadline_is_not_begun(
    server: MessagesServer, model: LanguageModel
) -> None:
    server.script(Failure(status=429, headers={"retry-after": "3600"}))

    with pytest.raises(ModelUnavailableError, match="429"):
        await ask(model, deadline_s=300.0)
    assert server.calls == 1


async def test_retry_after_as_a_date_is_understood(server: MessagesServer, model: LanguageModel) -> None:
    server.script(
        Failure(status=429, headers={"retry-after": "Wed, 01 Jan 2020 00:00:00 GMT"}), Say("25 days.")
    )

    assert await ask(model) == "25 days."


@pytest.mark.parametrize("fault", ["overloaded", "cut", "dropped"])
async def test_a_stream_that_breaks_is_begun_again(
    server: MessagesServer, model: LanguageModel, fault: Any
) -> None:
    server.script(Say("Half an ans", fault=fault), Say("25 days."))

    assert await ask(model) == "25 days."
    assert server.calls == 2


@pytest.mark.parametrize("fault", ["overloaded", "cut", "dropped"])
async def test_a_stream_that_always_breaks_is_an_outage(
    server: MessagesServer, model: LanguageModel, fault: Any
) -> None:
    server.script(*[Say("Half an ans", fault=fault)] * 3)

    with pytest.raises(ModelUnavailableError):
        await ask(model)


@pytest.mark.parametrize("fault", ["malformed", "unopened"])
async def test_a_chunk_that_cannot_be_read_is_a_bad_reply(
    server: MessagesServer, model: LanguageModel, fault: Any
) -> None:
    server.script(Say("Half an ans", fault=fault))

    with pytest.raises(ModelReplyError):
        await ask(model)
    assert server.calls == 1


async def test_an_empty_stream_is_a_cut_one(server: MessagesServer, model: LanguageModel) -> None:
    server.script(*[Say("Never", fault="cut", after=0)] * 3)

    with pytest.raises(ModelUnavailableError, match="cut"):
        await ask(model)


async def test_a_stalled_stream_ends_at_the_deadline(server: MessagesServer, model: LanguageModel) -> None:
    server.script(Say("Half an ans", fault="stall"))

    with pytest.raises(ModelUnavailableError, match=r"did not finish within 0\.3 s"):
        await ask(model, deadline_s=0.3)


async def test_a_refusal_is_not_an_outage(server: MessagesServer, model: LanguageModel) -> None:
    server.script(Say("I can", stop_reason="refusal"))

    with pytest.raises(ModelRefusedError, match="cyber"):
        await ask(model)


@pytest.mark.parametrize("stop_reason", ["max_tokens", "model_context_window_exceeded", "pause_turn"])
async def test_a_reply_that_is_not_whole_is_not_used(
    server: MessagesServer, model: LanguageModel, stop_reason: Any
) -> None:
    server.script(Say("You get 25", stop_reason=stop_reason))

    with pytest.raises(ModelReplyError, match=stop_reason):
        await ask(model)


async def test_silence_is_not_an_answer(server: MessagesServer, model: LanguageModel) -> None:
    server.script(Say(thinking=True))

    with pytest.raises(ModelReplyError, match="without a word"):
        await ask(model)


@pytest.mark.parametrize("said", ["no JSON at all", '{"query": ', "[1, 2]"])
async def test_what_is_no_json_object_is_a_bad_reply(
    server: MessagesServer, model: LanguageModel, said: str
) -> None:
    server.script(Say(said))

    with pytest.raises(ModelReplyError):
        await model.complete_json("Rewrite.", "and when?", SCHEMA, max_tokens=300, deadline_s=20)


async def test_a_host_that_is_not_there_is_an_outage() -> None:
    model = LanguageModel(settings(f"http://127.0.0.1:{free_port()}"), first_backoff_s=0.01)

    with pytest.raises(ModelUnavailableError, match="cannot be reached"):
        await ask(model)
    assert sum(one.retries for one in model.usage.values()) == 2
    await model.close()


async def test_the_users_words_stay_out_of_error_texts_and_logs(
    server: MessagesServer, model: LanguageModel, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    server.script(Failure(status=400, echo=True))

    with pytest.raises(ModelUnavailableError) as caught:
        await ask(model)
    shown = (
        str(caught.value)
        + repr(caught.value)
        + caplog.text
        + "".join(str(one.__dict__) for one in caplog.records)
    )
    assert "How many days" not in shown


async def test_the_key_is_in_no_error_and_no_repr(server: MessagesServer, model: LanguageModel) -> None:
    secret = "sk-ant-0-wrong"
    wrong = LanguageModel(settings(server.url, api_key=secret))
    with pytest.raises(ModelUnavailableError, match="ANTHROPIC_API_KEY") as caught:
        await ask(wrong)
    assert secret not in "".join(traceback.format_exception(caught.value)) + repr(wrong) + repr(wrong.usage)
    await wrong.close()


@pytest.mark.parametrize("key", ["sk-ant-tést", "sk-ant-a\nb", "sk ant", " "])
def test_a_key_that_cannot_be_sent_is_a_settings_error_without_the_key(key: str) -> None:
    with pytest.raises(SettingsError, match="ANTHROPIC_API_KEY") as caught:
        LanguageModel(ModelSettings(api_key=key))
    assert key.strip() == "" or key not in str(caught.value)


def test_no_provider_is_no_model() -> None:
    assert connect_model(ModelSettings()) is None
    assert connect_model(ModelSettings(provider="none", api_key=KEY)) is None


def test_a_named_provider_needs_its_address_or_key() -> None:
    with pytest.raises(SettingsError, match="ANTHROPIC_API_KEY"):
        connect_model(ModelSettings(provider="anthropic"))
    with pytest.raises(SettingsError, match="OLLAMA_BASE_URL"):
        connect_model(ModelSettings(provider="ollama"))


async def test_only_claude_itself_cites_natively_unless_told_otherwise() -> None:
    cases = {
        ModelSettings(api_key=KEY): True,
        ModelSettings(api_key=KEY, base_url="https://eu.api.anthropic.com"): True,
        ModelSettings(api_key=KEY, base_url="https://anthropic.com.evil.example"): False,
        ModelSettings(api_key=KEY, base_url="https://gateway.example", native_citations=True): True,
        ModelSettings(ollama_base_url="http://localhost:11434/v1/"): False,
    }
    for given, native in cases.items():
        model = LanguageModel(given)
        assert model.native_citations is native
        await model.close()


async def test_the_key_for_claude_is_not_sent_to_ollama(server: MessagesServer) -> None:
    model = LanguageModel(
        ModelSettings(
            provider="ollama", api_key=KEY, ollama_base_url=server.url + "/v1", answer_model="qwen3:8b"
        )
    )

    with pytest.raises(ModelUnavailableError, match="401"):
        await ask(model)
    assert server.headers[0]["authorization"] == "Bearer local"
    await model.close()


async def test_a_ping_tries_each_model_once(server: MessagesServer, model: LanguageModel) -> None:
    assert await model.ping() == ("claude-sonnet-5-5", "claude-haiku-5-5")
    assert [body["model"] for body in server.requests] == ["claude-sonnet-5-5", "claude-haiku-5-5"]


async def test_usage_adds_up(server: MessagesServer, model: LanguageModel) -> None:
    await asyncio.gather(ask(model), ask(model))

    (used,) = model.usage.values()
    assert (used.calls, used.input_tokens, used.output_tokens) == (2, 200, 40)


async def test_a_call_that_is_given_up_stays_given_up(server: MessagesServer, model: LanguageModel) -> None:
    server.script(Say("Half an ans", fault="stall"))
    task = asyncio.ensure_future(ask(model, deadline_s=60))
    await server.asked.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda body: body.update(temperature=0.1), "temperature"),
        (lambda body: body.pop("max_tokens"), "max_tokens"),
        (lambda body: body.update(surprise=1), "surprise"),
        (lambda body: body["messages"].append({"role": "assistant", "content": "{"}), "prefill"),
        (lambda body: body["messages"][0]["content"].append({"type": "picture"}), "block type"),
        (
            lambda body: body["messages"][0]["content"][0]["content"].append({"type": "image"}),
            "text blocks only",
        ),
        (lambda body: body["messages"][0]["content"].append({"type": "text", "text": " "}), "non-empty"),
        (
            lambda body: body.update(
                output_config={
                    "format": {
                        "type": "json_schema",
                        "schema": {"type": "object", "additionalProperties": False},
                    }
                }
            ),
            "structured outputs",
        ),
    ],
)
async def test_the_fake_server_refuses_what_claude_refuses(
    server: MessagesServer, model: LanguageModel, change: Callable[[dict[str, Any]], object], said: str
) -> None:
    await ask(model)
    body = json.loads(json.dumps(server.requests[0]))
    change(body)

    async with httpx2.AsyncClient() as client:
        headers = {name: server.headers[0][name] for name in ("authorization", "anthropic-version")}
        reply = await client.post(server.url + "/v1/messages", json=body, headers=headers)

    assert reply.status_code == 400
    assert said in reply.json()["error"]["message"]


class LLMock:
    """Somebody else's Claude, in a process of its own, with a verdict on its client."""

    def __init__(self, port: int) -> None:
        self.root = f"http://127.0.0.1:{port}"
        self.base_url = f"{self.root}/anthropic"

    def script(self, *behaviors: dict[str, Any]) -> None:
        httpx2.post(f"{self.root}/_llmock/reset")
        httpx2.post(f"{self.root}/_llmock/scenario", json={"behaviors": list(behaviors)}).raise_for_status()

    def findings(self) -> list[str]:
        verdict = httpx2.get(f"{self.root}/_llmock/verdict").json()
        return [finding["code"] for finding in verdict["findings"]]


@pytest.fixture(scope="module")
def llmock_server() -> Iterator[LLMock]:
    if importlib.util.find_spec("llmock") is None:
        pytest.skip("llmock is not installed (pip install --group dev)")
    port = free_port()
    command = [sys.executable, "-c", "from llmock.cli import app; app()", "serve", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield _ready(LLMock(port), process)
    finally:
        process.terminate()
        process.wait(timeout=20)


def _ready(mock: LLMock, process: subprocess.Popen[bytes]) -> LLMock:
    while process.poll() is None:
        try:
            httpx2.get(f"{mock.root}/health").raise_for_status()
        except httpx2.TransportError:
            time.sleep(0.05)  # still starting
        else:
            return mock
    raise AssertionError(f"llmock ended with {process.returncode}")


async def ask_llmock(mock: LLMock, *, deadline_s: float = 30.0) -> str:
    model = LanguageModel(settings(mock.base_url, native_citations=False), first_backoff_s=0.3)
    try:
        reply = await model.converse(
            system="Be brief.",
            messages=[{"role": "user", "content": "How many days?"}],
            max_tokens=500,
            deadline_s=deadline_s,
        )
        return reply.text
    finally:
        await model.close()


async def test_llmock_sees_a_client_that_waits_as_it_was_told(llmock_server: LLMock) -> None:
    llmock_server.script(
        {"type": "fail", "status": 429, "retry_after": 1},
        {"type": "fail", "status": 529},
        {"type": "reply", "text": "25 days."},
    )

    assert await ask_llmock(llmock_server) == "25 days."
    assert llmock_server.findings() == []


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("disconnect", ModelUnavailableError),
        ("truncate", ModelUnavailableError),
        ("malformed", ModelReplyError),
    ],
)
async def test_llmock_cannot_pass_a_broken_stream_off_as_an_answer(
    llmock_server: LLMock, kind: str, error: type[FootnoteError]
) -> None:
    llmock_server.script({"type": "stream_fault", "kind": kind, "after_chunks": 3, "times": None})

    with pytest.raises(error):
        await ask_llmock(llmock_server)


@pytest.mark.parametrize("kind", ["disconnect", "truncate"])
async def test_llmock_sees_a_broken_stream_begun_again(llmock_server: LLMock, kind: str) -> None:
    llmock_server.script(
        {"type": "stream_fault", "kind": kind, "after_chunks": 3, "times": 2},
        {"type": "reply", "text": "25 days.", "times": None},
    )

    assert await ask_llmock(llmock_server) == "25 days."
    assert llmock_server.findings() == []


async def test_llmock_stalls_and_is_left(llmock_server: LLMock) -> None:
    llmock_server.script({"type": "stream_fault", "kind": "stall", "after_chunks": 2, "stall_seconds": 30})

    with pytest.raises(ModelUnavailableError, match="did not finish"):
        await ask_llmock(llmock_server, deadline_s=1.0)


async def test_llmock_is_down(llmock_server: LLMock) -> None:
    llmock_server.script({"type": "fail", "status": 503, "times": None})

    with pytest.raises(ModelUnavailableError, match="503"):
        await ask_llmock(llmock_server)
    assert "retry_storm" not in llmock_server.findings()
