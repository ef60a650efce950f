"""Keeps the parts of a web page that open by a click, under the question or the name that opens them.

A question of an accordion is often a `<button>`, which elsewhere is no part of a page's text ("Copy", "Search").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice

from bs4 import BeautifulSoup, Tag

from ingest.parsers.markup.hidden_html import opened_by

_OPENERS = ("aria-controls", "aria-expanded", "data-target", "data-bs-target", "data-accordion")
_FOLDS = re.compile(r"accordion|collaps|faq|question|toggle|expand|disclosure|fold", re.IGNORECASE)
_ACTIONS = re.compile(
    r"copy|clipboard|close|dismiss|share|search|menu|nav|print|theme|dark|like|vote|feedback|cookie|consent|subscribe|sidebar|dropdown",
    re.IGNORECASE,
)
_MOST_TABLISTS = 50
"""Maximum number of tab lists, for each of which the page is searched for panels that do not name their tab."""
_WITHIN = ["summary", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "legend"]
_PANELS = frozenset({"div", "p", "section", "dd", "ul", "ol", "table", "article"})


def keep_labels(soup: BeautifulSoup | Tag, *, every_button: bool) -> None:
    """Changes the tree: what opens a part becomes a heading or a `<summary>` above it, other buttons go.

    `every_button`: keeps those outside forms, which say more in a file that was saved by hand than on a website.
    """
    tablists = soup.find_all(_is_tablist)
    by_id = {str(element["id"]): element for element in soup.find_all(id=True)} if tablists else {}
    for tabs in tablists:
        _name_panels(tabs, by_id, may_search=len(tablists) <= _MOST_TABLISTS)
    for button in soup.find_all(_is_button):
        if button.parent is None:
            continue
        if opens_what_follows(button):
            button.name = "span" if _is_within_a_title(button) else "summary"
        elif button.name == "button" and (not every_button or _copies(button) or button.find_parent("form")):
            button.decompose()


def _copies(button: Tag) -> bool:
    names = (*button.get_attribute_list("class"), button.get("aria-label", ""), button.get("title", ""))
    return any(re.search(r"\bcopy\b|clipboard", str(name), re.IGNORECASE) for name in names)


def hidden_panels(soup: BeautifulSoup | Tag) -> list[Tag]:
    """Returns the panels right below a button, or labelled by one, that do not say themselves that they open."""
    buttons = [button for button in soup.find_all(_is_button) if opens_what_follows(button)]
    named = {str(button["id"]) for button in buttons if button.get("id")}
    labelled = soup.find_all(True, {"aria-labelledby": list(named)}) if named else []
    return [*labelled, *(panel for button in buttons if (panel := _following(button)) is not None)]


def opens_what_follows(button: Tag) -> bool:
    """Whether a button, or a link in the place of one, is the title of what follows it."""
    words = button.get_text(" ").split()
    if button.get("role") == "tab":
        return bool(words)
    if button.name == "a" and button.get("role") != "button" and not _is_switch(button):
        return False
    names = " ".join(
        map(str, (*button.get_attribute_list("class"), button.get("id", ""), button.get("aria-label", "")))
    )
    if not words or (_ACTIONS.search(names) and not _FOLDS.search(names)):
        return False
    if _is_within_a_title(button) or words[-1].endswith(("?", "？", "؟")):
        return True
    if any(button.has_attr(name) for name in _OPENERS) or _FOLDS.search(names):
        return _following(button) is not None or len(words) > 1
    return button.name == "button" and len(words) > 1 and _following(button) is not None


def _is_button(element: Tag) -> bool:
    if element.name == "button" or element.get("role") == "button":
        return True
    return element.name == "a" and _is_switch(element)


def _is_tablist(element: Tag) -> bool:
    return element.get("role") == "tablist" or "tabbed-labels" in element.get_attribute_list("class")


def _is_panel(element: Tag) -> bool:
    return element.get("role") == "tabpanel" or "tabbed-block" in element.get_attribute_list("class")


def _is_switch(link: Tag) -> bool:
    return any(link.has_attr(name) for name in (*_OPENERS, "data-toggle", "data-bs-toggle"))


def _is_within_a_title(button: Tag) -> bool:
    return any(around.name in _WITHIN for around in button.parents)


def _following(button: Tag) -> Tag | None:
    """Returns the next block, beside the button or beside an element that wraps nothing but the button."""
    element, words = button, list(button.stripped_strings)
    while True:
        after = element.find_next_sibling()
        if isinstance(after, Tag):
            return after if after.name in _PANELS and after.get_text(strip=True) else None
        parent = element.parent
        if parent is None or list(islice(parent.stripped_strings, len(words) + 1)) != words:
            return None
        element = parent


def _name_panels(tabs: Tag, by_id: Mapping[str, Tag], *, may_search: bool) -> None:
    """Puts each tab's name above its panel, where each panel's tab is certain."""
    names = tabs.select("[role=tab]") or tabs.find_all("label")
    panels = [panel for name in names if (panel := _panel_of(name, by_id)) is not None]
    if len(panels) != len(names) and may_search:
        panels = _beside(tabs)
    if not names or len(panels) != len(names):
        return
    for name, panel in zip(names, panels, strict=True):
        title = BeautifulSoup("", "lxml").new_tag("summary")
        title.string = " ".join(name.get_text(" ").split())
        if title.string and panel.get_text(strip=True):
            panel.insert(0, title)
            name.decompose()
    if not tabs.get_text(strip=True):
        tabs.decompose()


def _beside(tabs: Tag) -> list[Tag]:
    """Returns the outermost panels, in order, in the nearest element around that holds any."""
    for around in tabs.parents:
        panels = around.find_all(_is_panel)
        if panels:
            found = {id(panel) for panel in panels}
            return [panel for panel in panels if found.isdisjoint(map(id, panel.parents))]
    return []


def _panel_of(name: Tag, by_id: Mapping[str, Tag]) -> Tag | None:
    attributes = {key: str(value) for key, value in name.attrs.items()}
    inner = name.find("a", href=True)
    if isinstance(inner, Tag):
        attributes.setdefault("href", str(inner["href"]))
    return next((by_id[ident] for ident in opened_by(attributes) if ident in by_id), None)
