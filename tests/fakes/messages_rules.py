"""What the Messages API refuses, as far as its types and documentation say; `messages_server` applies it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Required, get_args, get_origin, get_type_hints

from anthropic.types import (
    JSONOutputFormatParam,
    OutputConfigParam,
    RedactedThinkingBlockParam,
    SearchResultBlockParam,
    TextBlockParam,
    ThinkingBlockParam,
    ToolParam,
    ToolResultBlockParam,
    ToolUseBlockParam,
    UserMessageParam,
)
from anthropic.types.message_create_params import MessageCreateParamsBase

API_VERSION = "2026-10-21"
BLOCKS: Mapping[str, type] = {
    "text": TextBlockParam,
    "search_result": SearchResultBlockParam,
    "thinking": ThinkingBlockParam,
    "redacted_thinking": RedactedThinkingBlockParam,
    "tool_use": ToolUseBlockParam,
    "tool_result": ToolResultBlockParam,
}
OF_THE_ASSISTANT = ("thinking", "redacted_thinking", "tool_use")
CACHE_POINTS = 4
EFFORTS = ("low", "medium", "high", "xhigh", "max")


class RefusedRequestError(Exception):
    def __init__(self, message: str, *, status: int = 400, kind: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


def check_request(headers: Mapping[str, str], body: Any, *, key: str) -> None:
    """Raises `RefusedRequestError` for what Claude would not take."""
    if f"Bearer {key}" != headers.get("authorization") and key != headers.get("x-api-key"):
        raise RefusedRequestError("invalid API key", status=401, kind="authentication_error")
    if headers.get("anthropic-version") != API_VERSION:
        raise RefusedRequestError(f"anthropic-version: {API_VERSION} is served here")
    _check_fields(body, MessageCreateParamsBase, "request", also=("stream",))
    if not isinstance(body["max_tokens"], int) or body["max_tokens"] < 1:
        raise RefusedRequestError("max_tokens: must be at least 1")
    _check_messages(body["messages"])
    _check_system(body.get("system"))
    for tool in body.get("tools", ()):
        _check_fields(tool, ToolParam, "tools")
    _check_tool_results(body)
    _check_cache_points(body)
    _check_citations(body)
    if (config := body.get("output_config")) is not None:
        _check_output_config(config)


def search_results(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every search_result block of the request, in the order in which citations count them; those of tools too."""
    found = []
    for block in _blocks(body):
        inner = block.get("content") if block["type"] == "tool_result" else [block]
        found += [one for one in inner if one["type"] == "search_result"] if isinstance(inner, list) else []
    return found


def _check_fields(value: Any, typed: type, where: str, *, also: tuple[str, ...] = ()) -> None:
    if not isinstance(value, dict):
        raise RefusedRequestError(f"{where}: must be an object")
    hints = get_type_hints(typed, include_extras=True)
    for name in value:
        if name not in hints and name not in also:
            raise RefusedRequestError(f"{where}.{name}: Extra inputs are not permitted")
    for name, hint in hints.items():
        if get_origin(hint) is Required and name not in value:
            raise RefusedRequestError(f"{where}.{name}: Field required")


def _check_messages(messages: Any) -> None:
    if not isinstance(messages, list) or not messages:
        raise RefusedRequestError("messages: at least one message is required")
    for at, message in enumerate(messages):
        _check_fields(message, UserMessageParam, f"messages.{at}")
        if message["role"] not in ("user", "assistant"):
            raise RefusedRequestError(f"messages.{at}.role: must be user or assistant")
        content = message["content"]
        if not content or (isinstance(content, str) and not content.strip()):
            raise RefusedRequestError(f"messages.{at}: text content must be non-empty")
        for block in content if isinstance(content, list) else ():
            _check_block(block, message["role"], f"messages.{at}.content")
    if messages[0]["role"] != "user":
        raise RefusedRequestError("messages.0.role: the first message must use the user role")
    if messages[-1]["role"] == "assistant":
        raise RefusedRequestError("messages: this model does not support assistant message prefill")


