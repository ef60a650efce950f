"""Links of a heading to itself, which generators set in it or beside it: "Fees ¶", "# Fees", "Section titled Fees"."""

from __future__ import annotations

import re

from bs4 import Tag

_SYMBOL = re.compile(r"[#¶§🔗↩\ufe0f\s]*|link|permalink", re.IGNORECASE)
_NAMES = re.compile(r"anchor|header-?link|heading-?link|hash-?link|permalink|direct-?link", re.IGNORECASE)
_HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]


def is_symbol(text: str) -> bool:
    """Whether a link's text is no word of the page's but a sign for a link."""
    return _SYMBOL.fullmatch(text) is not None


def without_permalinks(content: Tag) -> None:
    """Changes the tree: they go, and where a heading's own words are the link, the words stay."""
    for link in content.find_all("a", href=re.compile("#")):
        if link.decomposed:
            continue
        text = link.get_text(strip=True)
        named = any(_NAMES.search(str(name)) for name in link.get_attribute_list("class"))
        heading = link.find_parent(_HEADINGS)
        if heading is None:
            beside = (link.find_previous_sibling(), link.find_next_sibling())
            if named and (
                is_symbol(text) or any(one is not None and one.name in _HEADINGS for one in beside)
            ):
                link.decompose()
        elif is_symbol(text):
            if link.get("id") and not heading.get("id"):
                heading["id"] = str(link["id"])
            link.decompose()
        elif text == heading.get_text(strip=True):
            link.unwrap()
