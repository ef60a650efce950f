"""Parses e-mails (.eml) by Python's own email package: sender, date and text; attachments are named, not read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from email import policy
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser
from email.utils import parsedate_to_datetime
from typing import Any

from bs4 import BeautifulSoup

from ingest.errors import PageError
from ingest.front_matter.front_matter import FrontMatter
from ingest.page import ParsedPage
from ingest.parsers.markup.webpage import html_markdown
from ingest.parsers.outline import Outline, Part, parsed_page
from ingest.parsers.plain import escaped_text
from ingest.parsers.text import decoded, title_from

_PARSER = BytesParser(policy=policy.default)
_ENCRYPTED = frozenset({"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_BROKEN_HEADER = (ValueError, IndexError, AttributeError, TypeError)
"""Raised by Python's parser of headers over some that are broken."""


def parse_mail(content: bytes, *, path: str) -> ParsedPage:
    """Parses an e-mail.

    Raises:
        PageError: it is encrypted, or has no text.
    """
    if content.startswith(_UTF16_MARKS) or b"\0" in content[:100]:
        content = decoded(content).encode()
    message = _PARSER.parsebytes(content)
    if not isinstance(message, EmailMessage) or not message.keys():
        raise PageError("it is no e-mail" if content.strip() else "it is empty")
    if any(part.get_content_type() in _ENCRYPTED for part in message.walk()):
        raise PageError("it is encrypted")
    subject = _header(message, "subject") or title_from(path)
    outline = Outline(Part(text="\n\n".join(filter(None, _texts(message)))))
    return parsed_page(subject, outline, FrontMatter(written=_sent(message)))


def _texts(message: EmailMessage) -> Iterator[str]:
    sent = _sent(message)
    sender = re.sub(r"\s*<[^>]*>", "", _header(message, "from")).strip("\"' ")
    yield f"From {sender or 'an unknown sender'}{f', {sent:%d %B %Y}' if sent else ''}."
    yield from _bodies(message)
    names = [name for part in message.walk() if part.is_attachment() and (name := _filename(part))]
    if names:
        yield "Attachments: " + ", ".join(escaped_text(name) for name in names)


def _bodies(message: MIMEPart) -> Iterator[str]:
    """Yields the text of a message and of the messages that it forwards."""
    body = message.get_body(("plain", "html"))
    if body is not None and not body.is_multipart():
        text = _content(body)
        html = body.get_content_type() == "text/html"
        yield html_markdown(BeautifulSoup(text, "lxml")) if html else escaped_text(text)
    for part in message.walk():
        if part is not message and part.get_content_type() == "message/rfc822":
            for forwarded in part.iter_parts() if part.is_multipart() else ():
                if isinstance(forwarded, MIMEPart):
                    yield f"**{escaped_text(_header(forwarded, 'subject') or 'Forwarded message')}**"
                    yield from _bodies(forwarded)


def _content(part: MIMEPart) -> str:
    """Returns the part's text, whatever encoding its author's program claims."""
    try:
        return str(part.get_content())
    except (LookupError, UnicodeError, ValueError):
        payload = part.get_payload(decode=True)
        return decoded(payload) if isinstance(payload, bytes) else ""


def _header(message: Any, name: str) -> str:
    """Returns a header; empty where it is missing or broken."""
    try:
        return " ".join(str(message.get(name, "")).split())
    except _BROKEN_HEADER:
        return ""


def _filename(part: Any) -> str:
    try:
        return part.get_filename() or ""
    except _BROKEN_HEADER:
        return ""


def _sent(message: EmailMessage) -> date | None:
    try:
        return parsedate_to_datetime(_header(message, "date")).date()
    except (ValueError, TypeError, IndexError):
        return None
