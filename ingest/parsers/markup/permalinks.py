"""Drops the links of headings to themselves, in them or beside them: "Fees ¶", "# Fees", "Section titled Fees"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bs4 import Tag

_SYMBOL = re.compile(r"[#¶§🔗↩\ufe0f\s]*|link|permalink", re.IGNORECASE)
_NAMES = re.compile(r"anchor|header-?link|heading-?link|hash-?link|permalink|direct-?link", re.IGNORECASE)
_FRAGMENT = re.compile("#")
_HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]


def is_symbol(text: str) -> bool:
    """Whether a link's text is no word of the page but a symbol for a link."""
    return _SYMBOL.fullmatch(text) is not None


def without_permalinks(content: Tag) -> None:
    """Drops permalinks from the tree; where a heading's own words are the link, the words stay."""
    from bs4 import Tag

    for heading in content.find_all(_HEADINGS):
        words = heading.get_text(strip=True)
        for link in heading.find_all("a", href=_FRAGMENT):
            text = link.get_text(strip=True)
            if is_symbol(text):
                if link.get("id") and not heading.get("id"):
                    heading["id"] = str(link["id"])
                link.decompose()
            elif text == words:
                link.unwrap()
        for beside in (heading.find_previous_sibling(), heading.find_next_sibling()):
            if isinstance(beside, Tag) and beside.name == "a" and "#" in str(beside.get("href", "")):
                names = beside.get_attribute_list("class")
                if any(_NAMES.search(str(name)) for name in names):
                    beside.decompose()
