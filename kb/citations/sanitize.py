"""Removes from a model's text the links that no source has, and mentions that would notify people."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.models import Chunk

_LINK = re.compile(r"!?\[([^\]\n]*+)\]\(\s*+<?([^)\s>]*+)>?[^)\n]*+\)")
_SLACK_LINK = re.compile(r"[<＜](https?://[^>|＞\s]+)(?:\|([^>＞]*))?[>＞]")
_MAIL_LINK = re.compile(r"<(?:mailto:)?([^<>\s@|]+@[^<>\s@|]+)(?:\|[^<>]*)?>")
_SLACK_CALL = re.compile(r"[<＜]\s*([!@#＠！＃])\s*([^>＞|]*)(?:\|([^>＞]*))?[>＞]")
_CALL_ALL = re.compile(r"(?<!\w)[@＠](?=(?:channel|here|everyone|group)\b)", re.IGNORECASE)
_SCHEME = re.compile(r"https?://(?:www\.)?|\bwww\.", re.IGNORECASE)
_PATH = re.compile(r"[^/]/[^/.]")
_BARE_URL = re.compile(
    r"(?:https?://|www\.|(?<![\w@./-])(?:[a-z0-9-]+\.)+(?!(?:js|py|md|ts|css|html?|json|ya?ml|txt|sh|go|rs)/)[a-z]{2,}/)"
    r"[^\s<>()\[\]|\"'`]+",
    re.IGNORECASE,
)
"""An address with or without its scheme: login.example.com/vpn is an address, Node.js/React is not."""


def sanitize_links(text: str, sources: Sequence[Chunk]) -> str:
    """Returns the text with Slack's control sequences as plain words, and without a link that no source has.

    What stands on a source as an address but is no link there is shown as an address: its label would be the model's.
    """
    known = _known(sources)

    def link(whole: str, url: str, label: str) -> str:
        if _is_linked(url, sources):
            return whole
        return f"{label} ({url})" if label and _is_known(url, known) else label

    text = _LINK.sub(lambda m: link(m.group(), m[2], m[1]), text)
    text = _SLACK_LINK.sub(lambda m: link(m.group(), m[1], m[2] or ""), text)
    text = _MAIL_LINK.sub(lambda m: m[1], text)
    text = _SLACK_CALL.sub(lambda m: m[3] or m[2].partition("^")[0], text)
    return _CALL_ALL.sub("", text)


def has_foreign_link(text: str, sources: Sequence[Chunk]) -> bool:
    """Tells whether a bare address is left that no source has, nor a page below it."""
    known = _known(sources)
    bare = (match.group().rstrip(".,;:!?*_") for match in _BARE_URL.finditer(text))
    return not all(_is_known(url, known) or _is_above(url, known) for url in bare)


def _is_above(url: str, known: Sequence[str]) -> bool:
    """Tells whether a source has an address below this one, on the same host: https://a.b/c of https://a.b/c/d."""
    return _PATH.search(url) is not None and any(f"{url.rstrip('/')}/" in text for text in known)


def _known(sources: Sequence[Chunk]) -> list[str]:
    return [part for chunk in sources for part in (chunk.url, chunk.page.url, chunk.text)]


def _is_linked(url: str, sources: Sequence[Chunk]) -> bool:
    """Tells whether it is a source's address, or a link on one."""
    if not url:
        return False
    target = re.escape(url.rstrip("/")) + "/?"
    on_page = re.compile(rf"\]\(\s*<?{target}(?=[>\s)])|<{target}>")
    return any(
        url.rstrip("/") in (chunk.url.rstrip("/"), chunk.page.url.rstrip("/")) or on_page.search(chunk.text)
        for chunk in sources
    )


def _is_known(url: str, known: Sequence[str]) -> bool:
    """Tells whether the whole address is known: https://a.b is not known because https://a.b.c is."""
    bare = _SCHEME.sub("", url).rstrip("/")
    if not bare:
        return False
    pattern = re.compile(rf"(?<![\w.@-]){re.escape(bare)}/?(?![\w/.?#&=%-]*\w)", re.IGNORECASE)
    return any(pattern.search(_SCHEME.sub(" ", text)) for text in known)
