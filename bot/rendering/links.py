"""Sanitizes links of pages: which addresses become links, and which labels a link may carry.

A page's author chooses both. Only http, https and mailto become links, and a label never reads as another address or as
the number of one of our sources.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from kb.addresses import split_address

LINK_SCHEMES = frozenset({"http", "https", "mailto"})
_FILE_SUFFIXES = frozenset({
    "css", "csv", "doc", "docx", "gif", "htm", "html", "jpeg", "jpg", "js", "json", "md", "pdf", "png", "ppt", "pptx", "py",
    "sh", "svg", "toml", "ts", "tsx", "txt", "xls", "xlsx", "xml", "yaml", "yml", "zip",
})  # fmt: skip
"""`report.pdf` is a file's name, though it is written like a host's."""
_CITATION_LIKE = re.compile(r"\W*[\d⁰¹²³⁴-⁹₀-₉①-⑳]{1,3}\W*")
"""A label that reads as the number of one of our sources."""
_SHOWN_HOST = re.compile(r"(?:[a-z]+://)?((?:[\w-]+\.)+[a-z]{2,})(?:[/:?#]|$)", re.IGNORECASE)
_NAMED_HOST = re.compile(r"(?<![\w.-])((?:[\w-]+\.)+[^\W\d_]{2,}|localhost)(?![\w-]|\.\w)", re.IGNORECASE)
_SHOWN_ADDRESS = re.compile(r"(?:https?://|www\.)([^\s/:?#)\]>]+)", re.IGNORECASE)
_HOST = re.compile(r"\[[0-9a-f:.]+\](?::[0-9]+)?|[a-z0-9_.\u00df-\u00f6\u00f8-\u00ff-]+(?::[0-9]+)?")
"""A host with its port, in small letters. Letters with the accents of
Western Europe are taken for themselves (`müller.example`).
"""
_MAILBOX = re.compile(r"mailto:[\w.%+-]+@[\w.-]+(?:\?.*)?", re.IGNORECASE)
"""CommonMark takes Slack's `<!subteam^S1|@admins>` for an e-mail address."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ufffd\ud800-\udfff]")
_QUOTED = {ord(letter): f"%{ord(letter):02X}" for letter in "|<>\\"}
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Zero-width and direction marks: they can make a label read as another address."""


def link_parts(url: str, label: str) -> list[tuple[str, str]]:
    """Returns a link as pairs of text and address. The address is "" for plain text, the text "" where the address is
    shown; of an e-mail address the text is never "", since `mailto:` is not for reading.
    """
    label = _INVISIBLE.sub("", " ".join(label.split()))
    target = web_address(url)
    if target is None:
        return [(label or url, "")]
    mailbox = _mailbox_of(target)
    if url == f"https://{label}":
        return [(label, target)]
    if (
        label in ("", url, mailbox, f"mailto:{mailbox}")
        or _CITATION_LIKE.fullmatch(label)
        or _pretends(label, url)
    ):
        return [(mailbox, target)]
    if _SHOWN_ADDRESS.search(label) or _names_another_host(label, target):
        return [(f"{label} (", ""), ("", target), (")", "")]
    return [(label, target)]


def _mailbox_of(target: str) -> str:
    """Returns the address that a `mailto:` writes to; "" for any other link."""
    scheme, _, address = target.partition(":")
    return address.partition("?")[0] if scheme.lower() == "mailto" else ""


def web_address(url: str) -> str | None:
    """Returns the address, with what could end a link in Slack's markup quoted.

    None for relative ones and other schemes, and for one whose host is not what it seems: a name
    before an `@`, a backslash, which browsers take for a slash, letters that look like others.
    """
    cleaned = "".join(url.split())
    parts = split_address(cleaned)
    scheme = parts.scheme.lower()
    if scheme not in LINK_SCHEMES or _CONTROL.search(cleaned):
        return None
    if not (_MAILBOX.fullmatch(cleaned) if scheme == "mailto" else _is_plain(parts.netloc)):
        return None
    return _INVISIBLE.sub("", cleaned).translate(_QUOTED)


def _is_plain(host: str) -> bool:
    """Returns whether a host, with its port, reads as what it is.

    One in another alphabet is honest in most cases; which, nobody sees.
    """
    if not _HOST.fullmatch(host.lower()):
        return False
    try:
        labels = [
            label[4:].encode().decode("punycode") if label.startswith("xn--") else label
            for label in host.lower().split(".")
        ]
    except UnicodeError:
        return False
    return all(_HOST.fullmatch(label.lower()) for label in labels)


def _pretends(label: str, url: str) -> bool:
    """Returns whether a label looks like an address on another host than the one that the link leads to."""
    hosts = _hosts(filter(None, [_SHOWN_HOST.match(_as_read(label))]))
    return bool(hosts) and hosts[0] != (split_address(url).hostname or "").removeprefix("www.")


def _names_another_host(label: str, url: str) -> bool:
    """Returns whether a host stands anywhere in the label that is not the link's, nor a part of its name."""
    host = split_address(url).hostname or ""
    return any(
        host != named and not host.endswith(f".{named}")
        for named in _hosts(_NAMED_HOST.finditer(_as_read(label)))
    )


def _as_read(label: str) -> str:
    return unicodedata.normalize("NFKC", label).replace("。", ".").strip()


def _hosts(matches: Iterable[re.Match[str]]) -> list[str]:
    """Returns the matched hosts without "www.", and without names of files."""
    hosts = [match[1].lower().removeprefix("www.") for match in matches]
    return [host for host in hosts if host.rsplit(".", 1)[-1] not in _FILE_SUFFIXES]
