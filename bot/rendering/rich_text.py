"""Renders styled lines as Slack's rich text: a quote with its lists and code, each beside the quote's bar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.rendering.layout import Block
from bot.rendering.styled_text import Line, Span

BAR = 1
"""Draws a quote's bar beside a list or code. Not a width: Slack refuses anything but 0 and 1
(https://docs.slack.dev/tools/node-slack-sdk/reference/types/interfaces/RichTextBorderable)."""
DEEPEST = 4
"""Levels of a list; Slack's editor goes to 8, and nobody can read them."""


def rich_text(elements: Sequence[Block]) -> Block:
    return {"type": "rich_text", "elements": list(elements)}


def section_element(spans: Sequence[Span]) -> Block:
    return {"type": "rich_text_section", "elements": [_element(span) for span in spans if span.text]}


def quote_elements(lines: Sequence[Line]) -> list[Block]:
    """Returns a quote of paragraphs, items and code; of tables it knows nothing."""
    elements: list[Block] = []
    before: Line | None = None
    for line in lines:
        if line.kind == "code":
            elements.append(
                {"type": "rich_text_preformatted", "elements": [_plain(line.text)], "border": BAR}
            )
        elif line.kind == "item":
            if before is None or not _goes_on(before, line):
                elements.append(_list(line))
            elements[-1]["elements"].append(section_element(line.spans))
        elif before is not None and before.kind == "text":
            gap = "\n" if before.is_heading else "\n\n"
            elements[-1]["elements"].extend([_plain(gap), *section_element(line.spans)["elements"]])
        else:
            elements.append({**section_element(line.spans), "type": "rich_text_quote"})
        before = line
    return elements


def _goes_on(before: Line, line: Line) -> bool:
    if before.kind != "item" or before.depth != line.depth:
        return False
    if before.number is None or line.number is None:
        return before.number is line.number
    return line.number == before.number + 1


def _list(first: Line) -> Block:
    block: Block = {
        "type": "rich_text_list",
        "style": "bullet" if first.number is None else "ordered",
        "indent": min(first.depth, DEEPEST),
        "border": BAR,
        "elements": [],
    }
    return block | {"offset": first.number - 1} if first.number is not None and first.number > 1 else block


def _plain(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _element(span: Span) -> dict[str, Any]:
    style = {name: True for name in ("bold", "italic", "strike", "code") if getattr(span, name)}
    element = {"type": "link", "url": span.url, "text": span.text} if span.url else _plain(span.text)
    return {**element, "style": style} if style else element
