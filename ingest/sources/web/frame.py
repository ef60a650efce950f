"""What stands around the main content of a website's page: menus, notes about cookies, comments, lists of links."""

from __future__ import annotations

import re
from itertools import islice

from bs4 import BeautifulSoup, Tag

from ingest.parsers.markup.folds import opens_what_follows
from ingest.parsers.markup.numbered_code import enclosing, inner

_FRAME_ROLES = frozenset({"navigation", "search", "menu", "menubar", "contentinfo", "alertdialog"})
_OTHERS = frozenset({
    "comments", "comments-area", "comment-list", "comment-respond", "respond", "disqus_thread", "disqus-comments",
    "theme-edit-this-page", "edit-this-page", "edit-page-link", "skip-link", "skip-to-content",
})  # fmt: skip
"""Names of what visitors wrote, and of what leads to the page's source or past its menu."""
_NAMED = re.compile(
    r"(?:^|[-_\s])(?:toc|table-?of-?contents?|on-this-page|breadcrumbs?|pagination|pager|paginator|prev-?next|side-?bar|side-?nav|nav|navbar"
    r"|navigation|menu|menubar|shar(?:e|ing)|socials?|related|see-also|recommended|footer|tags?|edit|toolbar|feedback|helpful|rating|newsletter|subscribe)"
    r"(?:$|[-_\s])",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ADVERT = re.compile(
    r"(?:^|\s)(?:ads?|advert\w*|sponsored|ad-(?:slot|unit|banner|container))(?:$|\s)", re.IGNORECASE
)
COPYRIGHT = re.compile(r"©|\(c\) \d{4}|\bcopyright\b|all rights reserved", re.IGNORECASE)
_CONSENT = re.compile(
    r"\b(?:accept|agree|allow|ok|okay|got "
    r"it|reject|decline|deny|akzept|zustimm|ablehn|accepter|refuser|aceptar|rechazar|accept(?:o|eer|eren)|"
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


def count_letters(element: Tag) -> int:
    """Counts letters and digits of its text."""
    return len(plain(element.get_text(" ")))


def plain(text: str) -> str:
    """Returns its letters and digits alone, to compare by."""
    return "".join(re.findall(r"\w+", text)).casefold()


def drop_frame(soup: BeautifulSoup) -> None:
    """Drops the frame from the tree."""
    for element in soup.find_all(_is_marked_as_frame):
        element.decompose()
    for button in inner(soup, "button", "input", "a"):
        _drop_consent(button)
    for element in inner(soup, "div", "aside", "ul", "ol", "section", "footer", "header", "form", "p"):
        if element.parent is not None and _is_frame(element):
            element.decompose()


def _is_marked_as_frame(element: Tag) -> bool:
    if element.name in ("html", "body", "main"):
        return False
    role = element.get("role")
    if role in _FRAME_ROLES or element.get("aria-modal") == "true":
        return True
    return element.get("id") in _OTHERS or not _OTHERS.isdisjoint(element.get_attribute_list("class"))


def _drop_consent(button: Tag) -> None:
    """Drops the note about cookies that a button or a link accepts."""
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
    """Returns as many words as tell whether it is longer than a note."""
    return list(islice((word for text in element.strings for word in text.split()), _LONGEST_NOTE + 1))


def _is_frame(element: Tag) -> bool:
    names = names_of(element)
    if _ADVERT.search(names):
        return True
    if _CONSENT_NAMES.search(names) and element.find(["button", "a", "input"]) is not None:
        return len(_first_words(element)) <= _LONGEST_NOTE
    if element.name == "footer" and (COPYRIGHT.search(element.get_text(" ")) or is_linked(element)):
        return True
    if element.name == "form":
        return _asks(element)
    if _NAMED.search(names) or (element.name == "aside" and len(element.find_all("a")) != 1):
        return is_linked(element) or _asks(element)
    return False


def _asks(element: Tag) -> bool:
    """Whether it is a few words around a field or a button: to subscribe, to search, to say whether the page helped."""
    fields = element.select("input:not([type=hidden]), textarea, button")
    return any(not opens_what_follows(field) for field in fields) and len(element.get_text(" ").split()) <= 40


def is_linked(element: Tag) -> bool:
    """Whether most of its words lead elsewhere, or it has none."""
    links = [link for link in inner(element, "a", "button") if not opens_what_follows(link)]
    linked = sum(count_letters(link) for link in links if enclosing(link, "a", "button") is None)
    if linked:
        return linked > _LINKED * count_letters(element)
    return not element.get_text(strip=True) and element.find("img") is None


def names_of(element: Tag) -> str:
    """Returns its classes and its id, with a hyphen between the words of a name."""
    names = [*map(str, element.get_attribute_list("class")), str(element.get("id", ""))]
    return _CAMEL.sub("-", " ".join(names))
