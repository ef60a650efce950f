"""E-mails (.eml) by Python's own email package: who wrote, when, and the text; attachments are named, not read."""

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
from ingest.parsers.outline import Outline, Part, block_parser, parsed_page
from ingest.parsers.plain import escaped_text
from ingest.parsers.text import decoded, title_from

_PARSER = BytesParser(policy=policy.default)
_ENCRYPTED = frozenset({"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})
_WIDE = (b"\xff\xfe", b"\xfe\xff")


def parse_mail(content: bytes, *, path: str) -> ParsedPage:
    """
    Raises:
        PageError: it is encrypted, or has no text.
    """
    if content.startswith(_WIDE) or b"\0" in content[:100]:
        content = decoded(content).encode()
    message = _PARSER.parsebytes(content)
    if not isinstance(message, EmailMessage) or not message.keys():
        raise PageError("it is no e-mail" if content.strip() else "it is empty")
    if any(part.get_content_type() in _ENCRYPTED for part in message.walk()):
        raise PageError("it is encrypted")
    subject = _header(message, "subject") or title_from(path)
    outline = Outline([Part(text="\n\n".join(text for text in _texts(message) if text))], block_parser())
    return parsed_page(subject, outline, FrontMatter(written=_sent(message)))


def _texts(message: EmailMessage) -> Iterator[str]:
    sent = _sent(message)
    sender = re.sub(r"\s*<[^>]*>", "", _header(message, "from")).strip("\"' ")
    yield f"From {sender or 'an unknown sender'}{f', {sent:%d %B %Y}' if sent else ''}."
    bodies = list(_bodies(message))
    yield from bodies
    names = [name for part in message.walk() if part.is_attachment() and (name := _filename(part))]
    if names:
        yield "Attachments: " + ", ".join(escaped_text(name) for name in names)


def _bodies(message: MIMEPart) -> Iterator[str]:
    """The text of a message and of the messages that it forwards."""
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
    """The part's text, whatever its author's program claims about it."""
    try:
        return str(part.get_content())
    except (LookupError, UnicodeError, ValueError):
        payload = part.get_payload(decode=True)
        return decoded(payload) if isinstance(payload, bytes) else ""


def _header(message: Any, name: str) -> str:
    """Empty where it is missing or so broken that Python's parser of headers fails on it."""
    try:
        return " ".join(str(message.get(name, "")).split())
    except (ValueError, IndexError, AttributeError, TypeError):
        return ""


def _filename(part: Any) -> str:
    try:
        return part.get_filename() or ""
    except (ValueError, IndexError, AttributeError, TypeError):
        return ""


def _sent(message: EmailMessage) -> date | None:
    try:
        return parsedate_to_datetime(_header(message, "date")).date()
    except (ValueError, TypeError, IndexError):
        return None
