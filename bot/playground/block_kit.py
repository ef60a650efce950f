"""Checks blocks and views by Slack's rules, and refuses them in Slack's words.

The limits are those of Slack's reference; `msg_blocks_too_long` at about 13,200 characters is what real apps met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from bot.playground.block_elements import (
    IN_ACTIONS,
    IN_CONTEXT_ACTIONS,
    IN_INPUT,
    IN_SECTION,
    check_element,
    check_elements,
    image,
)
from bot.playground.block_rules import MAX_BLOCK_ID, SECTION_TEXT, Problems
from bot.playground.refusal import Refused, invalid

MESSAGE_BLOCKS = 50
VIEW_BLOCKS = 100
MESSAGE_CHARACTERS = 13_200
MARKDOWN_CHARACTERS = 12_000
TABLE_CHARACTERS = 10_000

Rule = Callable[[Problems, dict[str, Any], str], None]


def check_message_blocks(blocks: Any, *, pointer: str = "/blocks") -> None:
    """Holds a message's blocks against Slack's rules.

    Raises:
        Refused: `invalid_blocks_format`, `invalid_blocks` with the failing paths, or `msg_blocks_too_long`.
    """
    if not isinstance(blocks, list):
        raise Refused("invalid_blocks_format")
    problems = Problems()
    _check(problems, problems.items(blocks, pointer, most=MESSAGE_BLOCKS, least=0), pointer, MESSAGE_RULES)
    _markdown_sum(problems, blocks, pointer)
    if problems.found:
        raise invalid("invalid_blocks", *problems.found)
    if sum(len(text) for text in texts(blocks)) > MESSAGE_CHARACTERS:
        raise Refused("msg_blocks_too_long")


def check_view(view: Any, *, kinds: tuple[str, ...]) -> None:
    """Holds a view of one of these kinds against Slack's rules.

    Raises:
        Refused: `invalid_arguments` with the failing paths.
    """
    if not isinstance(view, dict):
        raise invalid("invalid_arguments", "[ERROR] missing required field: view")
    problems = Problems()
    kind = view.get("type")
    if kind not in kinds:
        problems.add(f"must be one of: {', '.join(kinds)}", "/view/type")
    if kind == "modal":
        problems.plain(view.get("title"), "/view/title", most=24)
        problems.plain(view.get("submit"), "/view/submit", most=24, required=False)
        problems.plain(view.get("close"), "/view/close", most=24, required=False)
    problems.string(
        view.get("private_metadata"), "/view/private_metadata", most=3000, least=0, required=False
    )
    for name in ("callback_id", "external_id"):
        problems.string(view.get(name), f"/view/{name}", most=255, least=0, required=False)
    blocks = problems.items(view.get("blocks"), "/view/blocks", most=VIEW_BLOCKS)
    _check(problems, blocks, "/view/blocks", VIEW_RULES)
    has_input = any(isinstance(block, dict) and block.get("type") == "input" for block in blocks)
    if kind == "modal" and has_input and "submit" not in view:
        problems.add("missing required field: submit (the view has input blocks)", "/view")
    focused = [one for block in blocks if isinstance(block, dict) for one in _focused(block)]
    if len(focused) > 1:
        problems.add("only one element can have focus_on_load", "/view/blocks")
    if problems.found:
        raise invalid("invalid_arguments", *problems.found)


def _focused(block: dict[str, Any]) -> Iterator[Any]:
    for one in (block.get("element"), block.get("accessory"), *(block.get("elements") or [])):
        if isinstance(one, dict) and one.get("focus_on_load"):
            yield one


def texts(value: Any) -> Iterator[str]:
    """Every text that a reader sees in some blocks."""
    if isinstance(value, list):
        for one in value:
            yield from texts(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            if name == "text" and isinstance(one, str):
                yield one
            else:
                yield from texts(one)


def _check(problems: Problems, blocks: list[Any], pointer: str, rules: dict[str, Rule]) -> None:
    used: set[str] = set()
    tables = 0
    for number, block in enumerate(blocks):
        place = f"{pointer}/{number}"
        if not isinstance(block, dict):
            problems.add("must be an object", place)
            continue
        kind = block.get("type")
        rule = rules.get(str(kind))
        if rule is None:
            problems.add(f"unsupported type: {kind}", f"{place}/type")
            continue
        tables += kind == "table"
        block_id = block.get("block_id")
        problems.string(block_id, f"{place}/block_id", most=MAX_BLOCK_ID, required=False)
        if block_id is not None and block_id in used:
            problems.add(f"`block_id` {block_id!r} already exists", f"{place}/block_id")
        used.add(str(block_id))
        problems.keys(block, place, {"type", "block_id", *_KEYS[str(kind)]})
        rule(problems, block, place)
    if tables > 1:
        problems.add("only one table is allowed", pointer)


def _markdown_sum(problems: Problems, blocks: list[Any], pointer: str) -> None:
    total = 0
    for number, block in enumerate(blocks):
        if isinstance(block, dict) and block.get("type") == "markdown":
            total += len(str(block.get("text", "")))
            if total > MARKDOWN_CHARACTERS:
                problems.add(
                    f"markdown must be less than {MARKDOWN_CHARACTERS + 1} characters over all blocks",
                    f"{pointer}/{number}/text",
                )
                return


def _section(problems: Problems, block: dict[str, Any], pointer: str) -> None:
    if "text" not in block and "fields" not in block:
        problems.add("missing required field: text or fields", pointer)
    problems.text(block.get("text"), f"{pointer}/text", most=SECTION_TEXT, required=False)
    if "fields" in block:
        for number, field in enumerate(problems.items(block["fields"], f"{pointer}/fields", most=10)):
            problems.text(field, f"{pointer}/fields/{number}", most=2000)
    if "accessory" in block:
        check_element(problems, block["accessory"], f"{pointer}/accessory", IN_SECTION)


def _context(problems: Problems, block: dict[str, Any], pointer: str) -> None:
    for number, element in enumerate(problems.items(block.get("elements"), f"{pointer}/elements", most=10)):
        place = f"{pointer}/elements/{number}"
        if isinstance(element, dict) and element.get("type") == "image":
            image(problems, element, place)
        else:
            problems.text(element, place, most=SECTION_TEXT)


def _actions(problems: Problems, block: dict[str, Any], pointer: str) -> None:
    elements = problems.items(block.get("elements"), f"{pointer}/elements", most=25)
    check_elements(problems, elements, f"{pointer}/elements", IN_ACTIONS)


def _context_actions(problems: Problems, block: dict[str, Any], pointer: str) -> None:
    elements = problems.items(block.get("elements"), f"{pointer}/elements", most=5)
    check_elements(problems, elements, f"{pointer}/elements", IN_CONTEXT_ACTIONS)


def _header(problems: Problems, block: dict[str, Any], pointer: str) -> None:
    problems.plain(block.get("text"), f"{pointer}/text", most=150)


def _divider(problems: Problems, block: dict[str, Any], pointer: str) -> None:
    """A line has nothing to get wrong."""


def _image(problems: Problems, block: dict[str, Any], pointer: str) -> None:
    image(problems, block, pointer)
    problems.plain(block.get("title"), f"{pointer}/title", most=2000, required=False)


def _markdown(problems: Problems, block: dict[str, Any], pointer: str) -> None:
    problems.string(block.get("text"), f"{pointer}/text", most=MARKDOWN_CHARACTERS)


def _rich_text(problems: Problems, block: dict[str, Any], pointer: str) -> None:
    allowed = {"rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote"}
    for number, element in enumerate(problems.items(block.get("elements"), f"{pointer}/elements", most=1000)):
        place = f"{pointer}/elements/{number}"
        kind = element.get("type") if isinstance(element, dict) else None
        if kind not in allowed:
            problems.add(f"unsupported type: {kind}", f"{place}/type")
            continue
        problems.choice(element.get("border"), f"{place}/border", (0, 1))
        if kind == "rich_text_list":
            problems.choice(element.get("style"), f"{place}/style", ("bullet", "ordered"))
        held = problems.items(element.get("elements"), f"{place}/elements", most=1000, least=0)
        for index, one in enumerate(held):
            if isinstance(one, dict) and one.get("type") == "text":
                problems.string(one.get("text"), f"{place}/elements/{index}/text", most=MESSAGE_CHARACTERS)


def _table(problems: Problems, block: dict[str, Any], pointer: str) -> None:
    for number, row in enumerate(problems.items(block.get("rows"), f"{pointer}/rows", most=100)):
        for column, cell in enumerate(problems.items(row, f"{pointer}/rows/{number}", most=20)):
            kind = cell.get("type") if isinstance(cell, dict) else None
            place = f"{pointer}/rows/{number}/{column}"
            if kind not in ("raw_text", "raw_number", "rich_text"):
                problems.add(f"unsupported type: {kind}", f"{place}/type")
            elif kind == "raw_text":
                problems.string(cell.get("text"), f"{place}/text", most=TABLE_CHARACTERS)
    if "column_settings" in block:
        problems.items(block["column_settings"], f"{pointer}/column_settings", most=20, least=0)
    if sum(len(text) for text in texts(block.get("rows"))) > TABLE_CHARACTERS:
        problems.add(f"must be less than {TABLE_CHARACTERS + 1} characters over all cells", f"{pointer}/rows")


def _input(problems: Problems, block: dict[str, Any], pointer: str) -> None:
    problems.plain(block.get("label"), f"{pointer}/label", most=2000)
    problems.plain(block.get("hint"), f"{pointer}/hint", most=2000, required=False)
    check_element(problems, block.get("element"), f"{pointer}/element", IN_INPUT)


def _task_card(problems: Problems, block: dict[str, Any], pointer: str) -> None:
    problems.string(block.get("task_id"), f"{pointer}/task_id", most=255)
    problems.string(block.get("title"), f"{pointer}/title", most=256)
    problems.choice(block.get("status"), f"{pointer}/status", ("pending", "in_progress", "complete", "error"))


_KEYS: dict[str, set[str]] = {
    "actions": {"elements"},
    "context": {"elements"},
    "context_actions": {"elements"},
    "divider": set(),
    "header": {"text"},
    "image": {"image_url", "slack_file", "alt_text", "title"},
    "input": {"label", "element", "hint", "optional", "dispatch_action"},
    "markdown": {"text"},
    "rich_text": {"elements"},
    "section": {"text", "fields", "accessory", "expand"},
    "table": {"rows", "column_settings"},
    "task_card": {"task_id", "title", "status", "details", "output", "sources"},
}

VIEW_RULES: dict[str, Rule] = {
    "actions": _actions,
    "context": _context,
    "divider": _divider,
    "header": _header,
    "image": _image,
    "input": _input,
    "rich_text": _rich_text,
    "section": _section,
}
MESSAGE_RULES: dict[str, Rule] = {
    **VIEW_RULES,
    "context_actions": _context_actions,
    "markdown": _markdown,
    "table": _table,
    "task_card": _task_card,
}
