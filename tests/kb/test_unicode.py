"""Half characters: what a model, a file or an interface says with them is kept, without them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.parsers.formats import parse_file
from kb.llm.stream import parse_reply, read_reply
from kb.text.unicode import DEEPEST, TooDeepError, well_formed, well_formed_value


@given(st.text(st.characters() | st.characters(categories=["Cs"])))
def test_a_text_can_be_stored_and_what_was_whole_stays(text: str) -> None:
    mended = well_formed(text)
    mended.encode()
    assert well_formed(mended) == mended
    if not any("\ud800" <= char <= "\udfff" for char in text):
        assert mended == text


@pytest.mark.parametrize(
    ("text", "mended"),
    [("a\ud83d\ude00b", "a😀b"), ("a\ud800b", "a�b"), ("\udc00\ud800", "��"), ("\ud800\U0001f600", "�😀")],
)
def test_halves_that_belong_together_are_one_character_and_lone_ones_are_told(text: str, mended: str) -> None:
    assert well_formed(text) == mended
    assert well_formed_value({text: [text, {"a": text}, 1, None, True]}) == {
        mended: [mended, {"a": mended}, 1, None, True]
    }


def test_a_value_of_too_many_levels_is_refused() -> None:
    value: Any = "a"
    for _ in range(DEEPEST):
        value = [value]
    assert well_formed_value(value) == value
    with pytest.raises(TooDeepError):
        well_formed_value([value])


class Event:
    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def to_dict(self) -> dict[str, Any]:
        return self.fields


async def stream(*pieces: str) -> AsyncIterator[Any]:
    yield Event(type="content_block_start", index=0, content_block={"type": "text", "text": ""})
    for piece in pieces:
        yield Event(type="content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
    yield Event(type="message_delta", delta={"stop_reason": "end_turn"})


async def test_what_a_model_says_in_halves_is_whole_while_it_is_written_and_at_last() -> None:
    shown: list[str] = []

    async def on_text(blocks: Any) -> None:
        shown.append("".join(block.text for block in blocks))

    long = "You get 25 days of holiday in a year. "
    reply = await read_reply(
        stream(f"{long}\ud83d", f"\ude00 {long}\ud800", f" {long}\ud83d"), on_text, max_tokens=1_000
    )
    assert reply.text == f"{long}😀 {long}� {long}"
    assert shown[0] == long
    assert reply.content[0]["text"].encode()  # type: ignore[typeddict-item]
    whole = parse_reply({"content": [{"type": "text", "text": "a\ud800b"}], "stop_reason": "end_turn"})
    assert whole.text == "a�b"


@pytest.mark.parametrize("streamed", [True, False])
def test_what_a_model_calls_a_tool_with_is_whole(streamed: bool) -> None:
    given = {"partial_json": '{"query": "a\\ud800"}'} if streamed else {"input": {"query": "a\ud800"}}
    block = {"type": "tool_use", "id": "t", "name": "search_pages", **given}
    (use,) = parse_reply({"content": [block], "stop_reason": "tool_use"}).tool_uses
    assert use.input == {"query": "a�"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", ';;;\n{"title": "T\\ud800"}\n;;;\n# x\n\nwords'),
        ("a.md", '{"title": "T\\ud800"}\n\n# x\n\nwords'),
        ("a.md", '---\ntitle: "T\\uD800"\n---\n# x\n\nwords &#xD800; &#55296;'),
        ("a.html", "<title>T&#xD800;</title><h1>x</h1><p>words &#55296;</p>"),
        (
            "a.ipynb",
            json.dumps(
                {"cells": [{"cell_type": "markdown", "source": ["# T\ud800\n\nwords"]}], "nbformat": 4}
            ),
        ),
    ],
)
def test_a_page_is_whole(path: str, text: str) -> None:
    page = parse_file(text.encode(), path=path)
    f"{page.title} {page.as_markdown()} {page.front}".encode()
    assert "words" in page.as_markdown()
