"""Converts Markdown to Slack's mrkdwn, from markdown-it tokens.

Everything that is not markup is escaped, so that a page cannot ping anybody (`<!channel>`), cannot mention (`<@U1>`)
and cannot forge a link's label. Only http, https and mailto become links; any other target is shown as plain text.
The result is a list of pieces, because a message may only be cut between or at known places inside of them.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from markdown_it.tree import SyntaxTreeNode

from bot.rendering.links import link_parts, web_address
from bot.rendering.markdown import is_wide, link_of, parser, plain_text, with_checkbox
from bot.rendering.tables import Cell, aligned, table_rows

BULLETS = ("•", "◦", "▪")
RULE = "─" * 10
_MARKS = {"strong": "*", "em": "_", "s": "~", "code_inline": "`"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A block of a message. `text` is mrkdwn; of a "fence" the escaped code without its fences; of a "table" empty."""

    kind: Literal["text", "list", "quote", "fence", "table"]
    text: str = ""
    rows: tuple[tuple[Cell, ...], ...] = ()
    """The rows of a table, the header first. Every row has the same length."""


def to_pieces(markdown: str) -> list[Piece]:
    """Converts a Markdown text. Raw HTML is shown as it stands, except comments, which a reader never sees."""
    without_comments = re.sub(r"<!--.*?-->", "", markdown, flags=re.DOTALL)
    tokens = parser().parse(without_comments)
    return [piece for node in SyntaxTreeNode(tokens).children for piece in _block(node)]


def to_mrkdwn(markdown: str) -> str:
    """Returns the whole text at once; tables become preformatted text."""
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
    """Escapes Slack's three control characters: nothing in the result can start a mention, a link or an entity."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def link(url: str, label: str) -> str:
    """Returns a link with a plain label, or the escaped label alone where the target is not one that we link to."""
    return "".join(_linked(text.replace("|", "¦"), target) for text, target in link_parts(url, label))


def link_target(url: str) -> str | None:
    """Returns the address as it may stand inside `<...>`; None for one that we do not link."""
    target = web_address(url)
    return None if target is None else target.replace("&", "&amp;")


def _linked(text: str, target: str) -> str:
    if not target:
        return escape(text)
    target = target.replace("&", "&amp;")
    return f"<{target}|{escape(text)}>" if text else f"<{target}>"


def _block(node: SyntaxTreeNode) -> list[Piece]:
    match node.type:
        case "heading":
            return [Piece(kind="text", text=_in_marks(_inline(node, inside=("strong",)), "strong"))]
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
            lines.append(f"{indent}{'  ' if own else mark + ' '}{line if own else with_checkbox(line)}")
            own = True
    return lines if own or lines else [f"{indent}{mark}"]


def _quoted(node: SyntaxTreeNode) -> str:
    inner = "\n".join(as_mrkdwn(piece) for child in node.children for piece in _block(child))
    return "\n".join(f"> {line}" for line in inner.split("\n"))


def _inline(node: SyntaxTreeNode, *, inside: tuple[str, ...] = (), edges: tuple[str, str] = ("", "")) -> str:
    """Converts the node's children. `edges`: the characters before and after the node, "" where there are none."""
    plain = [plain_text(child) for child in node.children]
    spans = [
        _span(
            child,
            inside,
            ("".join(plain[:index])[-1:] or edges[0], "".join(plain[index + 1 :])[:1] or edges[1]),
        )
        for index, child in enumerate(node.children)
    ]
    return _without_fences("".join(spans))


def _span(node: SyntaxTreeNode, inside: tuple[str, ...], edges: tuple[str, str]) -> str:
    match node.type:
        case "text" | "html_inline":
            return escape(node.content)
        case "softbreak":
            return " "  # pages are wrapped at 80 columns; Slack would show each wrap as a line of its own
        case "hardbreak":
            return "\n"
        case "code_inline":
            return _in_marks(escape(node.content), node.type, edges)
        case "strong" | "em" | "s":
            return _formatted(node, inside, edges)
        case "link" | "image":
            return link(*link_of(node))
        case _:
            return _inline(node, inside=inside, edges=edges)


def _formatted(node: SyntaxTreeNode, inside: tuple[str, ...], edges: tuple[str, str]) -> str:
    text = _inline(node, inside=(*inside, node.type)).strip()
    marked = text if node.type in inside else _in_marks(text, node.type, edges)
    return marked if marked != text else _inline(node, inside=inside, edges=edges)


def _in_marks(text: str, style: str, edges: tuple[str, str] = ("", "")) -> str:
    """Returns the text in Slack's marks for a style; plain where Slack would show the marks themselves.

    It takes marks only at the edges of a word, around one line, and ends the style at the next one. Beside a letter, in
    Japanese and at East Asian punctuation the mark is shown (openclaw/openclaw#111575 tried it on Slack). A zero-width
    space as an edge helps in some clients only, and is copied along.
    """
    mark = _MARKS[style]
    if not text.strip() or mark in text or "\n" in text or any(map(_joins, edges)):
        return text
    return f"{mark}{text}{mark}"


def _joins(neighbour: str) -> bool:
    """Returns whether Slack ignores a mark beside this character: a letter, its accent, a digit, a wide sign."""
    if not neighbour:
        return False
    kind = unicodedata.category(neighbour)
    return (
        kind[0] in "LMN"
        or neighbour == "_"
        or is_wide(neighbour)
        or (kind == "So" and not neighbour.isascii())
    )
