"""Parts of a web page that open by a click: their words are kept, under the question or the name that opens them.

A question of an accordion is often a `<button>`, which elsewhere is no part of what a page says ("Copy", "Search").
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from bs4 import BeautifulSoup, Tag

from ingest.parsers.unseen import opened_by

_BUTTONS = "button, [role=button], a[data-toggle], a[data-bs-toggle], a[aria-expanded]"
_OPENERS = ("aria-controls", "aria-expanded", "data-target", "data-bs-target", "data-accordion")
_FOLDS = re.compile(r"accordion|collaps|faq|question|toggle|expand|disclosure|fold", re.IGNORECASE)
_ACTIONS = re.compile(
    r"copy|clipboard|close|dismiss|share|search|menu|nav|print|theme|dark|like|vote|feedback|cookie|consent|subscribe|sidebar|dropdown",
    re.IGNORECASE,
)
_WITHIN = ["summary", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "legend"]
_PANELS = frozenset({"div", "p", "section", "dd", "ul", "ol", "table", "article"})


def keep_labels(soup: BeautifulSoup | Tag, *, every_button: bool) -> None:
    """Changes the tree: what opens a part stands over it as a heading or a `<summary>`, other buttons go.

    `every_button`: those outside forms stay, which say more in a file that was saved by hand than on a website.
    """
    by_id = {str(element["id"]): element for element in soup.find_all(id=True)}
    for tabs in soup.select("[role=tablist], .tabbed-labels"):
        _name_panels(tabs, by_id)
    for button in soup.select(_BUTTONS):
        if button.decomposed:
            continue
        if opens_what_follows(button):
            button.name = "span" if _is_within_a_title(button) else "summary"
        elif button.name == "button" and (not every_button or _copies(button) or button.find_parent("form")):
            button.decompose()


def _copies(button: Tag) -> bool:
    names = (*button.get_attribute_list("class"), button.get("aria-label", ""), button.get("title", ""))
    return any(re.search(r"\bcopy\b|clipboard", str(name), re.IGNORECASE) for name in names)


def hidden_panels(soup: BeautifulSoup | Tag) -> list[Tag]:
    """What a button shows that stands right above it, or that is named by the button, without saying so itself."""
    buttons = [button for button in soup.select(_BUTTONS) if opens_what_follows(button)]
    named = {str(button["id"]) for button in buttons if button.get("id")}
    labelled = [panel for panel in soup.select("[aria-labelledby]") if str(panel["aria-labelledby"]) in named]
    return labelled + [panel for button in buttons if (panel := _following(button)) is not None]


def opens_what_follows(button: Tag) -> bool:
    """Whether a button, or a link in the place of one, is the title of what follows it."""
    words = button.get_text(" ").split()
    if button.get("role") == "tab":
        return bool(words)
    if button.name == "a" and button.get("role") != "button" and not _is_switch(button):
        return False
    names = " ".join(
        [
            *map(str, button.get_attribute_list("class")),
            str(button.get("id", "")),
            str(button.get("aria-label", "")),
        ]
    )
    if not words or (_ACTIONS.search(names) and not _FOLDS.search(names)):
        return False
    if _is_within_a_title(button) or words[-1].endswith(("?", "？", "؟")):
        return True
    if any(button.has_attr(name) for name in _OPENERS) or _FOLDS.search(names):
        return _following(button) is not None or len(words) > 1
    return button.name == "button" and len(words) > 1 and _following(button) is not None


def _is_switch(link: Tag) -> bool:
    return any(link.has_attr(name) for name in (*_OPENERS, "data-toggle", "data-bs-toggle"))


def _is_within_a_title(button: Tag) -> bool:
    return button.find_parent(_WITHIN) is not None


def _following(button: Tag) -> Tag | None:
    """The block that comes next, beside the button or beside what wraps nothing but the button."""
    element = button
    while True:
        after = element.find_next_sibling()
        if isinstance(after, Tag):
            return after if after.name in _PANELS and after.get_text(strip=True) else None
        parent = element.parent
        if parent is None or parent.get_text(strip=True) != button.get_text(strip=True):
            return None
        element = parent


def _name_panels(tabs: Tag, by_id: Mapping[str, Tag]) -> None:
    """Each tab's name stands over its panel, where it can be told which is whose."""
    names = tabs.select("[role=tab]") or tabs.find_all("label")
    panels = [panel for name in names if (panel := _panel_of(name, by_id)) is not None]
    if len(panels) != len(names):
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
    """Panels in order, of the nearest element around that holds any."""
    for around in tabs.parents:
        panels = around.select("[role=tabpanel], .tabbed-block")
        if panels:
            return [panel for panel in panels if panel.find_parent(attrs={"role": "tabpanel"}) not in panels]
    return []


def _panel_of(name: Tag, by_id: Mapping[str, Tag]) -> Tag | None:
    attributes = {key: str(value) for key, value in name.attrs.items()}
    inner = name.find("a", href=True)
    if isinstance(inner, Tag):
        attributes.setdefault("href", str(inner["href"]))
    return next((by_id[ident] for ident in opened_by(attributes) if ident in by_id), None)
