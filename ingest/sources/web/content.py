"""The main content of a website's page, as Markdown: without menus, footers, cookie notes and what visitors wrote below.

Where the page marks its main content, that is believed, and every word in it is kept but for the frame. Elsewhere
trafilatura tells which paragraphs belong to it, and what stands among these is read too: it leaves out warnings in an
`<aside>`, questions that are buttons, captions.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from itertools import islice

import lxml.html
from bs4 import BeautifulSoup, Tag, XMLParsedAsHTMLWarning
from yarl import URL

from ingest.parsers.folds import keep_labels, opens_what_follows
from ingest.parsers.html_converter import converted
from ingest.parsers.permalinks import without_permalinks
from ingest.parsers.text import cleaned
from ingest.parsers.webpage import drop_unread

_LEAST_MARKED = {"main": 0.2, "article": 0.5}
"""Share of the page's words that must stand in what it marks: a `<main>` may hold no more than a picture and a greeting."""
_FRAME_ROLES = frozenset({"navigation", "search", "menu", "menubar", "contentinfo", "alertdialog"})
_OTHERS = frozenset(
    [
        "comments",
        "comments-area",
        "comment-list",
        "comment-respond",
        "respond",
        "disqus_thread",
        "disqus-comments",
        "theme-edit-this-page",
        "edit-this-page",
        "edit-page-link",
        "skip-link",
        "skip-to-content",
    ]
)
"""Names of what visitors wrote, and of what leads to the page's source or past its menu."""
_NAMED = re.compile(
    r"(?:^|[-_\s])(?:toc|table-?of-?contents?|on-this-page|breadcrumbs?|pagination|pager|paginator|prev-?next|side-?bar|side-?nav|nav|navbar"
    r"|navigation|menu|menubar|shar(?:e|ing)|socials?|related|see-also|recommended|footer|tags?|edit|toolbar|feedback|helpful|rating|newsletter|subscribe)"
    r"(?:$|[-_\s])",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_AROUND = re.compile(
    r"(?:^|[-_\s])(?:footer|side-?bar|header|masthead|colophon|copyright)(?:$|[-_\s])", re.IGNORECASE
)
"""Names of what stands beside the content where the page marks none."""
_ADVERT = re.compile(
    r"(?:^|\s)(?:ads?|advert\w*|sponsored|ad-(?:slot|unit|banner|container))(?:$|\s)", re.IGNORECASE
)
_COPYRIGHT = re.compile(r"©|\(c\) \d{4}|\bcopyright\b|all rights reserved", re.IGNORECASE)
_CONSENT = re.compile(
    r"\b(?:accept|agree|allow|ok|okay|got it|reject|decline|deny|akzept|zustimm|ablehn|accepter|refuser|aceptar|rechazar|accept(?:o|eer|eren)|"
    r"akkoord|toestaan|weiger|accett|rifiut|aceito|aceitar|godta|godkänn|acceptera|zgadzam|akceptuj|同意|接受|承諾|قبول)",
    re.IGNORECASE,
)
_CONSENT_NAMES = re.compile(
    r"(?:cookie|consent|gdpr)s?[-_]?(?:banner|bar|notice|note|consent|popup|modal|overlay|dialog|message|wall|alert|law|info|panel|prompt)"
    r"|onetrust|cookiebot|cc-window|cc-banner|didomi|usercentrics|truste|osano",
    re.IGNORECASE,
)
_LONGEST_NOTE = 120
"""Words of a note about cookies, of a form to subscribe by, of a question whether the page helped."""
_LINKED = 0.5
"""Share of words in links above which a part that is named as a menu is one."""
_TELLING = 25
"""Letters of a paragraph that cannot be somewhere else on the page by chance."""
_PARAGRAPHS = [
    "p",
    "li",
    "td",
    "th",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "pre",
    "dt",
    "dd",
    "figcaption",
    "blockquote",
]
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
    """Markdown under the page's title; empty where there is nothing but a title.

    Args:
        html: the page, with absolute links.
        seen: the page as well, without what no visitor sees. It is used up.
        url: the page's address.
    """
    soup = _soup(html)
    title = _title(soup)
    drop_unread(soup)
    without_permalinks(soup)
    _drop_frame(soup)
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
    """The words of the main content as trafilatura finds it, which takes half a second to import."""
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
    """The page's only first heading, unless that is the site's name; else its `<title>`."""
    named = " ".join(soup.title.get_text().split()) if soup.title else ""
    headings = [text for heading in soup.find_all("h1") if (text := " ".join(heading.get_text(" ").split()))]
    parts = _SITE.split(named)
    if len(headings) == 1 and not (len(parts) > 1 and headings[0].casefold() == parts[-1].casefold()):
        return headings[0]
    return named


def _marked(body: Tag) -> Tag | None:
    """The element that the page says is its main content, if most of the page is in it."""
    mains = body.find_all(lambda element: element.name == "main" or element.get("role") == "main")
    articles = [one for one in body.find_all("article") if one.find_parent("article") is None]
    for name, elements in (("main", mains), ("article", articles if len(articles) == 1 else [])):
        content = max(elements, key=_count, default=None)
        if content is not None and _count(content) >= max(1, _LEAST_MARKED[name] * _count(body)):
            return content
    return None


def _count(element: Tag) -> int:
    return len(_plain(element.get_text(" ")))


def _plain(text: str) -> str:
    return "".join(re.findall(r"\w+", text)).casefold()


def _drop_frame(soup: BeautifulSoup) -> None:
    for element in soup.find_all(_is_marked_as_frame):
        element.decompose()
    for button in soup.find_all(["button", "input", "a"]):
        _drop_consent(button)
    for element in soup.find_all(["div", "aside", "ul", "ol", "section", "footer", "header", "form", "p"]):
        if element.parent is not None and _is_frame(element):
            element.decompose()


def _is_marked_as_frame(element: Tag) -> bool:
    role = element.get("role")
    if role in _FRAME_ROLES or element.get("aria-modal") == "true":
        return True
    return element.get("id") in _OTHERS or not _OTHERS.isdisjoint(element.get_attribute_list("class"))


def _drop_consent(button: Tag) -> None:
    """The note about cookies that a button or a link accepts."""
    if button.parent is None or not _CONSENT.search(f"{button.get_text(' ')} {button.get('value', '')}"):
        return
    if opens_what_follows(button):
        return
    for around in button.parents:
        words = _first_words(around)
        if around.name in ("body", "html", "main", "article", "[document]") or len(words) > _LONGEST_NOTE:
            return
        if any(re.search(r"cookie|クッキー", word, re.IGNORECASE) for word in words):
            around.decompose()
            return


def _first_words(element: Tag) -> list[str]:
    """As many as tell whether it is longer than a note."""
    return list(islice((word for text in element.strings for word in text.split()), _LONGEST_NOTE + 1))


def _is_frame(element: Tag) -> bool:
    names = _names(element)
    if _ADVERT.search(names):
        return True
    if _CONSENT_NAMES.search(names) and element.find(["button", "a", "input"]) is not None:
        return len(_first_words(element)) <= _LONGEST_NOTE
    if element.name == "footer" and (_COPYRIGHT.search(element.get_text(" ")) or _is_linked(element)):
        return True
    if element.name == "form":
        return _asks(element)
    if element.name == "aside" or _NAMED.search(names):
        return _is_linked(element) or _asks(element)
    return False


def _asks(element: Tag) -> bool:
    """A few words around a field to fill in or a button to press: to subscribe, to search, to say whether the page helped."""
    fields = element.select("input:not([type=hidden]), textarea, button")
    return any(not opens_what_follows(field) for field in fields) and len(element.get_text(" ").split()) <= 40


def _is_linked(element: Tag) -> bool:
    """Whether most of its words lead elsewhere, or it has none."""
    links = [link for link in element.find_all(["a", "button"]) if not opens_what_follows(link)]
    linked = sum(_count(link) for link in links if link.find_parent(["a", "button"]) is None)
    if linked:
        return linked > _LINKED * _count(element)
    return not element.get_text(strip=True) and element.find("img") is None


def _names(element: Tag) -> str:
    names = [*map(str, element.get_attribute_list("class")), str(element.get("id", ""))]
    return _CAMEL.sub("-", " ".join(names))


def _among(body: Tag, text: str) -> Tag:
    """The page's body without what stands beside the paragraphs that are in `text`, and is no content itself."""
    starts = {_plain(line)[:_TELLING] for line in text.splitlines()}
    kept = [
        one
        for one in body.find_all(_PARAGRAPHS)
        if len(start := _plain(one.get_text(" "))[:_TELLING]) == _TELLING and start in starts
    ]
    content = _around(kept) or body
    inside = {id(parent) for one in kept for parent in one.parents} | {id(one) for one in kept}
    children = content.find_all(True, recursive=False)
    within = [at for at, child in enumerate(children) if id(child) in inside]
    for at, child in enumerate(children):
        between = bool(within) and within[0] < at < within[-1]
        if id(child) not in inside and _is_beside(child, between=between):
            child.decompose()
    while content is not body and content.parent is not None:
        for sibling in content.parent.find_all(True, recursive=False):
            if sibling is not content and not _belongs(sibling):
                sibling.decompose()
        content = content.parent
    return body


def _belongs(sibling: Tag) -> bool:
    """Whether what stands beside the container of the main content may still be a part of it."""
    if sibling.name in _INNER:
        return len(sibling.find_all("a")) < _FEW_LINKS or not _is_linked(sibling)
    return sibling.name in _PLAIN and not _is_linked(sibling)


def _around(elements: Sequence[Tag]) -> Tag | None:
    """What all of them are in."""
    if not elements:
        return None
    common = [elements[0], *elements[0].parents]
    for element in elements[1:]:
        above = {id(one) for one in (element, *element.parents)}
        common = [one for one in common if id(one) in above]
    return common[0]


def _is_beside(element: Tag, *, between: bool) -> bool:
    """`between`: there is main content above and below it."""
    if element.name in _BOXES and _COPYRIGHT.search(element.get_text(" ")):
        return True
    if between or (element.find(["pre", "h1"]) is not None and element.name != "footer"):
        return False
    named = element.name in ("header", "footer") or element.get("role") == "banner"
    return (
        named
        or _AROUND.search(_names(element)) is not None
        or (element.name in _BOXES and _is_linked(element))
    )
