"""Reads one reply of the Messages API, streamed or whole, into text blocks with their citations and uses of tools.

The SDK builds its events without validating them and its accumulator trusts their order; an endpoint that speaks
the protocol loosely (a gateway, a local server) breaks it with errors outside the SDK's tree. So the events are
parsed here, at the edge, and the end of the stream is checked: a stream that was cut raises nothing by itself.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kb.errors import ModelReplyError
from kb.llm.bounds import ReplyBounds
from kb.llm.events import Block, Delta, Event, Message, Usage
from kb.text.unicode import well_formed, well_formed_value

if TYPE_CHECKING:  # the SDK takes two seconds to import, and `TextBlock` is used without it
    from anthropic.types import (
        RawMessageStreamEvent,
        RedactedThinkingBlockParam,
        TextBlockParam,
        ThinkingBlockParam,
        ToolUseBlockParam,
    )

    AssistantBlock = TextBlockParam | ThinkingBlockParam | RedactedThinkingBlockParam | ToolUseBlockParam

_HALF_AT_END = re.compile("[\ud800-\udbff]$")
"""Half of a character that was cut in two: its other half comes next."""
SHOWN_EVERY = 30
"""Characters of new text after which it is shown: at each token, the reply would be read again hundreds of times."""
SHOWN_SHARE = 20
"""And a twentieth of what was shown before: each call reads all of it again."""
TURN_S = 0.01
"""Seconds after which other tasks get a turn, while events that have already come are read without waiting."""


class StreamCutError(Exception):
    """The stream ended without a stop_reason: the connection was closed under the reply."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CitedBlocks:
    """Whole blocks `first` to `end` (exclusive) of the passage number `passage`, all 0-based and not yet checked."""

    passage: int
    first: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TextBlock:
    """A piece of the reply and what it rests on. `unusable`: citations of another kind than was asked for."""

    text: str
    citations: tuple[CitedBlocks, ...] = ()
    unusable: int = 0


