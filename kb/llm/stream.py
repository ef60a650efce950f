"""Reads one streamed reply of the Messages API into text blocks with their citations.

The SDK builds its events without validating them and its accumulator trusts their order; an endpoint that speaks
the protocol loosely (a gateway, a local server) breaks it with errors outside the SDK's tree. So the events are
parsed here, at the edge, and the end of the stream is checked: a stream that was cut raises nothing by itself.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from kb.errors import ModelReplyError

if TYPE_CHECKING:  # the SDK takes two seconds to import, and `TextBlock` is used without it
    from anthropic.types import RawMessageStreamEvent


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """A finished reply. `blocks` holds text only: thinking and everything else is left out."""

    blocks: tuple[TextBlock, ...]
    stop_reason: str
    refusal_category: str | None
    input_tokens: int
    output_tokens: int

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks)


async def read_reply(events: AsyncIterator[RawMessageStreamEvent]) -> Reply:
    """Reads the stream to its end.

    Raises:
        StreamCutError: it ended without a stop_reason.
        ModelReplyError: an event refers to a block that was never opened.
        ValueError: an event is not valid JSON, or has a field of the wrong type (pydantic's error is one).
    """
    reply = _Accumulator()
    async for event in events:
        reply.take(_Event.model_validate(event.to_dict()))
    return reply.finish()


class _Loose(BaseModel):
    """Fields that we do not read may come and go with the API's versions."""

    model_config = ConfigDict(extra="ignore")


class _Location(_Loose):
    type: str
    search_result_index: int = -1
    start_block_index: int = -1
    end_block_index: int = -1


class _Block(_Loose):
    type: str
    text: str = ""
    citations: list[_Location] | None = None


class _StopDetails(_Loose):
    category: str | None = None


class _Delta(_Loose):
    type: str | None = None
    text: str = ""
    citation: _Location | None = None
    stop_reason: str | None = None
    stop_details: _StopDetails | None = None


class _Usage(_Loose):
    input_tokens: int | None = None
    output_tokens: int | None = None


class _Message(_Loose):
    usage: _Usage | None = None


class _Event(_Loose):
    type: str
    index: int = 0
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: _Usage | None = None


class _Accumulator:
    def __init__(self) -> None:
        self._blocks: dict[int, _Block] = {}
        self._usage = _Usage()
        self._stop_reason: str | None = None
        self._refusal_category: str | None = None

    def take(self, event: _Event) -> None:
        if event.message is not None and event.message.usage is not None:
            self._count(event.message.usage)
        if event.usage is not None:
            self._count(event.usage)
        if event.type == "content_block_start" and event.content_block is not None:
            self._blocks[event.index] = event.content_block
        elif event.type == "content_block_delta" and event.delta is not None:
            self._extend(event.index, event.delta)
        elif event.type == "message_delta" and event.delta is not None:
            self._stop_reason = event.delta.stop_reason or self._stop_reason
            if event.delta.stop_details is not None:
                self._refusal_category = event.delta.stop_details.category

    def finish(self) -> Reply:
        if self._stop_reason is None:
            raise StreamCutError("the stream ended without a stop_reason")
        return Reply(
            blocks=tuple(
                _text_block(block) for _, block in sorted(self._blocks.items()) if block.type == "text"
            ),
            stop_reason=self._stop_reason,
            refusal_category=self._refusal_category,
            input_tokens=self._usage.input_tokens or 0,
            output_tokens=self._usage.output_tokens or 0,
        )

    def _extend(self, index: int, delta: _Delta) -> None:
        block = self._blocks.get(index)
        if block is None:
            raise ModelReplyError("the model's stream extends a block that it never opened")
        if delta.type == "text_delta":
            block.text += delta.text
        elif delta.type == "citations_delta" and delta.citation is not None:
            block.citations = [*(block.citations or []), delta.citation]

    def _count(self, usage: _Usage) -> None:
        # Cumulative: the last event's figure is the total, and message_delta may leave the input's out.
        if usage.input_tokens is not None:
            self._usage.input_tokens = usage.input_tokens
        if usage.output_tokens is not None:
            self._usage.output_tokens = usage.output_tokens


def _text_block(block: _Block) -> TextBlock:
    locations = block.citations or []
    ours = [location for location in locations if location.type == "search_result_location"]
    return TextBlock(
        text=block.text,
        citations=tuple(
            CitedBlocks(passage=one.search_result_index, first=one.start_block_index, end=one.end_block_index)
            for one in ours
        ),
        unusable=len(locations) - len(ours),
    )
