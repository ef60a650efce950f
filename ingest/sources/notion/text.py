"""Notion's rich text as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, takewhile
from typing import Any

from ingest.sources.markup import around, linked, literal

_PAIRED = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
"""Words in backticks."""
_BEFORE_BAR = re.compile(r"(\\+)(?=\|)")
_EMPTY_LINE = re.compile(r"(\n[ \t]*\n\s*)")
_MARKS = (("bold", "**"), ("italic", "*"), ("strikethrough", "~~"))


def rich_text(pieces: Sequence[Mapping[str, Any]]) -> str:
    """Writes styled text with its links. Line breaks within it stay."""
    by_link = groupby(_with_whole_code(pieces), lambda piece: piece.get("href"))
    return "".join(_to(href, _marked(list(group))) for href, group in by_link)


def plain_text(pieces: Sequence[Mapping[str, Any]]) -> str:
    return "".join(str(piece.get("plain_text", "")) for piece in pieces)


def _with_whole_code(pieces: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Joins code that Notion tells in several pieces: the backticks between two of them would mean something else."""
    for style, group in groupby(pieces, lambda piece: (piece.get("annotations") or {}, piece.get("href"))):
        if style[0].get("code"):
            first, *rest = group
            yield {**first, "plain_text": plain_text([first, *rest])}
        else:
            yield from group


def _marked(pieces: Sequence[Mapping[str, Any]], marks: Sequence[tuple[str, str]] = _MARKS) -> str:
    """Writes pieces in `marks`, each of which opens and closes once over neighbours that share it.

    The longest run is the outermost: `**bold *both***`, where two runs of asterisks side by side would be one.
    """
    written: list[str] = []
    start = 0
    while start < len(pieces):
        end, style = max(
            ((_end_of_run(pieces, start, mark[0]), mark) for mark in marks),
            key=lambda run: run[0],
            default=(start, ("", "")),
        )
        if end == start:
            written.append(_piece(pieces[start]))
            start += 1
            continue
        others = [mark for mark in marks if mark != style]
        written.append(_wrapped(_marked(pieces[start:end], others), style[1]))
        start = end
    return "".join(written)


def _end_of_run(pieces: Sequence[Mapping[str, Any]], start: int, name: str) -> int:
    """Returns the index behind the last of the pieces from `start` on that have a style."""
    styled = takewhile(lambda piece: (piece.get("annotations") or {}).get(name), pieces[start:])
    return start + sum(1 for _ in styled)


def _wrapped(text: str, mark: str) -> str:
    """Puts each paragraph between marks: an empty line ends whatever is open."""
    return "".join(around(part, lambda words: f"{mark}{words}{mark}") for part in _EMPTY_LINE.split(text))


def _piece(piece: Mapping[str, Any]) -> str:
    text = str(piece.get("plain_text", ""))
    if piece.get("type") == "equation":
        return f"${text}$"
    return around(text, _code if (piece.get("annotations") or {}).get("code") else _words)


def _to(href: object, text: str) -> str:
    """Writes a link, or the text as it is where it leads nowhere."""
    if not href:
        return text
    address = f"https://www.notion.so{href}" if str(href).startswith("/") else str(href)
    return around(text, lambda words: linked(words, address))


def _words(text: str) -> str:
    """Writes words. A backtick without its like is one that somebody wrote: it begins no code with another piece's.

    A backslash before a bar is a word as well; in a table it would be taken for what keeps the bar within its cell.
    """
    text = _BEFORE_BAR.sub(r"\1\1", text)
    return literal(text.replace("`", "\\`") if "`" in _PAIRED.sub("", text) else text)


def _code(words: str) -> str:
    """Writes code, each of its lines by itself: an empty one would end the paragraph, and the code with it."""
    return "\n".join(_line_of_code(line) if line.strip() else line for line in words.split("\n"))


def _line_of_code(words: str) -> str:
    mark = "``" if "`" in words else "`"
    pad = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{mark}{pad}{words}{pad}{mark}"


def title_of(page: Mapping[str, Any]) -> str:
    for value in (page.get("properties") or {}).values():
        if value.get("type") == "title":
            return " ".join(plain_text(value.get("title") or []).split()) or "Untitled"
    return " ".join(plain_text(page.get("title") or []).split()) or "Untitled"
