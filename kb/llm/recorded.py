"""A language model that sends nothing: what it would ask is recorded, and known replies are given back.

Both are lines of JSON in the forms of the Message Batches API, so that whoever has a key can have a file of requests
answered there. A request is known by its content: the same request has the same `custom_id` in every run, and a prompt,
a check or a setting that changes no request is compared on the same replies.

    {"custom_id": "5f1c...", "params": {"model": ..., "max_tokens": ..., "messages": [...]}}      a request
    {"custom_id": "5f1c...", "result": {"type": "succeeded", "message": {...}}}                   a reply
    {"custom_id": "5f1c...", "text": "You get 25 days. [1]"}                                      one by hand
    {"custom_id": "5f1c...", "search": "carry-over of leave"}                                     one by a search
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr, TypeAdapter, ValidationError

from kb.config.model_settings import ModelSettings
from kb.errors import SettingsError
from kb.llm.client import LanguageModel
from kb.llm.stream import OnText, Reply, parse_reply

SEARCH_TOOL = "search_pages"
NO_KEY = SecretStr("recorded")
"""Stands in for a key where one is required; it goes nowhere."""

CustomId = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]
_unknown: ContextVar[list[str] | None] = ContextVar("unknown", default=None)


class PendingReplyError(BaseException):
    """There is no reply to a request yet. Not an `Exception`, so that no fallback catches it."""


class RequestLine(BaseModel):
    """A request as the Message Batches API takes it."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    custom_id: CustomId
    params: dict[str, Any]


class _RecordedLine(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    custom_id: CustomId


class _Result(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow", hide_input_in_errors=True)

    type: str
    message: dict[str, Any] | None = None


class ResultLine(_RecordedLine):
    """A reply as the Message Batches API returns it. One that did not succeed does not count."""

    result: _Result


class TextLine(_RecordedLine):
    text: str = Field(min_length=1)


class SearchLine(_RecordedLine):
    search: str = Field(min_length=1)


_REPLY: TypeAdapter[ResultLine | TextLine | SearchLine] = TypeAdapter(ResultLine | TextLine | SearchLine)


class RecordedModel(LanguageModel):
    """`replies`: messages by the `custom_id` of the request. `recorded`: the requests without one, in order."""

    def __init__(self, settings: ModelSettings, replies: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__(settings.model_copy(update={"api_key": settings.api_key or NO_KEY}))
        self.recorded: dict[str, RequestLine] = {}
        self._replies = replies

    async def _send(self, params: Mapping[str, Any], on_text: OnText | None) -> Reply:
        request = RequestLine(custom_id=custom_id(params), params=dict(params))
        message = self._replies.get(request.custom_id)
        if message is None:
            self.recorded.setdefault(request.custom_id, request)
            unknown = _unknown.get()
            if unknown is not None:
                unknown.append(request.custom_id)
            raise PendingReplyError(request.custom_id)
        reply = parse_reply(message)
        if on_text is not None and reply.blocks:
            await on_text(reply.blocks)
        return reply


@contextmanager
def unknown_requests() -> Iterator[list[str]]:
    """Collects the ids of requests without a reply that are made in the block, by whatever task it starts."""
    unknown: list[str] = []
    token = _unknown.set(unknown)
    try:
        yield unknown
    finally:
        _unknown.reset(token)


def custom_id(params: Mapping[str, Any]) -> str:
    """Hashes a request; the order of its keys does not matter."""
    canonical = json.dumps(params, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:40]


def read_replies(files: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """Reads messages by `custom_id`; of two for the same request the later one.

    Raises:
        SettingsError: a file cannot be read or has a line of another form; the message says where.
    """
    replies: dict[str, dict[str, Any]] = {}
    for file in files:
        try:
            lines = file.read_text(encoding="utf-8").split("\n")  # other breaks may stand in a text
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{file} cannot be read: {error}") from error
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                reply = _REPLY.validate_json(line)
            except ValidationError as error:
                raise SettingsError(f"{file}, line {number} is no reply: {_short(error)}") from error
            message = _message(reply)
            if message is not None:
                replies[reply.custom_id] = message
    return replies


def write_requests(file: Path, requests: Sequence[RequestLine]) -> None:
    """Writes one line for each request. An empty file says that every request was answered."""
    lines = [json.dumps(request.model_dump()) + "\n" for request in requests]
    try:
        file.write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{file} cannot be written: {error}") from error


def _message(reply: ResultLine | TextLine | SearchLine) -> dict[str, Any] | None:
    if isinstance(reply, ResultLine):
        return reply.result.message if reply.result.type == "succeeded" else None
    if isinstance(reply, TextLine):
        return {"content": [{"type": "text", "text": reply.text}], "stop_reason": "end_turn"}
    use = {
        "type": "tool_use",
        "id": f"toolu_{reply.custom_id[:24]}",
        "name": SEARCH_TOOL,
        "input": {"query": reply.search},
    }
    return {"content": [use], "stop_reason": "tool_use"}


def _short(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, problem["loc"]))
    return f"{where}: {problem['msg']} (it has custom_id and one of result, text, search)"
