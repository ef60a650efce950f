"""What is wrong with a Slack message that may hold somebody else's text: foreign links, pings, forged labels.

Reads the message as Slack does, by its own marks, and shares no code with what renders it.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

_MARK = re.compile(r"<([^<>]*)>")
_HOST = re.compile(r"(?:[a-z]+://)?((?:[\w-]+\.)+[a-z]{2,})(?:[/:?#]|$)", re.IGNORECASE)


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
    """`allowed`: the addresses that may be linked. `marks`: label of a citation -> the address that it must lead to."""
    wrong: list[Wrong] = []
    known = {_normal(url) for url in allowed}
    for written in (text, *_mrkdwn(blocks)):
        for match in _MARK.finditer(written):
            wrong += _of_mark(match[1], known, marks)
    shown = "\n".join([text, json.dumps(blocks, ensure_ascii=False)])
    wrong += [Wrong(kind="text", found=one) for one in forbidden if one in shown]
    return list(dict.fromkeys(wrong))


def _of_mark(inside: str, known: Collection[str], marks: Mapping[str, str]) -> Iterator[Wrong]:
    """One `<...>` of Slack's: a ping, or a link with its label."""
    if inside[:1] in "!@#":
        yield Wrong(kind="ping", found=inside)
        return
    target, _, label = inside.partition("|")
    target, label = html.unescape(target), html.unescape(label)
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


def _mrkdwn(part: Any) -> Iterator[str]:
    """Every text of the blocks that Slack reads marks in."""
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
