"""A model's server that sends far more than it was asked for: given up soon, while the event loop goes on."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable

import pytest
from aiohttp import web

from kb.config.model_settings import ModelSettings
from kb.errors import ModelReplyError, ModelUnavailableError
from kb.llm import bounds
from kb.llm.client import LanguageModel
from kb.llm.names import offered_models

KEY = "sk-ant-test-0123456789"
Body = Callable[[], AsyncIterator[bytes]]


def event(kind: str, **fields: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def text(said: str) -> bytes:
    return event("content_block_delta", index=0, delta={"type": "text_delta", "text": said})


OPENED = event("content_block_start", index=0, content_block={"type": "text", "text": ""})
ENDED = event("message_delta", delta={"stop_reason": "end_turn"})


async def long_text() -> AsyncIterator[bytes]:
    yield OPENED
    for _ in range(100):
        yield text("Nobody looks. " * 7_000)
    yield ENDED


async def quotes_and_stars() -> AsyncIterator[bytes]:
    yield OPENED + text("> *" * 230_000) + ENDED


async def one_endless_line() -> AsyncIterator[bytes]:
    yield b"data: "
    while True:
        yield b"x" * 65_536


async def empty_deltas() -> AsyncIterator[bytes]:
    yield OPENED
    while True:
        yield text("") * 200


async def pings() -> AsyncIterator[bytes]:
    while True:
        yield b": keep alive\n\n" * 4_000


async def brackets() -> AsyncIterator[bytes]:
    yield b'event: content_block_start\ndata: {"type": "x", "deep": ' + b"[" * 100_000 + b"\n\n"


async def thoughts() -> AsyncIterator[bytes]:
    yield event("content_block_start", index=0, content_block={"type": "thinking", "thinking": ""})
    while True:
        yield event(
            "content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "hm " * 3000}
        )


class Endpoint:
    """Sends these bytes to whoever asks; `status` other than 200 makes them an error page."""

    def __init__(self) -> None:
        self.body: Body = pings
        self.status = 200
        self.url = ""
        self.headers: dict[str, str] = {}
        self.asked: list[str] = []
        """What each request said that it takes, packed."""

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.headers.get("Accept-Encoding", ""))
        kind = {"content-type": "text/event-stream"}
        response = web.StreamResponse(status=self.status, headers=kind | self.headers)
        await response.prepare(request)
        try:
            async for part in self.body():
                await response.write(part)
        except ConnectionError:
            pass  # given up by the client, as it should be
        return response


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    endpoint = Endpoint()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", endpoint.serve)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    endpoint.url = f"http://{host}:{port}"
    yield endpoint
    await runner.cleanup()


@pytest.fixture
async def model(endpoint: Endpoint) -> AsyncIterator[LanguageModel]:
    settings = ModelSettings.model_validate({"api_key": KEY, "base_url": endpoint.url, "retries": 0})
    model = LanguageModel(settings)
    yield model
    await model.close()


async def ask(model: LanguageModel, *, deadline_s: float = 60.0) -> None:
    async def on_text(_: object) -> None:
        """Somebody looks on."""

    await model.converse(
        system="",
        messages=[{"role": "user", "content": "How many days?"}],
        max_tokens=600,
        deadline_s=deadline_s,
        on_text=on_text,
    )


@pytest.mark.parametrize(
    "body", [long_text, quotes_and_stars, one_endless_line, empty_deltas, brackets, thoughts]
)
async def test_a_reply_far_longer_than_asked_for_is_given_up_long_before_the_deadline(
    endpoint: Endpoint, model: LanguageModel, body: Body
) -> None:
    endpoint.body = body
    with pytest.raises(ModelReplyError):
        await ask(model)


async def test_an_endless_stream_without_events_ends_at_the_deadline_or_at_its_bound(
    endpoint: Endpoint, model: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MOST_BYTES", 2 << 20)  # lines of no event are read one by one

    async def now_and_then() -> AsyncIterator[bytes]:
        while True:
            yield b": keep alive\n\n"
            await asyncio.sleep(0.02)

    with pytest.raises(ModelReplyError):
        await ask(model)
    endpoint.body = now_and_then
    with pytest.raises(ModelUnavailableError, match=r"did not finish within 0\.3 s"):
        await ask(model, deadline_s=0.3)


async def test_an_error_page_and_a_list_of_models_without_end_are_given_up(
    endpoint: Endpoint, model: LanguageModel
) -> None:
    endpoint.body = one_endless_line
    with pytest.raises(ModelReplyError):
        await offered_models(endpoint.url)
    endpoint.status = 400
    with pytest.raises(ModelReplyError):
        await ask(model)


async def test_a_reply_is_asked_for_as_it_is_and_one_that_is_packed_all_the_same_is_given_up(
    endpoint: Endpoint, model: LanguageModel
) -> None:
    """200 MB of one letter are 200 kB on the way, and are unpacked in one go."""
    packed = gzip.compress(OPENED + text("Nobody looks. " * 1_000_000) + ENDED)

    async def bomb() -> AsyncIterator[bytes]:
        yield packed

    endpoint.body, endpoint.headers = bomb, {"content-encoding": "gzip"}
    with pytest.raises(ModelReplyError, match="compresses"):
        await ask(model)
    with pytest.raises(ModelReplyError, match="compresses"):
        await offered_models(endpoint.url)
    assert set(endpoint.asked) == {"identity"}


async def test_others_have_their_turn_while_a_stream_pours_in(
    endpoint: Endpoint, model: LanguageModel
) -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    endpoint.body = empty_deltas
    beside = asyncio.create_task(others())
    with pytest.raises(ModelReplyError):
        await ask(model)
    beside.cancel()
    assert turns > 10


async def test_json_of_thousands_of_brackets_is_an_unusable_reply(
    endpoint: Endpoint, model: LanguageModel
) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield OPENED + text('{"a":' + "[" * 9_000) + ENDED

    endpoint.body = body
    with pytest.raises(ModelReplyError):
        await model.complete_json("", "?", {"type": "object"}, max_tokens=600, deadline_s=10)
