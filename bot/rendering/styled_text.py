"""Parses Markdown into lines of styled spans, for Slack's rich text, and finds the best sentence in them.

Styles are fields, not marks in the text, so nothing that a page holds can break them: not Japanese without spaces, not
an asterisk, not a link in the middle of the sentence that is drawn bold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from bot.rendering.links import link_parts
from bot.rendering.markdown import link_of, parser, with_checkbox
from bot.rendering.mrkdwn import RULE
from bot.rendering.tables import Cell, table_rows

_UNREAD = re.compile(r"[\s*_~`\\]+")
"""What two writings of one sentence may differ in: line breaks, and marks whose other half stands outside of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A stretch of text in one style. `url`: it is a link."""

    text: str
    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False
    url: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A paragraph, a list's item, a fence (`spans` are its code) or a table (`rows`, the header first).

    Of an item: `depth` is 0 for the outermost list, `number` its number in an ordered list, else None.
    """

    kind: Literal["text", "item", "code", "table"]
    spans: tuple[Span, ...] = ()
    depth: int = 0
    number: int | None = None
    rows: tuple[tuple[Cell, ...], ...] = ()

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)

    @property
    def is_heading(self) -> bool:
        """Whether it is a heading, or a line that its author made look like one."""
        return self.kind == "text" and all(span.bold for span in self.spans if span.text.strip())


def lines_of(markdown: str, *, read: Callable[[], MarkdownIt] = parser) -> list[Line]:
    """Returns the lines of a Markdown text. Comments are left out; other raw HTML stands as it is."""
    tokens = read().parse(re.sub(r"<!--.*?-->", "", markdown, flags=re.DOTALL))
    lines = (line for node in SyntaxTreeNode(tokens).children for line in _block(node))
    return [line for line in lines if line.kind != "text" or line.text.strip()]


def with_best(lines: Sequence[Line], best: str) -> list[Line]:
    """Returns the lines with one sentence bold; as they are where it is not found, or is all there is."""
    prose = [line.kind in ("text", "item") for line in lines]
    wanted = _read("".join(line.text for line in lines_of(best.strip())))
    text = "".join(_read(line.text) for line, is_prose in zip(lines, prose, strict=True) if is_prose)
    start = text.find(wanted)
    if not wanted or start < 0 or (len(wanted) == len(text) and all(prose)):
        return list(lines)
    emboldened, position = [], 0
    for line, is_prose in zip(lines, prose, strict=True):
        if not is_prose:
            emboldened.append(line)
            continue
        emboldened.append(
            replace(
                line, spans=tuple(_embolden(line.spans, start - position, start + len(wanted) - position))
            )
        )
        position += len(_read(line.text))
    return emboldened


def cut_spans(spans: Sequence[Span], limit: int) -> list[Span]:
    """Returns as many of the spans as `limit` characters hold, and an ellipsis where some are left out."""
    kept: list[Span] = []
    for span in spans:
        if len(span.text) > limit:
            head = span.text[: max(0, limit - 1)].rsplit(" ", 1)[0] if not span.url else ""
            return [*kept, replace(span, text=f"{head}…", url="")]
        kept.append(span)
        limit -= len(span.text)
    return kept


def _read(text: str) -> str:
    return _UNREAD.sub("", text)


def _embolden(spans: Iterable[Span], start: int, end: int) -> Iterator[Span]:
    """Yields the spans with the characters from `start` to `end` bold, counted without what `_read` leaves out."""
    position = 0
    for span in spans:
        parts: list[tuple[str, bool]] = []
        for letter in span.text:
            counts = not _UNREAD.fullmatch(letter)
            bold = start <= position < end if counts else start < position < end
            position += counts
            if parts and parts[-1][1] == bold:
                parts[-1] = (parts[-1][0] + letter, bold)
            else:
                parts.append((letter, bold))
        yield from (replace(span, text=text, bold=bold or span.bold) for text, bold in parts)


def _block(node: SyntaxTreeNode) -> Iterator[Line]:
    match node.type:
        case "heading":
            yield Line(kind="text", spans=tuple(_spans(node, Span(text="", bold=True))))
        case "fence" | "code_block":
            yield Line(kind="code", spans=(Span(text=node.content.rstrip("\n") or " "),))
        case "table":
            yield Line(kind="table", rows=table_rows(node))
        case "bullet_list" | "ordered_list":
            yield from _items(node, depth=0)
        case "blockquote":
            for child in node.children:
                yield from _block(child)
        case "hr":
            yield Line(kind="text", spans=(Span(text=RULE),))
        case _:
            spans = (
                tuple(_spans(node, Span(text=""))) if node.children else (Span(text=node.content.rstrip()),)
            )
            yield Line(kind="text", spans=spans)


def _items(node: SyntaxTreeNode, *, depth: int) -> Iterator[Line]:
    start = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
    for index, item in enumerate(node.children):
        yield from _item(item, depth=depth, number=None if start is None else start + index)


def _item(item: SyntaxTreeNode, *, depth: int, number: int | None) -> Iterator[Line]:
    """Yields the item as one line of its paragraphs; what is nested in it comes after it as lines of its own."""
    own: list[Span] = []
    nested: list[Line] = []
    for child in item.children:
        if child.type in {"bullet_list", "ordered_list"}:
            nested.extend(_items(child, depth=depth + 1))
            continue
        for line in _block(child):
            if line.kind != "text" or nested:
                nested.append(line)
            else:
                own.extend([Span(text="\n"), *line.spans] if own else _task(line.spans))
    shown = tuple(own) if any(span.text for span in own) else (Span(text=" "),)
    yield Line(kind="item", spans=shown, depth=depth, number=number)
    yield from nested


def _task(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    return (replace(spans[0], text=with_checkbox(spans[0].text)), *spans[1:]) if spans else ()


def _spans(node: SyntaxTreeNode, style: Span) -> Iterator[Span]:
    for child in node.children:
        match child.type:
            case "text" | "html_inline":
                yield replace(style, text=child.content)
            case "softbreak":
                yield replace(style, text=" ")
            case "hardbreak":
                yield replace(style, text="\n")
            case "code_inline":
                yield replace(style, text=child.content, code=True)
            case "link" | "image":
                yield from link_spans(*link_of(child), style)
            case "strong":
                yield from _spans(child, replace(style, bold=True))
            case "em":
                yield from _spans(child, replace(style, italic=True))
            case "s":
                yield from _spans(child, replace(style, strike=True))
            case _:
                yield from _spans(child, style)


def link_spans(url: str, label: str, style: Span = Span(text="")) -> Iterator[Span]:
    """Yields a link as spans: its label where that is honest, else its address."""
    yield from (replace(style, text=text or target, url=target) for text, target in link_parts(url, label))
