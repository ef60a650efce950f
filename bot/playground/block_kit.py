"""Checks blocks and views by Slack's rules, and refuses them in Slack's words.

The limits are those of Slack's reference; `msg_blocks_too_long` at about 13,200 characters is what real apps met.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.playground.block_elements import (
    IMAGE_SOURCE,
    IN_ACTIONS,
    IN_CONTEXT,
    IN_CONTEXT_ACTIONS,
    IN_INPUT,
    IN_SECTION,
    image_has_source,
)
from bot.playground.block_rules import (
    Check,
    anything,
    by_type,
    choice,
    items,
    plain,
    problem,
    record,
    string,
    text,
)
from bot.playground.refusal import Refused, invalid

MESSAGE_CHARACTERS = 13_200
MARKDOWN_CHARACTERS = 12_000
TABLE_CHARACTERS = 10_000


def check_message_blocks(blocks: Any) -> None:
    """Checks a message's blocks by Slack's rules.

    Raises:
        Refused: `invalid_blocks_format`, `invalid_blocks` with the failing paths, or `msg_blocks_too_long`.
    """
    if not isinstance(blocks, list):
        raise Refused("invalid_blocks_format")
    problems = [*_MESSAGE(blocks, "/blocks"), *_blocks_together(blocks)]
    if problems:
        raise invalid("invalid_blocks", *problems)
    if sum(map(len, texts(blocks))) > MESSAGE_CHARACTERS:
        raise Refused("msg_blocks_too_long")


def check_view(view: Any, *, kinds: tuple[str, ...]) -> None:
    """Checks a view of one of these kinds by Slack's rules.

    Raises:
        Refused: `invalid_arguments` with the failing paths.
    """
    if not isinstance(view, dict):
        raise invalid("invalid_arguments", "[ERROR] missing required field: view")
    rules = _MODAL if view.get("type") == "modal" else _HOME
    problems = [*choice(*kinds)(view.get("type"), "/view/type"), *rules(view, "/view")]
    if problems:
        raise invalid("invalid_arguments", *problems)


def texts(value: Any) -> Iterator[str]:
    """Yields every text that a reader sees in some blocks."""
    if isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name == "text" and isinstance(item, str):
                yield item
            else:
                yield from texts(item)


def _blocks_together(blocks: list[Any]) -> Iterator[str]:
    """Checks Slack's rules about all the blocks of a message together."""
    if sum(_is(block, "table") for block in blocks) > 1:
        yield problem("only one table is allowed", "/blocks")
    total = 0
    for index, block in enumerate(blocks):
        total += len(str(block.get("text", ""))) if _is(block, "markdown") else 0
        if total > MARKDOWN_CHARACTERS:
            words = f"markdown must be less than {MARKDOWN_CHARACTERS + 1} characters over all blocks"
            yield problem(words, f"/blocks/{index}/text")
            return


def _is(block: Any, kind: str) -> bool:
    return isinstance(block, dict) and block.get("type") == kind


def _one_focus(view: dict[str, Any], pointer: str) -> Iterator[str]:
    blocks = [block for block in view.get("blocks") or () if isinstance(block, dict)]
    elements = [
        element
        for block in blocks
        for element in (block.get("element"), block.get("accessory"), *(block.get("elements") or ()))
    ]
    if sum(isinstance(element, dict) and bool(element.get("focus_on_load")) for element in elements) > 1:
        yield problem("only one element can have focus_on_load", f"{pointer}/blocks")


def _inputs_are_submitted(view: dict[str, Any], pointer: str) -> Iterator[str]:
    if "submit" not in view and any(_is(block, "input") for block in view.get("blocks") or ()):
        yield problem("missing required field: submit (the view has input blocks)", pointer)


def _section_has_words(block: dict[str, Any], pointer: str) -> Iterator[str]:
    if "text" not in block and "fields" not in block:
        yield problem("missing required field: text or fields", pointer)


def _table_is_small(block: dict[str, Any], pointer: str) -> Iterator[str]:
    if sum(map(len, texts(block.get("rows")))) > TABLE_CHARACTERS:
        yield problem(
            f"must be less than {TABLE_CHARACTERS + 1} characters over all cells", f"{pointer}/rows"
        )


def _block(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None, *also: Check) -> Check:
    return record({"type": anything, **required}, {"block_id": string(255), **(optional or {})}, *also)


def _rich_part(kind: str) -> Check:
    words = record({"text": string(MESSAGE_CHARACTERS)}, closed=False)

    def leaf(value: Any, pointer: str) -> Iterator[str]:
        return words(value, pointer) if _is(value, "text") else iter(())

    style = {"style": choice("bullet", "ordered")} if kind == "rich_text_list" else {}
    return record(
        {"elements": items(leaf, most=1000, least=0)}, {"border": choice(0, 1), **style}, closed=False
    )


_RICH_PARTS = {
    kind: _rich_part(kind)
    for kind in ("rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote")
}
_CELLS = {
    "raw_text": record({"type": anything, "text": string(TABLE_CHARACTERS)}, closed=False),
    "raw_number": anything,
    "rich_text": anything,
}
_VIEW_BLOCKS = {
    "actions": _block({"elements": items(by_type(IN_ACTIONS), most=25, distinct="action_id")}),
    "context": _block({"elements": items(by_type(IN_CONTEXT), most=10)}),
    "divider": _block({}),
    "header": _block({"text": plain(150)}),
    "image": _block({"alt_text": string(2000)}, IMAGE_SOURCE | {"title": plain(2000)}, image_has_source),
    "input": _block(
        {"label": plain(2000), "element": by_type(IN_INPUT)},
        {"hint": plain(2000), "optional": anything, "dispatch_action": anything},
    ),
    "rich_text": _block({"elements": items(by_type(_RICH_PARTS), most=1000)}),
    "section": _block(
        {},
        {
            "text": text(3000),
            "fields": items(text(2000), most=10),
            "accessory": by_type(IN_SECTION),
            "expand": anything,
        },
        _section_has_words,
    ),
}
_MESSAGE_BLOCKS = _VIEW_BLOCKS | {
    "context_actions": _block({"elements": items(by_type(IN_CONTEXT_ACTIONS), most=5, distinct="action_id")}),
    "markdown": _block({"text": string(MARKDOWN_CHARACTERS)}),
    "table": _block(
        {"rows": items(items(by_type(_CELLS), most=20), most=100)},
        {"column_settings": items(anything, most=20, least=0)},
        _table_is_small,
    ),
    "task_card": _block(
        {
            "task_id": string(255),
            "title": string(256),
            "status": choice("pending", "in_progress", "complete", "error"),
        },
        {"details": anything, "output": anything, "sources": anything},
    ),
}
_MESSAGE = items(by_type(_MESSAGE_BLOCKS), most=50, least=0, distinct="block_id")
_VIEW_FIELDS = {
    "private_metadata": string(3000, least=0),
    "callback_id": string(255, least=0),
    "external_id": string(255, least=0),
}
_ITS_BLOCKS = {"blocks": items(by_type(_VIEW_BLOCKS), most=100, distinct="block_id")}
_HOME = record(_ITS_BLOCKS, _VIEW_FIELDS, _one_focus, closed=False)
_MODAL = record(
    {"title": plain(24), **_ITS_BLOCKS},
    {"submit": plain(24), "close": plain(24), **_VIEW_FIELDS},
    _inputs_are_submitted,
    _one_focus,
    closed=False,
)
