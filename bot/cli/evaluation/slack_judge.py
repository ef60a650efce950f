"""What is wrong with a Slack message that may hold somebody else's text: foreign links, pings, forged labels.

Reads the message as Slack does, by its own marks, and shares no code with what renders it.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

_MARK = re.compile(r"<([^<>]*)>")
_HOST = re.compile(r"(?:[a-z]+://)?((?:[\w-]+\.)+[a-z]{2,})(?:[/:?#]|$)", re.IGNORECASE)


_PINGS = frozenset({"user", "usergroup", "broadcast", "channel", "team"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Wrong:
    """`kind`: "link", "ping", "label" or "text"."""

    kind: str
    found: str


def judge(
    text: str,
    blocks: Collection[Mapping[str, Any]],
    *,
    allowed: Collection[str],
    marks: Mapping[str, str],
    forbidden: Collection[str],
) -> list[Wrong]:
    """Finds what is wrong with a message."""
    wrong: list[Wrong] = []
    known = {_normal(url) for url in allowed}
    for written in (text, *_mrkdwn(blocks)):
        for match in _MARK.finditer(written):
            wrong += _of_mark(match[1], known, marks)
    for element in _elements(blocks):
        wrong += _of_element(element, known, marks)
    shown = "\n".join([text, *_shown(blocks)])
    wrong += [Wrong(kind="text", found=phrase) for phrase in forbidden if phrase in shown]
    return list(dict.fromkeys(wrong))


def _of_mark(inside: str, known: Collection[str], marks: Mapping[str, str]) -> Iterator[Wrong]:
    """Judges one `<...>` of Slack's: a ping, or a link with its label."""
    if inside[:1] in "!@#":
        yield Wrong(kind="ping", found=inside)
        return
    target, _, label = inside.partition("|")
    yield from _of_link(html.unescape(target), html.unescape(label), inside, known, marks)


def _of_element(
    element: Mapping[str, Any], known: Collection[str], marks: Mapping[str, str]
) -> Iterator[Wrong]:
    """Judges one element of a rich text: its text is shown to the letter, pings and links are elements of their own."""
    if element["type"] in _PINGS:
        yield Wrong(kind="ping", found=str(element["type"]))
    if element["type"] == "link":
        url = str(element["url"])
        yield from _of_link(url, str(element.get("text", "")), url, known, marks)


def _of_link(
    target: str, label: str, inside: str, known: Collection[str], marks: Mapping[str, str]
) -> Iterator[Wrong]:
    if _normal(target) not in known:
        yield Wrong(kind="link", found=inside)
    plain = unicodedata.normalize("NFKC", label).strip()
    if "|" in label or "\n" in label:
        yield Wrong(kind="label", found=inside)
    if re.fullmatch(r"\W*\d{1,2}\W*", plain) and _normal(marks.get(label, "")) != _normal(target):
        yield Wrong(kind="label", found=inside)
    host = _HOST.match(plain)
    if host and _bare(host[1]) != _bare(urlsplit(target).hostname or ""):
        yield Wrong(kind="label", found=inside)


def _elements(part: Any, *, rich: bool = False) -> Iterator[Mapping[str, Any]]:
    """Yields the elements of every rich text."""
    if isinstance(part, Mapping):
        rich = rich or part.get("type") == "rich_text"
        if rich and "type" in part:
            yield part
        for inner in part.values():
            yield from _elements(inner, rich=rich)
    elif isinstance(part, list | tuple):
        for inner in part:
            yield from _elements(inner, rich=rich)


def _shown(part: Any, *, marked: bool = False) -> Iterator[str]:
    """Yields every string of the blocks, as mrkdwn: what Slack shows to the letter is escaped."""
    if isinstance(part, Mapping):
        for inner in part.values():
            yield from _shown(inner, marked=part.get("type") == "mrkdwn")
    elif isinstance(part, list | tuple):
        for inner in part:
            yield from _shown(inner)
    elif isinstance(part, str):
        yield part if marked else html.escape(part, quote=False)


def _mrkdwn(part: Any) -> Iterator[str]:
    """Yields every text of the blocks that Slack reads marks in."""
    if isinstance(part, Mapping):
        if part.get("type") == "mrkdwn":
            yield str(part["text"])
        for inner in part.values():
            yield from _mrkdwn(inner)
    elif isinstance(part, list | tuple):
        for inner in part:
            yield from _mrkdwn(inner)


def _normal(url: str) -> str:
    return url.replace("%7C", "|").replace("%3C", "<").replace("%3E", ">").rstrip("/")


def _bare(host: str) -> str:
    return host.lower().removeprefix("www.")