def _check_block(block: Any, role: str, where: str) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in BLOCKS:
        raise RefusedRequestError(f"{where}.type: unknown block type {kind!r}")
    _check_fields(block, BLOCKS[kind], where)
    if kind in OF_THE_ASSISTANT and role != "assistant":
        raise RefusedRequestError(f"{where}: {kind} blocks belong to assistant turns")
    if kind == "tool_result":
        if role != "user":
            raise RefusedRequestError(f"{where}: tool_result blocks belong to user turns")
        content = block.get("content")
        for inner in content if isinstance(content, list) else ():
            _check_block(inner, role, f"{where}.content")
    if kind == "text":
        if not block["text"].strip():
            raise RefusedRequestError(f"{where}: text content blocks must be non-empty")
        if role == "user" and block.get("citations"):
            raise RefusedRequestError(f"{where}.citations: not permitted on user text blocks")
    if kind == "search_result":
        if role != "user":
            raise RefusedRequestError(f"{where}: search_result blocks belong to user turns")
        if not block["content"]:
            raise RefusedRequestError(f"{where}.content: at least one text block is required")
        for inner in block["content"]:
            if inner.get("type") != "text":
                raise RefusedRequestError(f"{where}.content: search results hold text blocks only")
            _check_block(inner, role, f"{where}.content")


def _check_system(system: Any) -> None:
    for block in system if isinstance(system, list) else ():
        _check_fields(block, TextBlockParam, "system")
        if not block["text"].strip():
            raise RefusedRequestError("system: text content blocks must be non-empty")


def _check_tool_results(body: Mapping[str, Any]) -> None:
    """Every use of a tool is answered by the message behind it, and nothing else is."""
    wanted: set[str] = set()
    for at, message in enumerate(body["messages"]):
        content = message["content"]
        blocks = content if isinstance(content, list) else []
        results = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
        if results != wanted:
            raise RefusedRequestError(f"messages.{at}: tool_use ids and tool_result blocks do not match")
        wanted = {block["id"] for block in blocks if block["type"] == "tool_use"}
    if wanted and not body.get("tools"):
        raise RefusedRequestError("tools: a request with tool_use blocks defines its tools")


def _check_cache_points(body: Mapping[str, Any]) -> None:
    system = body.get("system")
    blocks = [*(system if isinstance(system, list) else ()), *body.get("tools", ()), *_blocks(body)]
    if sum("cache_control" in block for block in blocks) > CACHE_POINTS:
        raise RefusedRequestError(f"a maximum of {CACHE_POINTS} blocks with cache_control may be provided")


def _check_citations(body: Mapping[str, Any]) -> None:
    enabled = {bool((block.get("citations") or {}).get("enabled")) for block in search_results(body)}
    if len(enabled) > 1:
        raise RefusedRequestError("citations must be enabled on all search results or none")
    if enabled == {True} and (body.get("output_config") or {}).get("format"):
        raise RefusedRequestError("citations are not supported with structured outputs")


def _check_output_config(config: Any) -> None:
    _check_fields(config, OutputConfigParam, "output_config")
    if config.get("effort") not in (None, *EFFORTS):
        raise RefusedRequestError("output_config.effort: unknown effort")
    if (wanted := config.get("format")) is not None:
        _check_fields(wanted, JSONOutputFormatParam, "output_config.format")
        _check_schema(wanted["schema"], "output_config.format.schema")


def _check_schema(schema: Any, where: str) -> None:
    """Structured output takes closed objects only, and no limits on lengths and values."""
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        raise RefusedRequestError(f"{where}: additionalProperties must be false")
    for name in ("maxLength", "minLength", "maximum", "minimum", "maxItems"):
        if name in schema:
            raise RefusedRequestError(f"{where}.{name}: not supported")
    for inner in (
        *schema.get("properties", {}).values(),
        schema.get("items"),
        *schema.get("$defs", {}).values(),
    ):
        _check_schema(inner, where)


def _blocks(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    contents = [message["content"] for message in body["messages"]]
    return [block for content in contents if isinstance(content, list) for block in content]


assert get_args(get_type_hints(TextBlockParam, include_extras=True)["text"]), (
    "the SDK's types lost their marks"
)
