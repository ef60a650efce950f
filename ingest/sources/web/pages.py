"""Recognizes responses that are no page to read: a login, a redirect within the page, a frame that a script fills."""

from __future__ import annotations

import re
from itertools import islice

from yarl import URL

from ingest.parsers.redirects import needs_javascript, redirect_of
from ingest.sources.web.client import WebError, WebResponse
from ingest.sources.web.document import HTML_TYPES, WebDocument
from ingest.sources.web.hrefs import written_address
from ingest.sources.web.scope import names_a_login, spelling

NEEDS_JAVASCRIPT = (
    "it needs JavaScript: its text is put together in the browser, and no script is run here. Name a "
    "version of the site "
    "that is made of pages, or the files that it is made from"
)
LOGIN = "it asks for a login: it is not public"
_SHORT = 1_500
"""Bytes of text, above which a page is one."""
_HARDLY_ANY = 40
_SOME = 150
_PASSWORD = re.compile(rb"(?i)type\s*=\s*[\"']?password")
_WAY_BACK = frozenset({
    "next", "return", "returnto", "return_to", "returnurl", "redirect", "redirect_to", "redirect_uri", "redirecturl", "continue",
    "dest", "destination", "goto", "back", "from", "url", "service", "target", "relaystate", "samlrequest", "client_id",
})  # fmt: skip
_ALIKE = 0.6
"""Share of the words of the shorter page that stand on the other one too."""
_WORD = re.compile(rb"\w+")


def asks_who_you_are(url: URL, answer: WebResponse, document: WebDocument | None) -> bool:
    """Whether a login was served in place of the page at `url`."""
    if answer.media_type not in HTML_TYPES or document is None:
        return False
    words = sum(1 for _ in islice(_WORD.finditer(document.content), _SOME + 1))
    if answer.url.path != url.path and names_a_login(answer.url) and not names_a_login(url):
        back = any(name.casefold() in _WAY_BACK for name in answer.url.query)
        return back or words <= _SOME or _has_form(answer)
    return words <= _HARDLY_ANY and _has_form(answer)


def _has_form(answer: WebResponse) -> bool:
    return _PASSWORD.search(answer.content) is not None


def leads_on_to(answer: WebResponse, document: WebDocument) -> URL | None:
    """Returns the target of a page that only redirects."""
    if len(document.content) > _SHORT:
        return None
    target = redirect_of(answer.content, media_type=answer.media_type)
    return written_address(target, answer.url) if target else None


def require_text(answer: WebResponse, document: WebDocument) -> None:
    """Requires that a page has text.

    Raises:
        WebError: it is an empty frame.
    """
    if (
        answer.media_type in HTML_TYPES
        and len(document.content) <= _SHORT
        and needs_javascript(answer.content)
    ):
        raise WebError(NEEDS_JAVASCRIPT, private=document.is_limited)


def says_about_the_same(document: WebDocument, other: WebDocument) -> bool:
    """Whether a page may be the other one in another form: by its address (a query apart), or by its words."""
    if spelling(URL(document.url).path) == spelling(URL(other.url).path):
        return True
    words, others = (set(_WORD.findall(page.content.lower())) for page in (document, other))
    return len(words & others) >= _ALIKE * min(len(words), len(others))
