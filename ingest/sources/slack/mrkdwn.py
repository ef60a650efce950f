"""Slack's mrkdwn to Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from ingest.sources.markup import fenced, linked, unmarked

_CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)
_REFERENCE = re.compile(r"<((?:[@#!]|mailto:|tel:|https?://)[^<>\n]+)>")
_NO_TEXT = re.compile("[\x00\x01]")
_BULLET = re.compile(r"^([ \t]*)[•◦▪︎‣]\s+", re.MULTILINE)
_STYLES = (
    (re.compile(r"(?<![\w*])\*(?=\S)([^*\n]*?\S)\*(?![\w*])"), r"**\1**"),
    (re.compile(r"(?<![\w~])~(?=\S)([^~\n]*?\S)~(?![\w~])"), r"~~\1~~"),
)
_OPENS_TAG = re.compile(r"<(?=[A-Za-z/!?%])")
_ENTITY = re.compile(r"&(?=#?\w{1,31};)")
_BEFORE_ENTITY = re.compile(r"\\(?=<[A-Za-z/!?%]|&#?\w{1,31};)")
_ESCAPED = re.compile(r"\\(?=[#=\-*_`~\[])")
_MID_LINE = "\x01"
"""Stands where a piece goes on with a line, so that its first word starts none."""


def to_markdown(text: str, person: Callable[[str], str]) -> str:
    """Writes mrkdwn as Markdown. `person` names a user by id."""
    written = ""
    for index, piece in enumerate(_CODE.split(_NO_TEXT.sub("", text))):
        if index % 2:
            written += _code(piece, person)
        else:
            start = _MID_LINE if written and not written.endswith("\n") else ""
            written += unmarked(start + _prose(piece, person)).removeprefix(_MID_LINE)
    return written


def without_styles(markdown: str) -> str:
    """Returns the words of a line, for a heading."""
    words = re.sub(r"\[([^\[\]]*)\]\([^()]*\)", r"\1", _ESCAPED.sub("", markdown))
    return re.sub(r"\*\*|~~|`", "", words)


def _code(piece: str, person: Callable[[str], str]) -> str:
    """Writes a piece of code, in which Slack writes addresses and people as references too."""

    def named(found: re.Match[str]) -> str:
        target = found[1].partition("|")[0]
        return person(target[1:]) if target.startswith("@") else target

    code = html.unescape(_REFERENCE.sub(named, piece))
    if not piece.startswith("```"):
        return code
    return f"\n{fenced(code[3:-3], '')}\n" if code[3:-3].strip() else ""


def _prose(piece: str, person: Callable[[str], str]) -> str:
    for pattern, replacement in _STYLES:
        piece = pattern.sub(replacement, piece)
    piece = _BULLET.sub(r"\1- ", piece)
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(_reference(found[1], person))
        return f"\x00{len(kept) - 1}\x00"

    piece = html.unescape(_REFERENCE.sub(keep, piece))
    piece = _BEFORE_ENTITY.sub(r"\\\\", piece)
    piece = _OPENS_TAG.sub("&lt;", _ENTITY.sub("&amp;", piece))
    return re.sub(r"\x00(\d+)\x00", lambda found: kept[int(found[1])], piece)


def _reference(inner: str, person: Callable[[str], str]) -> str:
    target, _, label = inner.partition("|")
    label = html.unescape(label)
    match target[:1]:
        case "@":
            return person(target[1:])
        case "#":
            return f"#{label or target[1:]}"
        case "!":
            return label or "@" + target[1:].partition("^")[0]
        case _:
            address = html.unescape(target)
            if not label or label == address.removeprefix("mailto:"):
                return address.removeprefix("mailto:")
            return linked(label, address)
