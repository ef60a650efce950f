"""A model that does whatever a page tells it to: the worst that could be asked for an answer, over the real API.

It serves the Messages API on loopback, by the SDK's own types. For the attack
at hand it repeats the attacking page word for word and says everything that
the page's author hoped for, once cited to the page and once cited to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from aiohttp import web
from anthropic.types import (
    CitationsDelta,
    CitationsSearchResultLocation,
    Message,
    RawContentBlockDeltaEvent,
    RawContentBlockStartEvent,
    RawContentBlockStopEvent,
    RawMessageDeltaEvent,
    RawMessageStartEvent,
    RawMessageStopEvent,
    RawMessageStreamEvent,
    TextBlock,
    TextDelta,
    Usage,
)
from anthropic.types.message_delta_usage import MessageDeltaUsage
from anthropic.types.raw_message_delta_event import Delta

_NUMBERED = re.compile(r"^\[(\d+)\] (.*)\n([\s\S]*?)(?=\n\n\[\d+\] |\Z)", re.MULTILINE)


class ObedientModel:
    """`page`: the title of the attacking page; `says`: what it wants said. `given`: everything that came in."""

    def __init__(self) -> None:
        self.url = ""
        self.page = ""
        self.says: Sequence[str] = ()
        self.given: list[str] = []

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=32 * 1024**2)
        app.router.add_post("/v1/messages", self._messages)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.given.append(str(body["messages"]))
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for event in _events(self._reply(body), body["model"]):
            await response.write(f"event: {event.type}\ndata: {event.model_dump_json()}\n\n".encode())
        await response.write_eof()
        return response

    def _reply(self, body: Mapping[str, Any]) -> list[TextBlock]:
        content = body["messages"][-1]["content"]
        if isinstance(content, str):
            return [_said(line) for line in self._numbered(content)]
        results = [block for block in content if block["type"] == "search_result"]
        own = [index for index, result in enumerate(results) if self.page in result["title"]]
        cited = [
            _said(f"{line}\n\n", _location(results, index))
            for index in own
            for line in ("\n".join(part["text"] for part in results[index]["content"]), *self.says)
        ]
        return [*cited, *(_said(f"{line}\n\n") for line in self.says)] or [_said("NOT_IN_PASSAGES")]

    def _numbered(self, prompt: str) -> Iterator[str]:
        """Replies for an endpoint without native citations: passages are told apart by numbers."""
        for number, title, text in _NUMBERED.findall(prompt):
            if self.page in title:
                yield f"{text}\n\n"
                yield from (f"{line} [{number}]\n\n" for line in (*text.splitlines(), *self.says))
        yield from (f"{line}\n\n" for line in self.says or ("NOT_IN_PASSAGES",))


def _said(text: str, location: CitationsSearchResultLocation | None = None) -> TextBlock:
    return TextBlock(type="text", text=text, citations=[location] if location else None)


def _location(results: Sequence[Mapping[str, Any]], index: int) -> CitationsSearchResultLocation:
    result = results[index]
    return CitationsSearchResultLocation(
        type="search_result_location",
        search_result_index=index,
        start_block_index=0,
        end_block_index=len(result["content"]),
        cited_text="".join(part["text"] for part in result["content"]),
        source=result["source"],
        title=result["title"],
    )


def _events(blocks: Sequence[TextBlock], model: str) -> Iterator[RawMessageStreamEvent]:
    message = Message(
        id="msg_obedient",
        type="message",
        role="assistant",
        model=model,
        content=[],
        stop_reason=None,
        usage=Usage(input_tokens=1, output_tokens=1),
    )
    yield RawMessageStartEvent(type="message_start", message=message)
    for index, block in enumerate(blocks):
        opened = TextBlock(type="text", text="", citations=[] if block.citations else None)
        yield RawContentBlockStartEvent(type="content_block_start", index=index, content_block=opened)
        for location in block.citations or ():
            cited = CitationsDelta(type="citations_delta", citation=location)
            yield RawContentBlockDeltaEvent(type="content_block_delta", index=index, delta=cited)
        text = TextDelta(type="text_delta", text=block.text)
        yield RawContentBlockDeltaEvent(type="content_block_delta", index=index, delta=text)
        yield RawContentBlockStopEvent(type="content_block_stop", index=index)
    yield RawMessageDeltaEvent(
        type="message_delta",
        delta=Delta(stop_reason="end_turn"),
        usage=MessageDeltaUsage(output_tokens=1),
    )
    yield RawMessageStopEvent(type="message_stop")
