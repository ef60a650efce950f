"""Which elements of HTML no reader sees, as far as they say so themselves: text in them must not be quoted, nor be read
by a model as an order. The same in HTML within Markdown, in a file and on a website.
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
"""White on a background of its own is a badge; white alone is there to be missed."""


_FRAME = frozenset({"html", "body", "main"})
"""Sites hide these until a script has run."""


def stays_hidden(
    name: str,
    attributes: Mapping[str, str],
    *,
    controlled: Collection[str],
    around: Iterable[Mapping[str, str]],
) -> bool:
    """Whether an element of a whole page is to go: hidden, and not only for the moment. See the functions below."""
    if name in _FRAME or _opens_by_a_click(attributes, controlled):
        return False
    return is_hidden(attributes, around)


def _opens_by_a_click(attributes: Mapping[str, str], controlled: Collection[str]) -> bool:
    """Whether it is hidden for the moment: the panel of a tab, what the browser's own
    search opens, or one of those that the page's buttons control (see `opened_by`).
    """
    return (
        attributes.get("role") == "tabpanel"
        or attributes.get("hidden") == "until-found"
        or attributes.get("id") in controlled
    )


def opened_by(attributes: Mapping[str, str]) -> Iterator[str]:
    """Ids of what a click on an element opens or shows, by its attributes."""
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
    """Tells by the attributes of an element, whose names are in lower case.

    `around`: of what may give white text a background, by a style or a class: itself and the elements that it is in.
    """
    style = attributes.get("style", "")
    if "hidden" in attributes or _HIDDEN_STYLE.search(style):
        return True
    white = _WHITE_STYLE.search(style) or re.fullmatch(_WHITE, attributes.get("color", ""), re.IGNORECASE)
    if white is None or _BACKGROUND.search(style):
        return False
    return not any(
        "class" in one or "bgcolor" in one or _BACKGROUND.search(one.get("style", "")) for one in around
    )
