"""Markdown -> Slack's mrkdwn, from markdown-it tokens.

Everything that is not markup is escaped, so that a page cannot ping anybody (`<!channel>`), cannot mention (`<@U1>`)
and cannot forge a link's label. Only http, https and mailto become links; any other target is shown as plain text.
The result is a list of pieces, because a message may only be cut between or at known places inside of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from bot.links import link_parts, web_address

BULLETS = ("•", "◦", "▪")
RULE = "─" * 10
_MARKS = {"strong": "*", "em": "_", "s": "~"}
_WORD_EDGE = "\u200b"
_TASK = re.compile(r"\[([ xX])\] ")


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A block of a message. `text` is mrkdwn; of a "fence" the escaped code without its fences; of a "table" empty."""

    kind: Literal["text", "list", "quote", "fence", "table"]
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    """Plain, unescaped cells of a table, the header first. Every row has the same length."""


def to_pieces(markdown: str) -> list[Piece]:
    """Converts a Markdown text. Raw HTML is shown as it stands, except comments, which a reader never sees."""
    without_comments = re.sub(r"<!--.*?-->", "", markdown, flags=re.DOTALL)
    tokens = parser().parse(without_comments)
    return [piece for node in SyntaxTreeNode(tokens).children for piece in _block(node)]


def to_mrkdwn(markdown: str) -> str:
    """The whole text at once; tables become preformatted text."""
    return "\n\n".join(as_mrkdwn(piece) for piece in to_pieces(markdown))


def as_mrkdwn(piece: Piece) -> str:
    if piece.kind == "fence":
        return fenced(piece.text)
    if piece.kind == "table":
        return fenced(escape(aligned(piece.rows)))
    return piece.text


def fenced(code: str) -> str:
    return f"```\n{code}\n```"


def escape(text: str) -> str:
    """Slack's three control characters; nothing in the result can start a mention, a link or an entity."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def link(url: str, label: str) -> str:
    """A link with a plain label, or the escaped label alone where the target is not one that we link to."""
    return "".join(_linked(text.replace("|", "¦"), target) for text, target in link_parts(url, label))


def link_target(url: str) -> str | None:
    """The address as it may stand inside `<...>`, or None for relative addresses and schemes that we do not link."""
    target = web_address(url)
    return None if target is None else target.replace("&", "&amp;")


def _linked(text: str, target: str) -> str:
    if not target:
        return escape(text)
    target = target.replace("&", "&amp;")
    return f"<{target}|{escape(text)}>" if text else f"<{target}>"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """A table as columns of text, for a fixed-width font."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def parser() -> MarkdownIt:
    """The Markdown that pages and models write: CommonMark with tables and strikethrough, raw HTML as text."""
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _block(node: SyntaxTreeNode) -> list[Piece]:
    match node.type:
        case "heading":
            return [Piece(kind="text", text=_bold(_inline(node, inside=("strong",))))]
        case "fence" | "code_block":
            return [Piece(kind="fence", text=_code(node.content))]
        case "table":
            return [Piece(kind="table", rows=table_rows(node))]
        case "bullet_list" | "ordered_list":
            return [Piece(kind="list", text="\n".join(_list_lines(node, depth=0)))]
        case "blockquote":
            return [Piece(kind="quote", text=_quoted(node))]
        case "hr":
            return [Piece(kind="text", text=RULE)]
        case _:
            text = _inline(node) if node.children else escape(node.content)
            return [Piece(kind="text", text=text)] if text.strip() else []


def _code(content: str) -> str:
    return _without_fences(escape(content.rstrip("\n")))


def _without_fences(text: str) -> str:
    # Three backticks would open or close one of Slack's fences; a zero-width space between them keeps them visible.
    return text.replace("```", "`\u200b`\u200b`")


def table_rows(table: SyntaxTreeNode) -> tuple[tuple[str, ...], ...]:
    """The cells of a table as plain text, the header first; every row has the same length."""
    """The cells of a table as plain text, the header first; every row has the same length."""
    found = [
        tuple(plain_text(cell) for cell in row.children) for part in table.children for row in part.children
    ]
    width = max(len(row) for row in found)
    return tuple(row + ("",) * (width - len(row)) for row in found)


def _list_lines(node: SyntaxTreeNode, *, depth: int) -> list[str]:
    start = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
    lines: list[str] = []
    for number, item in enumerate(node.children):
        mark = BULLETS[min(depth, len(BULLETS) - 1)] if start is None else f"{start + number}."
        lines.extend(_item_lines(item, mark=mark, depth=depth))
    return lines


def _item_lines(item: SyntaxTreeNode, *, mark: str, depth: int) -> list[str]:
    indent, own = "    " * depth, False
    lines: list[str] = []
    for child in item.children:
        if child.type in {"bullet_list", "ordered_list"}:
            lines.extend(_list_lines(child, depth=depth + 1))
            continue
        for line in "\n".join(as_mrkdwn(piece) for piece in _block(child)).split("\n"):
            lines.append(f"{indent}{'  ' if own else mark + ' '}{line if own else _task(line)}")
            own = True
    return lines if own or lines else [f"{indent}{mark}"]


def _task(line: str) -> str:
    return (
        _TASK.sub(lambda box: "☐ " if box[1] == " " else "☑ ", line, count=1) if _TASK.match(line) else line
    )


def _quoted(node: SyntaxTreeNode) -> str:
    inner = "\n".join(as_mrkdwn(piece) for child in node.children for piece in _block(child))
    return "\n".join(f"> {line}" for line in inner.split("\n"))


def _inline(node: SyntaxTreeNode, *, inside: tuple[str, ...] = ()) -> str:
    spans = [_span(child, inside) for child in node.children]
    for at, child in enumerate(node.children):
        if child.type in _MARKS and spans[at]:
            before, after = "".join(spans[:at])[-1:], "".join(spans[at + 1 :])[:1]
            spans[at] = f"{_edge(before)}{spans[at]}{_edge(after)}"
    return _without_fences("".join(spans))


def _edge(neighbour: str) -> str:
    """Slack takes a mark only at a word's edge: a zero-width space makes one within a word, and in Japanese."""
    return _WORD_EDGE if neighbour.isalnum() else ""


def _span(node: SyntaxTreeNode, inside: tuple[str, ...]) -> str:
    match node.type:
        case "text" | "html_inline":
            return escape(node.content)
        case "softbreak":
            return " "  # pages are wrapped at 80 columns; Slack would show each wrap as a line of its own
        case "hardbreak":
            return "\n"
        case "code_inline":
            return f"`{escape(node.content)}`" if "`" not in node.content else escape(node.content)
        case "strong" | "em" | "s":
            return _formatted(node, inside)
        case "link":
            return link(str(node.attrs.get("href", "")), plain_text(node) or str(node.attrs.get("title", "")))
        case "image":
            return link(str(node.attrs.get("src", "")), node.content or str(node.attrs.get("title", "")))
        case _:
            return _inline(node, inside=inside)


def _formatted(node: SyntaxTreeNode, inside: tuple[str, ...]) -> str:
    text = _inline(node, inside=(*inside, node.type))
    if node.type in inside or not text.strip():
        return text
    return f"{_MARKS[node.type]}{text.strip()}{_MARKS[node.type]}"


def _bold(text: str) -> str:
    return f"*{text}*" if text.strip() else ""


def plain_text(node: SyntaxTreeNode) -> str:
    """What a reader sees of inline Markdown, without its markup."""
    if node.type in {"softbreak", "hardbreak"}:
        return " "
    if node.type in {"text", "code_inline", "html_inline", "image"}:
        return node.content
    return "".join(plain_text(child) for child in node.children)
