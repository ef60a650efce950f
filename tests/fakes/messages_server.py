"""A Messages API on loopback, typed from `anthropic.types`: it refuses what Claude refuses and replies as Claude does.

    async with MessagesServer() as server:
        server.script(Failure(status=529), Say("Hello."))     # what the next requests get; then it answers by itself
        ... ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY=server.key ...
        assert server.calls == 2

Replies are built as the SDK's own types, so that a change of the API in a new SDK fails here. Unscripted, it answers
from the passages that it was sent (the sentences with most words of the question, cited) or in the schema asked for.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from aiohttp import web
from anthropic.types import RawContentBlockDeltaEvent, TextDelta

from tests.fakes.messages_replies import Cite, Fault, Say, Use, events, message, say_json
from tests.fakes.messages_rules import RefusedRequestError, check_request, search_results

__all__ = ["Cite", "Failure", "MessagesServer", "Say", "Use", "say_json"]

STATUS_TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


@dataclass(frozen=True, kw_only=True)
class Failure:
    """An HTTP error. `echo`: the body repeats the request, as some gateways do."""

    status: int
    headers: Mapping[str, str] | None = None
    echo: bool = False


class MessagesServer:
    """`requests` holds the bodies of every request, `headers` their headers, refused ones included.

    `answering`: makes the reply to an unscripted request of its body.
    `offers`: the names that it lists as Ollama does; without it there is no list.
    """

    def __init__(
        self,
        *,
        key: str = "sk-ant-test-0123456789",
        answering: Callable[[Mapping[str, Any]], Say] | None = None,
        offers: Sequence[str] | None = None,
    ) -> None:
        self.key = key
        self._answering = answering or answer_by_itself
        self._offers = offers
        self.url = ""
        self.requests: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.refusals: list[str] = []
        self.asked = asyncio.Event()
        self._script: deque[Say | Failure] = deque()
        self._closing = asyncio.Event()

    @property
    def calls(self) -> int:
        return len(self.requests)

    def script(self, *steps: Say | Failure) -> None:
        self._script.extend(steps)

    def unscript(self) -> None:
        """Drops what was scripted and not asked for."""
        self._script.clear()

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=32 * 1024**2)
        app.router.add_post("/v1/messages", self._messages)
        app.router.add_get("/api/tags", self._tags)
        self._runner = web.AppRunner(app, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing.set()
        await self._runner.cleanup()

    async def _tags(self, _: web.Request) -> web.Response:
        if self._offers is None:
            raise web.HTTPNotFound
        return web.json_response({"models": [{"name": name} for name in self._offers]})

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        self.asked.set()
        self.headers.append(
            dict(request.headers.items()) | {k.lower(): v for k, v in request.headers.items()}
        )
        try:
            check_request(request.headers, body, key=self.key)
        except RefusedRequestError as error:
            self.refusals.append(str(error))
            return _error(error.status, error.kind, str(error))
        step = self._script.popleft() if self._script else self._answering(body)
        if isinstance(step, Failure):
            text = json.dumps(body) if step.echo else "scripted"
            return _error(step.status, STATUS_TYPES.get(step.status, "api_error"), text, step.headers)
        if not body.get("stream"):
            return web.json_response(text=message(step, body).model_dump_json())
        return await self._stream(request, step, body)

    async def _stream(self, request: web.Request, step: Say, body: dict[str, Any]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream", "request-id": "req_test"})
        await response.prepare(request)
        for at, event in enumerate(events(step, body)):
            if step.fault is not None and at == step.after:
                return await self._strike(step.fault, request, response)
            if step.until is not None and at == step.after:
                await step.until.wait()
            await asyncio.sleep(step.pause_s)
            await response.write(_sse(event.type, event.model_dump_json()))
        await response.write_eof()
        return response

    async def _strike(
        self, fault: Fault, request: web.Request, response: web.StreamResponse
    ) -> web.StreamResponse:
        if fault == "overloaded":
            error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
            await response.write(_sse("error", json.dumps(error)))
        elif fault == "malformed":
            await response.write(b'event: content_block_delta\ndata: {"type": "content_bl\n\n')
        elif fault == "unopened":
            event = RawContentBlockDeltaEvent(
                type="content_block_delta", index=7, delta=TextDelta(type="text_delta", text="lost")
            )
            await response.write(_sse(event.type, event.model_dump_json()))
        elif fault == "stall":
            await self._closing.wait()
        elif fault == "dropped" and request.transport is not None:
            request.transport.abort()
        return response


def answer_by_itself(body: Mapping[str, Any]) -> Say:
    """What an unscripted request gets: cited sentences, or an object of the schema that it asks for."""
    config = body.get("output_config") or {}
    if "format" in config:
        return say_json(_of_schema(config["format"]["schema"]))
    asked = _words(_last_text(body))
    blocks = [
        (passage, at, block["text"])
        for passage, result in enumerate(search_results(body))
        for at, block in enumerate(result["content"])
        if not block["text"].startswith("#")
    ]
    if not blocks:
        return _answer_numbered(_last_text(body))
    passage, at, text = max(blocks, key=lambda block: len(asked & _words(block[2])))
    if not asked & _words(text):
        return Say("NOT_IN_PASSAGES")
    return Say(Cite(text=text, passage=passage, first=at, end=at + 1))


def _answer_numbered(prompt: str) -> Say:
    """For an endpoint without native citations: the passages are in the text, numbered."""
    *passages, asked = prompt.split("\n\n")
    numbered = [
        (m[1], m[2]) for one in passages if (m := re.match(r"\[(\d+)\] [^\n]*\n(.*)", one, re.DOTALL))
    ]
    if not numbered:
        return Say("Yes.")
    number, text = max(numbered, key=lambda one: len(_words(asked) & _words(one[1])))
    if not _words(asked) & _words(text):
        return Say("NOT_IN_PASSAGES")
    return Say(f"{text.splitlines()[0]} [{number}]")


def _last_text(body: Mapping[str, Any]) -> str:
    """The question: behind a tool's results it is the one of the message before."""
    for turn in reversed(body["messages"]):
        content = turn["content"]
        texts = [content] if isinstance(content, str) else [one["text"] for one in content if "text" in one]
        if turn["role"] == "user" and texts:
            return str(texts[-1])
    return ""


def _words(text: str) -> set[str]:
    return {word.casefold() for word in re.findall(r"\w{4,}", text)}


def _of_schema(schema: Mapping[str, Any]) -> Any:
    empty: dict[str, Any] = {"string": "", "boolean": False, "array": [], "integer": 0, "number": 0.0}
    if schema.get("type") != "object":
        return empty.get(schema.get("type", ""))
    return {name: _of_schema(one) for name, one in schema.get("properties", {}).items()}


def _sse(event: str, data: str) -> bytes:
    return f"event: {event}\ndata: {data}\n\n".encode()


def _error(status: int, kind: str, message: str, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.json_response(
        {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_test"},
        status=status,
        headers={"request-id": "req_test", **(headers or {})},
    )
