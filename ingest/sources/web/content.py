"""The main content of a website's page, as Markdown: without menus,
footers, cookie notes and what visitors wrote below.

Where the page marks its main content, that is believed, and every word in it is kept but for the frame. Elsewhere
trafilatura tells which paragraphs belong to it, and what stands among these is read too: it leaves out warnings in an
`<aside>`, questions that are buttons, captions.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

import lxml.html
from bs4 import BeautifulSoup, Tag, XMLParsedAsHTMLWarning
from yarl import URL

from ingest.parsers.markup.folds import keep_labels
from ingest.parsers.markup.html_converter import converted
from ingest.parsers.markup.numbered_code import enclosing, inner
from ingest.parsers.markup.permalinks import without_permalinks
from ingest.parsers.markup.webpage import drop_unread
from ingest.parsers.text import cleaned
from ingest.sources.web.frame import COPYRIGHT, count_letters, drop_frame, is_linked, names_of, plain

_LEAST_MARKED = {"main": 0.2, "article": 0.5}
"""Share of the page's words that must stand in what it marks: a `<main>`
may hold no more than a picture and a greeting.
"""
_AROUND = re.compile(
    r"(?:^|[-_\s])(?:footer|side-?bar|header|masthead|colophon|copyright)(?:$|[-_\s])", re.IGNORECASE
)
"""Names of what stands beside the content where the page marks none."""
_TELLING = 25
"""Letters of a paragraph that cannot be somewhere else on the page by chance."""
_PARAGRAPHS = [
    "p", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "dt", "dd", "figcaption", "blockquote",
]  # fmt: skip
_PLAIN = frozenset({"p", "ul", "ol", "pre", "table", "dl", "blockquote", "figure", "details", "img", "b", "strong", "i", "em", "a", "span", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6"})  # fmt: skip
_BOXES = frozenset({"div", "ul", "ol", "section", "table", "center", "aside", "header", "footer", "form"})
_INNER = frozenset(
    {"caption", "thead", "tbody", "tfoot", "tr", "td", "th", "li", "dt", "dd", "summary", "figcaption"}
)
_FEW_LINKS = 5
_FENCED = re.compile(r"^(`{3,}).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_FIRST_HEADING = re.compile(r"^# ", re.MULTILINE)
_SITE = re.compile(r"\s+[|–—·•»-]\s+")


def main_content(html: str, seen: lxml.html.HtmlElement, url: URL) -> str:
    """Writes Markdown under the page's title; empty where there is nothing but a title.

    Args:
        html: the page, with absolute links.
        seen: the page as well, without what no visitor sees. It is used up.
        url: the page's address.
    """
    soup = _soup(html)
    title = _title(soup)
    drop_unread(soup)
    without_permalinks(soup)
    drop_frame(soup)
    content = _marked(soup.body or soup)
    if content is None:
        found = _found(seen, url)
        content = _among(soup.body or soup, found)
        if found and not content.get_text(strip=True):  # of nothing but menus
            content = _soup(html)
            drop_unread(content)
    keep_labels(content, every_button=False)
    text = cleaned(converted(content, as_page=True)).strip("\n")
    if not text.strip():
        return ""
    return text if not title or _FIRST_HEADING.search(_FENCED.sub("", text)) else f"# {title}\n\n{text}"


def _found(tree: lxml.html.HtmlElement, url: URL) -> str:
    """Returns the words of the main content as trafilatura finds it, which takes half a second to import."""
    import trafilatura

    return (
        trafilatura.extract(
            tree,
            url=str(url),
            output_format="txt",
            include_formatting=False,
            include_tables=True,
            include_comments=False,
            favor_recall=True,
        )
        or ""
    )


def _soup(html: str) -> BeautifulSoup:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        return BeautifulSoup(html, "lxml")


def _title(soup: BeautifulSoup) -> str:
    """Returns the page's only first heading, unless that is the site's name; else its `<title>`."""
    named = " ".join(soup.title.get_text().split()) if soup.title else ""
    headings = [text for heading in soup.find_all("h1") if (text := " ".join(heading.get_text(" ").split()))]
    parts = _SITE.split(named)
    if len(headings) == 1 and not (len(parts) > 1 and headings[0].casefold() == parts[-1].casefold()):
        return headings[0]
    return named


def _marked(body: Tag) -> Tag | None:
    """Finds the element that the page says is its main content, if most of the page is in it."""
    mains = body.find_all(lambda element: element.name == "main" or element.get("role") == "main")
    articles = [article for article in inner(body, "article") if enclosing(article, "article") is None]
    for name, elements in (("main", mains), ("article", articles if len(articles) == 1 else [])):
        content = max(elements, key=count_letters, default=None)
        if content is not None and count_letters(content) >= max(
            1, _LEAST_MARKED[name] * count_letters(body)
        ):
            return content
    return None


def _among(body: Tag, text: str) -> Tag:
    """Returns the page's body without elements that surround the paragraphs in `text` and are no content themselves."""
    starts = {plain(line)[:_TELLING] for line in re.split(r"[|\n]", text)}  # cells and lines
    kept = [
        paragraph
        for paragraph in inner(body, *_PARAGRAPHS)
        if len(start := plain(paragraph.get_text(" "))[:_TELLING]) == _TELLING and start in starts
    ]
    content = _around(kept) or body
    inside = {id(element) for paragraph in kept for element in (paragraph, *paragraph.parents)}
    children = content.find_all(True, recursive=False)
    within = [index for index, child in enumerate(children) if id(child) in inside]
    for index, child in enumerate(children):
        between = bool(within) and within[0] < index < within[-1]
        if id(child) not in inside and _is_beside(child, between=between):
            child.decompose()
    while content is not body and content.parent is not None:
        for sibling in content.parent.find_all(True, recursive=False):
            if sibling is not content and not _belongs(sibling):
                sibling.decompose()
        content = content.parent
    return body


def _belongs(sibling: Tag) -> bool:
    """Whether an element beside the container of the main content may still belong to it."""
    if sibling.name in _INNER:
        return len(sibling.find_all("a")) < _FEW_LINKS or not is_linked(sibling)
    return sibling.name in _PLAIN and not is_linked(sibling)


def _around(elements: Sequence[Tag]) -> Tag | None:
    """Returns the element that contains all of them."""
    if not elements:
        return None
    common = [elements[0], *elements[0].parents]
    for element in elements[1:]:
        above = {id(parent) for parent in (element, *element.parents)}
        common = [parent for parent in common if id(parent) in above]
    return common[0]


def _is_beside(element: Tag, *, between: bool) -> bool:
    """Whether an element is navigation or a notice around the content; `between`: main content surrounds it."""
    if element.name in _BOXES and COPYRIGHT.search(element.get_text(" ")):
        return True
    if between or (element.find(["pre", "h1"]) is not None and element.name != "footer"):
        return False
    named = element.name in ("header", "footer") or element.get("role") == "banner"
    return (
        named
        or _AROUND.search(names_of(element)) is not None
        or (element.name in _BOXES and is_linked(element))
    )
