"""Text of a vendor's own as Markdown that means the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

_SPECIAL = re.compile(r"([\\`*_\[\]<>#{}])")
_ENTITY = re.compile(r"&(?=#?\w{1,31};)")
_BEFORE_ENTITY = re.compile(r"\\(?=<|&#?\w{1,31};)")
"""A backslash that would make words of what `literal` writes."""
_ENDS_ADDRESS = re.compile(r"[()\s]")
_MARK = (
    r"#{1,6}(?:[ \t]|$)"  # a heading
    r"|(?:=+|-{2,}|(?:[*_][ \t]*){3,})[ \t]*$"  # a ruler, or what makes a heading of the line above
    r"|`{3}|~{3}|\[[^\]\n]+\]:"  # a fence, a definition of a link
)
_LIST_MARK = r">|[-+*](?:[ \t]|$)|\|"
"""A quotation, an item, a table."""
_MARKED = re.compile(rf"^([ \t]*)(?={_MARK})", re.MULTILINE)
_LINE_START = re.compile(rf"^([ \t]*(?:\d{{1,9}}(?=[.)](?:[ \t]|$))|(?={_MARK}|{_LIST_MARK})))", re.MULTILINE)


def around(text: str, wrap: Callable[[str], str]) -> str:
    """Wraps the words of a text in a style; white space at its ends, beside which no mark works, stays outside."""
    core = text.strip()
    if not core:
        return text
    start = text.index(core)
    return f"{text[:start]}{wrap(core)}{text[start + len(core) :]}"


def linked(words: str, address: str) -> str:
    """Writes a link; a bracket or white space in its address would end it."""
    return f"[{words}]({_ENDS_ADDRESS.sub(lambda found: quote(found[0], safe=''), address.strip())})"


def heading(title: str, level: int = 1) -> str:
    """Writes a heading whose words are words, whatever they look like."""
    words = _SPECIAL.sub(r"\\\1", " ".join(title.split()))
    return f"{'#' * level} {words}"


def literal(text: str) -> str:
    """Escapes text: `<` opens no tag of HTML, and `&nbsp;`, where somebody wrote about it, is no space."""
    text = _BEFORE_ENTITY.sub(r"\\\\", text)
    return _ENTITY.sub("&amp;", text).replace("<", "&lt;")


def unliteral(text: str) -> str:
    """Undoes `literal`: code is shown as it is."""
    return text.replace("\\\\&", "\\&").replace("&lt;", "<").replace("&amp;", "&")


def prose(text: str) -> str:
    """Escapes lines of a paragraph that stay such, whatever they start with."""
    return _LINE_START.sub(r"\1\\", re.sub(r"^[ \t]+", "", text, flags=re.MULTILINE))


def unmarked(text: str) -> str:
    """Escapes lines in which lists and quotations are such, as in a chat, but no heading, ruler or fence."""
    return _MARKED.sub(r"\1\\", text)


def fenced(code: str, language: str) -> str:
    """Writes code between fences that are longer than any within it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`{3,}", code)), default=0))
    return f"{fence}{language}\n{code.strip(chr(10)).rstrip()}\n{fence}"


def quoted(blocks: list[str]) -> str:
    return "\n".join(f"> {line}".rstrip() for line in "\n\n".join(blocks).split("\n")) if blocks else ""
