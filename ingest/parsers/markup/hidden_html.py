"""Tells which elements of HTML no reader sees, by their own attributes: their text must not be quoted, nor be read by a
model as an instruction. Used for HTML within Markdown, in files and on websites.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

_HIDDEN_STYLE = re.compile(
    r"display:\s*none|visibility:\s*(?:hidden|collapse)|font-size:\s*(?:0(?![.\d])|0?\.\d|1px)|opacity:\s*0(?:\.0\d*)?\s*(?:;|$)"
    r"|(?<![\w-])color:\s*transparent|(?:left|top|right|text-indent):\s*-\d{3,}|(?<![\w-])(?:height|width):\s*0(?:px)?\s*(?:;|$)"
    r"|clip(?:-path)?:\s*(?:rect\(0|inset\((?:50|100)%)",
    re.IGNORECASE,
)
_WHITE = r"(?:white|#fff(?:fff)?\b|rgba?\(\s*255\s*,\s*255\s*,\s*255\b)"
_WHITE_STYLE = re.compile(rf"(?<![\w-])color:\s*{_WHITE}", re.IGNORECASE)
_BACKGROUND = re.compile(r"background(?:-color)?:", re.IGNORECASE)
"""White on a background of its own is a badge; white alone is meant to be missed."""
_FRAME = frozenset({"html", "body", "main"})
"""Elements that sites hide until a script has run."""


def stays_hidden(
    name: str,
    attributes: Mapping[str, str],
    *,
    controlled: Collection[str],
    around: Iterable[Mapping[str, str]],
) -> bool:
    """Whether an element of a whole page is hidden and does not open by a click, as do the panel of a tab, what the
    browser's own search opens, and the elements that the page's buttons control (`controlled`, see `opened_by`).

    `around`: see `is_hidden`.
    """
    opens = (
        attributes.get("role") == "tabpanel"
        or attributes.get("hidden") == "until-found"
        or attributes.get("id") in controlled
    )
    return name not in _FRAME and not opens and is_hidden(attributes, around)


def opened_by(attributes: Mapping[str, str]) -> Iterator[str]:
    """Yields the ids of the elements that a click on an element opens, by its attributes."""
    yield from attributes.get("aria-controls", "").split()
    for name in ("data-target", "data-bs-target"):
        if attributes.get(name, "").startswith("#"):
            yield attributes[name][1:]
    is_switch = (
        attributes.get("role") in ("tab", "button")
        or "data-toggle" in attributes
        or "data-bs-toggle" in attributes
    )
    if is_switch and "#" in attributes.get("href", ""):
        yield attributes["href"].rpartition("#")[2]


def is_hidden(attributes: Mapping[str, str], around: Iterable[Mapping[str, str]] = ()) -> bool:
    """Whether an element's attributes hide it. Their names are in lower case.

    `around`: the attributes of the element and of those around it, whose style or class may color the background of
    white text.
    """
    style = attributes.get("style", "")
    if "hidden" in attributes or _HIDDEN_STYLE.search(style):
        return True
    white = _WHITE_STYLE.search(style) or re.fullmatch(_WHITE, attributes.get("color", ""), re.IGNORECASE)
    if white is None or _BACKGROUND.search(style):
        return False
    return not any(
        "class" in outer or "bgcolor" in outer or _BACKGROUND.search(outer.get("style", ""))
        for outer in around
    )
