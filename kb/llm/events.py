"""Events of the Messages API's stream, parsed at the edge: the SDK builds its own without validating them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Loose(BaseModel):
    """Fields that we do not read may come and go with the API's versions."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)


class Location(Loose):
    type: str
    search_result_index: int = -1
    start_block_index: int = -1
    end_block_index: int = -1


class Block(Loose):
    type: str
    text: str = ""
    citations: list[Location] | None = None
    thinking: str = ""
    signature: str = ""
    data: str = ""
    id: str = ""
    name: str = ""
    input: dict[str, Any] | None = None
    partial_json: str = ""


class StopDetails(Loose):
    category: str | None = None


class Delta(Loose):
    type: str | None = None
    text: str = ""
    thinking: str = ""
    signature: str = ""
    partial_json: str = ""
    citation: Location | None = None
    stop_reason: str | None = None
    stop_details: StopDetails | None = None


class Usage(Loose):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class Message(Loose):
    content: list[Block] = Field(default_factory=list)
    stop_reason: str | None = None
    stop_details: StopDetails | None = None
    usage: Usage | None = None


class Event(Loose):
    type: str
    index: int = 0
    message: Message | None = None
    content_block: Block | None = None
    delta: Delta | None = None
    usage: Usage | None = None
