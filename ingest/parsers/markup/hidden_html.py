"""Tells which elements of HTML no reader sees, by their own attributes: their text must not be quoted, nor be read by a
model as an instruction. Used for HTML within Markdown, in files and on websites.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

_ZERO = r"(?:0(?:\.0\d*)?|\.0\d*|[0-5]%)\s*"
_CLEAR = (
    r"(?:transparent|#[\da-f]{3}0\b|#[\da-f]{6}0[\da-f]\b"
    rf"|(?:rgb|hsl)a?\((?:(?:[^,()]*,){{3}}|[^/()]*/)\s*{_ZERO}\))"
)
_HIDDEN_STYLE = re.compile(
    r"display:\s*none|visibility:\s*(?:hidden|collapse)|font-size:\s*(?:0(?![.\d])|0?\.\d|1px)"
    rf"|opacity:\s*{_ZERO}(?:;|!|$)|opacity\(\s*{_ZERO}\)|(?<![\w-])zoom:\s*0(?![.\d])|scale\w*\(\s*0\s*[,)]"
    rf"|(?<![\w-])font:[^;]*(?<![\d./])0(?:px|pt|r?em|%)?(?:/|\s)|(?<![\w-])color:\s*{_CLEAR}"
    r"|(?:left|top|right|text-indent):\s*-\d{3,}|(?<![\w-])(?:height|width):\s*0(?:px)?\s*(?:;|$)"
    r"|clip(?:-path)?:\s*(?:rect\(0|inset\((?:50|100)%)",
    re.IGNORECASE,
)
_BRIGHT = r"(?:24\d|25[0-5])"
_WHITE = (
    r"(?:(?:ghost|floral)?white(?:smoke)?\b|snow\b|ivory\b|#fff\b|#(?:f[\da-f]){3}\b"
    rf"|rgba?\(\s*{_BRIGHT}[\s,]+{_BRIGHT}[\s,]+{_BRIGHT}\b|hsla?\(\s*[\d.]+(?:deg)?[\s,]+[\d.]+%[\s,]+(?:9[5-9]|100)%)"
)
_WHITE_STYLE = re.compile(rf"(?<![\w-])color:\s*{_WHITE}", re.IGNORECASE)
_BACKGROUND = re.compile(r"background(?:-color)?:\s*(?P<value>[^;!]*)", re.IGNORECASE)
_COLOR = re.compile(r"(?<![\w-])color:\s*(?P<value>[^;!]*)", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_ESCAPE = re.compile(r"\\([\da-f]{1,6})\s?", re.IGNORECASE)
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
    style = _as_browsers_read(attributes.get("style", ""))
    if "hidden" in attributes or _HIDDEN_STYLE.search(style) or _is_on_its_own_color(style):
        return True
    white = _WHITE_STYLE.search(style) or re.fullmatch(_WHITE, attributes.get("color", ""), re.IGNORECASE)
    if white is None or _BACKGROUND.search(style):
        return False
    return not any(
        "class" in outer or "bgcolor" in outer or _BACKGROUND.search(outer.get("style", ""))
        for outer in around
    )


def _as_browsers_read(style: str) -> str:
    """Writes a style without comments and escapes, and its colons beside their names."""
    if "\\" in style:
        style = _ESCAPE.sub(lambda found: chr(min(int(found[1], 16), 0x10FFFF)), style)
    return re.sub(r"\s+:", ":", _COMMENT.sub("", style))


def _is_on_its_own_color(style: str) -> bool:
    color, background = _COLOR.search(style), _BACKGROUND.search(style)
    return (
        color is not None
        and background is not None
        and color["value"].strip().casefold() == background["value"].strip().casefold()
    )
