"""What a page of a website says: its main content as Markdown, its links, and what it says about itself.

The main content (no menus, footers, cookie banners) is found in `content.py`.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime

import lxml.etree
import lxml.html
from yarl import URL

from ingest.errors import PageError
from ingest.parsers.limits import readers_of_html
from ingest.parsers.markup.hidden_html import opened_by, stays_hidden
from ingest.parsers.text import guessed_encoding
from ingest.sources.web.client import WebResponse
from ingest.sources.web.content import main_content
from ingest.sources.web.hrefs import written_address
from ingest.sources.web.spellings import text_mark

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
FILE_TYPES = frozenset({"text/markdown", "text/plain", "application/pdf"})
"""Handed on as they are."""

_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]{1,40})", re.IGNORECASE)
_DECLARED = re.compile(r"(\s*<\?xml[^>]{0,100}?)\s+encoding\s*=\s*[\"'][^\"']*[\"']", re.IGNORECASE)
_MODIFIED = re.compile(r"\"dateModified\"\s*:\s*\"(\d{4}-\d\d-\d\d)")
_FOLLOWED = frozenset({"http", "https"})


@dataclass(frozen=True, kw_only=True, slots=True)
class WebDocument:
    """A page as it was read. `canonical`: the address that it says is its
    proper one. `hidden`: it asks not to be indexed.

    `audience`: the channels and groups that its HTML limits it to; None: no limit. `closed`: why nobody may
    read it here, where that is what it says; `left_out`: its author wants it so (a draft). `mark`: of its words
    (`text_mark`).
    """

    url: str
    content: bytes
    media_type: str
    mark: str
    canonical: str | None = None
    links: tuple[str, ...] = ()
    edited: date | None = None
    hidden: bool = False
    audience: tuple[str, ...] | None = None
    closed: str | None = None
    left_out: bool = False

    @property
    def is_limited(self) -> bool:
        return self.closed is not None or self.audience is not None


def read_document(response: WebResponse) -> WebDocument | None:
    """Reads what a site answered; None: it is no kind of text that we read."""
    if response.media_type in FILE_TYPES:
        return WebDocument(
            url=str(response.url),
            content=response.content,
            media_type=response.media_type,
            mark=text_mark(response.content),
            hidden=asks_to_be_hidden(response.robots),
        )
    if response.media_type not in HTML_TYPES:
        return None
    text = _DECLARED.sub(r"\1", decoded(response.content, response.charset), count=1)
    audience, refused = _readers(text)
    document = WebDocument(
        url=str(response.url),
        content=b"",
        media_type="text/markdown",
        mark=text_mark(b""),
        audience=audience,
        closed=refused.reason if refused is not None else None,
        left_out=refused is not None and refused.left_out,
    )
    tree = _tree(text)
    if tree is None:
        return document
    robots = _directives(", ".join([response.robots, *_contents(tree, "robots")]))
    # trafilatura takes every relative link for one of the site's root
    base = _base(tree, response.url)
    for element in list(tree.iter("base")):
        # lxml resolves it whatever it is told, and breaks over malformed links
        element.drop_tree()
    tree.make_links_absolute(str(base), resolve_base_href=False, handle_failures="ignore")
    html = str(lxml.html.tostring(tree, encoding="unicode"))
    _drop_hidden(tree)
    links = () if "nofollow" in robots else tuple(dict.fromkeys(_links(tree, base)))
    canonical, edited = _canonical(tree, response.url), _edited(tree)
    content = main_content(html, tree, response.url).encode()
    return replace(
        document,
        content=content,
        mark=text_mark(content),
        canonical=canonical,
        links=links,
        edited=edited,
        hidden="noindex" in robots,
    )


def asks_to_be_hidden(robots: str) -> bool:
    """Whether a page may not be indexed. `robots`: its X-Robots-Tag header."""
    return "noindex" in _directives(robots)


def decoded(content: bytes, declared: str | None) -> str:
    """Decodes text of any encoding. What is valid UTF-8 is UTF-8, whatever it claims; then the claims; then a guess."""
    meta = _META_CHARSET.search(content[:4096])
    claims = (declared, meta[1].decode("ascii", "replace") if meta else None)
    marked = ["utf-16"] if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else []
    for encoding in (*marked, "utf-8-sig", *map(_as_browsers_read, filter(None, claims))):
        try:
            return content.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return content.decode(guessed_encoding(content) or "windows-1252", errors="replace")


def _as_browsers_read(claim: str) -> str:
    latin = ("iso-8859-1", "latin-1", "latin1", "ascii", "us-ascii")
    return "windows-1252" if claim.lower() in latin else claim


def _tree(text: str) -> lxml.html.HtmlElement | None:
    """Parses a page. The parser repairs anything, reads no outside entity, and ends at a depth of 256."""
    try:
        return lxml.html.document_fromstring(
            text, parser=lxml.html.HTMLParser(no_network=True, huge_tree=False)
        )
    except (lxml.etree.ParserError, ValueError):  # empty, or only comments
        return None


def _readers(text: str) -> tuple[tuple[str, ...] | None, PageError | None]:
    """Tells who may read a page, by what is not in its main content; why nobody may, where that cannot be told."""
    try:
        return readers_of_html(text), None
    except PageError as error:
        return None, error


def _directives(robots: str) -> set[str]:
    words = {word.strip().lower() for word in re.split(r"[,:]", robots)}
    return words | {"noindex", "nofollow"} if "none" in words else words


def _contents(tree: lxml.html.HtmlElement, name: str) -> Iterator[str]:
    for meta in tree.iter("meta"):
        if name in (meta.get("name", "").lower(), meta.get("property", "").lower(), meta.get("itemprop", "")):
            yield meta.get("content", "")


def _canonical(tree: lxml.html.HtmlElement, url: URL) -> str | None:
    for link in tree.iter("link"):
        if "canonical" in link.get("rel", "").lower().split() and link.get("href", "").strip():
            return _absolute(link.get("href"), url)
    return None


def _drop_hidden(tree: lxml.html.HtmlElement) -> None:
    elements = list(tree.iter(lxml.etree.Element))
    controlled = {ident for element in elements for ident in opened_by(element.attrib)}
    for element in elements:
        hidden = element.tag == "template" or stays_hidden(
            element.tag, element.attrib, controlled=controlled, around=_around(element)
        )
        if hidden and element.getparent() is not None:
            element.drop_tree()


def _around(element: lxml.html.HtmlElement) -> Iterator[Mapping[str, str]]:
    yield element.attrib
    yield from (ancestor.attrib for ancestor in element.iterancestors())


def _base(tree: lxml.html.HtmlElement, url: URL) -> URL:
    """Returns what the page's relative links are relative to."""
    named = next((_absolute(base.get("href"), url) for base in tree.iter("base") if base.get("href")), None)
    return (written_address(named) if named else None) or url


def _links(tree: lxml.html.HtmlElement, base: URL) -> Iterator[str]:
    for anchor in tree.iter("a", "area"):
        if anchor.get("href") and "nofollow" not in anchor.get("rel", "").lower().split():
            target = _absolute(anchor.get("href"), base)
            if target is not None:
                yield target


def _absolute(href: str, base: URL) -> str | None:
    target = written_address(href, base)
    return str(target.with_fragment(None)) if target is not None and target.scheme in _FOLLOWED else None


def _edited(tree: lxml.html.HtmlElement) -> date | None:
    """Returns a date that the page itself declares as its last change. Guesses are worth less than none."""
    declared = [
        *_contents(tree, "article:modified_time"),
        *_contents(tree, "datemodified"),
        *_contents(tree, "dateModified"),
        *(time.get("datetime", "") for time in tree.iter("time") if time.get("itemprop") == "dateModified"),
        *(
            found[1]
            for script in tree.iter("script")
            if script.get("type") == "application/ld+json" and (found := _MODIFIED.search(script.text or ""))
        ),
    ]
    for written in declared:
        try:
            return datetime.fromisoformat(written.strip()).date()
        except ValueError:
            continue
    return None
