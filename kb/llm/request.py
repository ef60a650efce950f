"""What goes out to the model: passages that can be cited, results of tools, and what the API caches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from anthropic.types import (
    CacheControlEphemeralParam,
    MessageParam,
    OutputConfigParam,
    SearchResultBlockParam,
    TextBlockParam,
    ToolParam,
    ToolResultBlockParam,
)

CACHED: CacheControlEphemeralParam = {"type": "ephemeral"}
"""Marks the end of a prefix that the API keeps for five minutes: reading it costs a tenth."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CitablePassage:
    """A passage as the model sees it. A citation covers whole `blocks`, so each is a sentence or a list item."""

    source: str
    title: str
    blocks: tuple[str, ...]


def search_result(passage: CitablePassage) -> SearchResultBlockParam:
    return {
        "type": "search_result",
        "source": passage.source,
        "title": passage.title,
        "content": [{"type": "text", "text": block} for block in passage.blocks],
        "citations": {"enabled": True},
    }


def tool_result(
    use_id: str, found: str | Sequence[CitablePassage], *, is_error: bool = False
) -> ToolResultBlockParam:
    """Returns what a tool found: words, or passages that can be cited.

    The passages are numbered on from those of the request before.
    """
    result: ToolResultBlockParam = {"type": "tool_result", "tool_use_id": use_id}
    result["content"] = found if isinstance(found, str) else [search_result(passage) for passage in found]
    if is_error:
        result["is_error"] = True
    return result


def build_params(
    *,
    model: str,
    system: str,
    messages: Sequence[MessageParam],
    tools: Sequence[ToolParam] = (),
    output: OutputConfigParam | None = None,
    max_tokens: int,
    cached: bool,
) -> dict[str, Any]:
    """Builds a request as the Messages API takes it, as plain data without `stream`.

    `cached`: the API keeps what comes before the end of the system prompt (the tools do), and with tools the whole
    request, since a second round repeats it.
    """
    params: dict[str, Any] = {"model": model, "max_tokens": max_tokens}
    if system:
        block: TextBlockParam = {"type": "text", "text": system, "cache_control": CACHED}
        params["system"] = [block] if cached else system
    if tools:
        params["tools"] = list(tools)
    plain = [_plain(message) for message in messages]
    params["messages"] = [*plain[:-1], _cached_to_the_end(plain[-1])] if cached and tools else plain
    if output is not None:
        params["output_config"] = output
    return params


def _plain(message: MessageParam) -> dict[str, Any]:
    content = message["content"]
    return {"role": message["role"], "content": content if isinstance(content, str) else list(content)}


def _cached_to_the_end(message: Mapping[str, Any]) -> dict[str, Any]:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    *before, last = cast(list[dict[str, Any]], blocks)
    return {**message, "content": [*before, {**last, "cache_control": CACHED}]}