OnText = Callable[[tuple[TextBlock, ...]], Awaitable[None]]
"""Gets all text blocks so far. Must not raise."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolUse:
    """The model wants a tool called. `input` is as it came: whoever runs the tool validates it."""

    id: str
    name: str
    input: dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """A finished reply. `blocks` holds text only: thinking and everything else is left out.

    `content` is the whole turn of the assistant as a later request repeats it: thinking included, without which the API
    takes no tool result; text without its citations. `input_tokens` leaves out what was read from or written to the
    cache.
    """

    blocks: tuple[TextBlock, ...]
    tool_uses: tuple[ToolUse, ...] = ()
    content: tuple[AssistantBlock, ...] = ()
    stop_reason: str
    refusal_category: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_written_tokens: int = 0

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks)


async def read_reply(
    events: AsyncIterator[RawMessageStreamEvent], on_text: OnText | None = None, *, max_tokens: int
) -> Reply:
    """Reads the stream to its end; `on_text` sees the text grow. `max_tokens`: what the reply was to have at most.

    Raises:
        StreamCutError: it ended without a stop_reason.
        ModelReplyError: an event refers to a block that was never opened, a tool's input is no JSON object, or the
            reply is far longer than it was to be.
        ValueError: an event is not valid JSON, or has a field of the wrong type (pydantic's error is one).
    """
    reply, bounds = _Accumulator(), ReplyBounds(max_tokens)
    shown = 0
    turn_at = time.monotonic() + TURN_S
    async for event in events:
        before, unshown = reply.characters, reply.unshown
        reply.take(Event.model_validate(event.to_dict()))
        bounds.take(text=reply.characters - before, unshown=reply.unshown - unshown)
        if on_text is not None and reply.characters - shown >= max(SHOWN_EVERY, shown // SHOWN_SHARE):
            shown = reply.characters
            await on_text(reply.text_blocks())
        if time.monotonic() >= turn_at:
            await asyncio.sleep(0)
            turn_at = time.monotonic() + TURN_S
    finished = reply.finish()
    if on_text is not None and reply.characters > shown:
        await on_text(finished.blocks)
    return finished


def parse_reply(message: Mapping[str, Any]) -> Reply:
    """Reads a reply that was not streamed, as the API returns it. Raises as `read_reply`."""
    whole = Message.model_validate(message)
    reply = _Accumulator()
    for index, block in enumerate(whole.content):
        reply.take(Event(type="content_block_start", index=index, content_block=block))
    ended = Delta(stop_reason=whole.stop_reason, stop_details=whole.stop_details)
    reply.take(Event(type="message_delta", delta=ended, usage=whole.usage))
    return reply.finish()


class _Accumulator:
    """`characters`: of text, so far; `unshown`: of everything else."""

    def __init__(self) -> None:
        self.characters = 0
        self.unshown = 0
        self._blocks: dict[int, Block] = {}
        self._usage: dict[str, int] = {}
        self._stop_reason: str | None = None
        self._refusal_category: str | None = None

    def take(self, event: Event) -> None:
        if event.message is not None and event.message.usage is not None:
            self._count(event.message.usage)
        if event.usage is not None:
            self._count(event.usage)
        if event.type == "content_block_start" and event.content_block is not None:
            self._blocks[event.index] = event.content_block
            self.characters += len(event.content_block.text)
            self.unshown += len(event.content_block.thinking) + len(event.content_block.data)
        elif event.type == "content_block_delta" and event.delta is not None:
            self._extend(event.index, event.delta)
        elif event.type == "message_delta" and event.delta is not None:
            self._stop_reason = event.delta.stop_reason or self._stop_reason
            if event.delta.stop_details is not None:
                self._refusal_category = event.delta.stop_details.category

    def text_blocks(self) -> tuple[TextBlock, ...]:
        return tuple(_text_block(block) for block in self._ordered() if block.type == "text")

    def finish(self) -> Reply:
        if self._stop_reason is None:
            raise StreamCutError("the stream ended without a stop_reason")
        uses = {id(block): _tool_use(block) for block in self._ordered() if block.type == "tool_use"}
        turn = (_assistant_block(block, uses.get(id(block))) for block in self._ordered())
        return Reply(
            blocks=self.text_blocks(),
            tool_uses=tuple(uses.values()),
            content=tuple(block for block in turn if block is not None),
            stop_reason=self._stop_reason,
            refusal_category=self._refusal_category,
            input_tokens=self._usage.get("input_tokens", 0),
            output_tokens=self._usage.get("output_tokens", 0),
            cache_read_tokens=self._usage.get("cache_read_input_tokens", 0),
            cache_written_tokens=self._usage.get("cache_creation_input_tokens", 0),
        )

    def _ordered(self) -> list[Block]:
        return [block for _, block in sorted(self._blocks.items())]

    def _extend(self, index: int, delta: Delta) -> None:
        block = self._blocks.get(index)
        if block is None:
            raise ModelReplyError("the model's stream extends a block that it never opened")
        if delta.type == "text_delta":
            block.text += delta.text
            self.characters += len(delta.text)
        elif delta.type == "citations_delta" and delta.citation is not None:
            block.citations = block.citations or []
            block.citations.append(delta.citation)
        elif delta.type == "input_json_delta":
            block.partial_json += delta.partial_json
        elif delta.type == "thinking_delta":
            block.thinking += delta.thinking
        elif delta.type == "signature_delta":
            block.signature += delta.signature
        self.unshown += len(delta.partial_json) + len(delta.thinking) + len(delta.signature)

    def _count(self, usage: Usage) -> None:
        # Cumulative: the last event's figure is the total, and message_delta may leave the input's out.
        self._usage |= usage.model_dump(exclude_none=True)


def _tool_use(block: Block) -> ToolUse:
    try:
        # Streamed, the input comes in pieces behind an empty object; whole, it stands in the block.
        given = json.loads(block.partial_json) if block.partial_json.strip() else block.input or {}
        given = well_formed_value(given)
    except ValueError as error:
        raise ModelReplyError("the model calls a tool with an input that is no JSON") from error
    if not isinstance(given, dict) or not block.id or not block.name:
        raise ModelReplyError("the model calls a tool without its name, id or input")
    return ToolUse(id=block.id, name=block.name, input=given)


def _assistant_block(block: Block, use: ToolUse | None) -> AssistantBlock | None:
    """Returns None for a block that says nothing, which the API would refuse, or of a kind that was not asked for."""
    if use is not None:
        return {"type": "tool_use", "id": use.id, "name": use.name, "input": use.input}
    if block.type == "text" and block.text.strip():
        return {"type": "text", "text": well_formed(block.text)}
    if block.type == "thinking" and block.signature:
        return {"type": "thinking", "thinking": block.thinking, "signature": block.signature}
    if block.type == "redacted_thinking" and block.data:
        return {"type": "redacted_thinking", "data": block.data}
    return None


def _text_block(block: Block) -> TextBlock:
    locations = block.citations or []
    ours = [location for location in locations if location.type == "search_result_location"]
    return TextBlock(
        text=well_formed(_HALF_AT_END.sub("", block.text)),
        citations=tuple(
            CitedBlocks(
                passage=location.search_result_index,
                first=location.start_block_index,
                end=location.end_block_index,
            )
            for location in ours
        ),
        unusable=len(locations) - len(ours),
    )
