"""The Markdown of one post, so that it can stand on a page with others: nothing in it reaches beyond its end.

What GitHub does not show (HTML comments, of which issue templates are full) goes. `#123`, `@name` and addresses stay the
words that they are. A heading in a post is one below the page's own; in a remark, of which many stand under one heading, it is
a line of text. A fence or a tag that its author forgot to close is closed.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark").enable("table")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_ATX = re.compile(r"#{1,6}(?=[ \t]|$)")
_CLOSING_HASHES = re.compile(r"[ \t]+#+[ \t]*$")
_RUNS_ON = re.compile(r"\s*<(pre|script|style|textarea)\b", re.IGNORECASE)
"""Blocks of HTML that only their own closing tag ends."""
_DEEPEST = 6
_BELOW = 2
"""The page's own headings have the levels 1 and 2."""

Heading = Callable[[int, str], str]
"""Level and words -> the line."""


def as_answer(text: str) -> str:
    return _bounded(text, lambda level, words: f"{'#' * min(_DEEPEST, level + _BELOW)} {words}")


def as_remark(text: str) -> str:
    return _bounded(text, lambda _, words: words)


def signed(author: str, text: str) -> str:
    """The text under its author's name; empty where there is none."""
    if not text:
        return ""
    begins_with_prose = _PARSER.parse(text)[0].type == "paragraph_open"
    return f"**{author}**:{' ' if begins_with_prose else chr(10) * 2}{text}"


def _bounded(text: str, write: Heading) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for token in reversed(_PARSER.parse("\n".join(lines))):
        if token.map is None:
            continue
        start, end = token.map
        match token.type:
            case "html_block":
                lines[start:end] = _shown("\n".join(lines[start:end]), to_the_end=end >= len(lines))
            case "inline":
                lines[start:end] = _without_comments(lines[start:end], token)
            case "heading_open" if token.level == 0:
                lines[start:end] = [write(int(token.tag[1]), _words(lines[start:end], token)), ""]
            case "fence":
                lines[end:end] = _missing_fence(lines[start:end], token)
    return "\n".join(lines).strip("\n").rstrip()


def _shown(block: str, *, to_the_end: bool) -> list[str]:
    shown = _COMMENT.sub("", block) if not _RUNS_ON.match(block) else block
    opened = _RUNS_ON.match(block)
    if opened and to_the_end and f"</{opened[1].lower()}" not in block.lower():
        shown += f"\n</{opened[1]}>"
    return shown.split("\n")


def _without_comments(lines: list[str], token: Token) -> list[str]:
    """Comments within a paragraph or a heading, not those that code shows."""
    text = "\n".join(lines)
    for child in token.children or ():
        if child.type == "html_inline" and child.content.startswith("<!--"):
            text = text.replace(child.content, "", 1)
    kept = text.split("\n")
    return kept + [""] * (len(lines) - len(kept))  # the lines of what comes before keep their numbers


def _words(lines: list[str], token: Token) -> str:
    """Of a heading with hashes, or underlined."""
    if token.markup in ("=", "-"):
        return " ".join(line.strip() for line in lines[:-1] if line.strip())
    return _CLOSING_HASHES.sub("", _ATX.sub("", lines[0], count=1)).strip()


def _missing_fence(lines: list[str], token: Token) -> list[str]:
    """Only a fence outside lists and quotations may run on: those end by themselves."""
    mark = re.escape(token.markup[0])
    closing = re.compile(rf" {{0,3}}{mark}{{{len(token.markup)},}}[ \t]*")
    is_closed = len(lines) > 1 and any(closing.fullmatch(line) for line in lines[1:])
    return [] if token.level or is_closed else [token.markup]
