"""Scripted replies as the SDK's own types: a whole message, and the events of its stream."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from anthropic.types import (
    CitationsDelta,
    CitationsSearchResultLocation,
    InputJSONDelta,
    Message,
    RawContentBlockDeltaEvent,
    RawContentBlockStartEvent,
    RawContentBlockStopEvent,
    RawMessageDeltaEvent,
    RawMessageStartEvent,
    RawMessageStopEvent,
    RawMessageStreamEvent,
    RefusalStopDetails,
    SignatureDelta,
    StopReason,
    TextBlock,
    TextDelta,
    ThinkingBlock,
    ThinkingDelta,
    ToolUseBlock,
    Usage,
)
from anthropic.types.message_delta_usage import MessageDeltaUsage
from anthropic.types.raw_message_delta_event import Delta

from tests.fakes.messages_rules import search_results

Fault = Literal["overloaded", "cut", "dropped", "malformed", "unopened", "stall"]


@dataclass(frozen=True, kw_only=True)
class Cite:
    """A piece of a reply that cites blocks `first` to `end` (exclusive) of a passage of the request."""

    text: str
    passage: int = 0
    first: int = 0
    end: int = 1


@dataclass(frozen=True, kw_only=True)
class Use:
    """A piece of a reply that calls a tool."""

    name: str
    input: Mapping[str, object]
    id: str = "toolu_test"


class Say:
    """A reply of pieces of text and uses of tools. `fault` strikes after `after` events of the stream.

    `pause_s`: seconds before each event, as of a model that thinks while it writes. `until`: what it waits for after
    `after` events.
    `cache_read`, `cache_written`: tokens that the API says it read from its cache and wrote to it.
    """

    def __init__(
        self,
        *pieces: str | Cite | Use,
        thinking: bool = False,
        stop_reason: StopReason | None = None,
        fault: Fault | None = None,
        after: int = 3,
        citations_first: bool = True,
        cache_read: int | None = None,
        cache_written: int | None = None,
        pause_s: float = 0.0,
        until: asyncio.Event | None = None,
    ) -> None:
        self.pieces = pieces
        self.thinking = thinking
        uses = any(isinstance(piece, Use) for piece in pieces)
        self.stop_reason: StopReason = stop_reason or ("tool_use" if uses else "end_turn")
        self.cache_read = cache_read
        self.cache_written = cache_written
        self.fault = fault
        self.after = after
        self.citations_first = citations_first
        self.pause_s = pause_s
        self.until = until


def say_json(value: Any) -> Say:
    return Say(json.dumps(value))


def events(step: Say, body: Mapping[str, Any]) -> Iterator[RawMessageStreamEvent]:
    whole = message(step, body)
    started = whole.model_copy(
        update={
            "content": [],
            "stop_reason": None,
            "stop_details": None,
            "usage": whole.usage.model_copy(update={"output_tokens": 1}),
        }
    )
    yield RawMessageStartEvent(type="message_start", message=started)
    for index, block in enumerate(whole.content):
        yield from _block_events(index, block, citations_first=step.citations_first)
    yield RawMessageDeltaEvent(
        type="message_delta",
        delta=Delta(stop_reason=whole.stop_reason, stop_details=whole.stop_details),
        usage=MessageDeltaUsage(output_tokens=whole.usage.output_tokens),
    )
    yield RawMessageStopEvent(type="message_stop")


def _block_events(index: int, block: Any, *, citations_first: bool) -> Iterator[RawMessageStreamEvent]:
    deltas: list[Any]
    if isinstance(block, ThinkingBlock):
        opened: Any = ThinkingBlock(type="thinking", thinking="", signature="")
        deltas = [
            ThinkingDelta(type="thinking_delta", thinking=block.thinking),
            SignatureDelta(type="signature_delta", signature=block.signature),
        ]
    elif isinstance(block, ToolUseBlock):
        opened = block.model_copy(update={"input": {}})
        written = json.dumps(block.input)
        deltas = [
            InputJSONDelta(type="input_json_delta", partial_json=part)
            for part in ("", written[:5], written[5:])
        ]
    else:
        opened = TextBlock(type="text", text="", citations=[] if block.citations else None)
        half = len(block.text) // 2
        deltas = [TextDelta(type="text_delta", text=part) for part in (block.text[:half], block.text[half:])]
        cited = [CitationsDelta(type="citations_delta", citation=one) for one in block.citations or []]
        deltas = [*cited, *deltas] if citations_first else [*deltas, *cited]
    yield RawContentBlockStartEvent(type="content_block_start", index=index, content_block=opened)
    for delta in deltas:
        yield RawContentBlockDeltaEvent(type="content_block_delta", index=index, delta=delta)
    yield RawContentBlockStopEvent(type="content_block_stop", index=index)


def message(step: Say, body: Mapping[str, Any]) -> Message:
    results = search_results(body)
    content: list[Any] = []
    if step.thinking:
        content.append(ThinkingBlock(type="thinking", thinking="Let me look.", signature="c2ln"))
    content += [_block(piece, results) for piece in step.pieces]
    refused = step.stop_reason == "refusal"
    return Message(
        id="msg_test",
        type="message",
        role="assistant",
        model=body["model"],
        content=content,
        stop_reason=step.stop_reason,
        stop_details=RefusalStopDetails(type="refusal", category="cyber") if refused else None,
        usage=Usage(
            input_tokens=100,
            output_tokens=20,
            cache_read_input_tokens=step.cache_read,
            cache_creation_input_tokens=step.cache_written,
        ),
    )


def _block(piece: str | Cite | Use, results: list[dict[str, Any]]) -> TextBlock | ToolUseBlock:
    if isinstance(piece, str):
        return TextBlock(type="text", text=piece)
    if isinstance(piece, Use):
        return ToolUseBlock(type="tool_use", id=piece.id, name=piece.name, input=dict(piece.input))
    return TextBlock(type="text", text=piece.text, citations=[_location(piece, results)])


def _location(piece: Cite, results: list[dict[str, Any]]) -> CitationsSearchResultLocation:
    known = results[piece.passage] if 0 <= piece.passage < len(results) else None
    blocks = known["content"][piece.first : piece.end] if known else []
    return CitationsSearchResultLocation(
        type="search_result_location",
        search_result_index=piece.passage,
        start_block_index=piece.first,
        end_block_index=piece.end,
        cited_text="".join(block["text"] for block in blocks),
        source=known["source"] if known else "",
        title=known["title"] if known else None,
    )
