"""Drops what a site generator would have consumed: ERB, Liquid, MDX, kramdown attributes, comments.

Prose inside is kept: the words of `<%= warning_text('Do not ...') %>`, the body and label of a JSX component, the
title and body of an admonition. Code must be hidden before (see `shelter.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

_COMMENTS = (("<!--", "-->"), ("{/*", "*/}"))
_STRAY_COMMENT = re.compile(r"<!--|-->")
_LIQUID_COMMENT = re.compile(
    r"\{%-?\s*comment\s*-?%\}(?:(?!\{%-?\s*comment\b).)*?\{%-?\s*endcomment\s*-?%\}", re.DOTALL
)
_ERB_SIDE_CONTENT = re.compile(r"<%-?\s*content_for\b[^%]*\bdo\b[^%]*%>(?:(?!<%-?\s*content_for\b).)*?<%-?\s*end\s*-?%>", re.DOTALL)  # fmt: skip
_TITLE = re.compile(r"[\s=-]*(?:current_page\.data|page)\.title\b")
_STRING = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"", re.DOTALL)
_KRAMDOWN = re.compile(r"^[ \t]*\{:[^}\n]*\}[ \t]*\n?|\{:[^}\n]*\}", re.MULTILINE)
_IMPORT = re.compile(
    r"^import\s+(?:[^;'\"\n]|\n(?!\n)){0,300}?(?:from\s+)?(['\"])[^'\"\n]+\1;?[ \t]*$", re.MULTILINE
)
_EXPORT = re.compile(r"^export\s+(?:const|let|var|default|function|async)\b(?:[^\n]|\n(?!\n))*", re.MULTILINE)
_JSX_SPACE = re.compile(r"\{\s*(['\"`])\s*\1\s*\}")
_DIRECTIVE = re.compile(r"^[ \t]*:{3,}[ \t]*(?:\{?([a-zA-Z][\w-]*)\}?[ \t]*(?:\[(.*?)\]|([^\n{]*?))[ \t]*(?:\{[^}\n]*\})?)?[ \t]*$", re.MULTILINE)  # fmt: skip
_MKDOCS = re.compile(r"^([ \t]*)(?:!!!|\?\?\?\+?)[ \t]+([\w-]+)(?:[ \t]+\"([^\"\n]*)\")?[ \t]*\n((?:\1(?: {4}|\t)[^\n]*\n?|[ \t]*\n)*)", re.MULTILINE)  # fmt: skip
_ALERT = re.compile(r"^([ \t]*>[ \t]*)\[!(\w+)\][ \t]*$", re.MULTILINE)


def drop_dialects(text: str, *, title: str, mdx: bool) -> str:
    """The text with generator syntax gone. `title` stands where a template would have put the page's own."""
    for opening, closing in _COMMENTS:
        text = _replaced(text, opening, closing, lambda _: "")
    text = _LIQUID_COMMENT.sub("", _STRAY_COMMENT.sub("", text))
    text = _ERB_SIDE_CONTENT.sub("", text)
    text = _replaced(text, "<%", "%>", lambda code: _of_template(code, title))
    text = _replaced(text, "{%", "%}", lambda _: "")
    text = _replaced(text.replace("${{", "{{"), "{{", "}}", lambda code: title if _TITLE.match(code) else "")
    text = _IMPORT.sub("", text)
    if mdx:
        text = _JSX_SPACE.sub(" ", _EXPORT.sub("", text))
    return _admonitions(_KRAMDOWN.sub("", text))


def _replaced(text: str, opening: str, closing: str, replace: Callable[[str], str]) -> str:
    """Replaces every span between two marks. Not a pattern: those take quadratic time where the closing mark is missing."""
    pieces: list[str] = []
    position = 0
    while (start := text.find(opening, position)) >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        pieces += [text[position:start], replace(text[start + len(opening) : end])]
        position = end + len(closing)
    return "".join([*pieces, text[position:]])


def _of_template(code: str, title: str) -> str:
    """What an ERB tag would have shown to a reader, as far as its own words tell."""
    if code.startswith("#") or not code.startswith("="):
        return ""
    if _TITLE.match(code):
        return title
    strings = [single or double for single, double in _STRING.findall(code)]
    return " ".join(
        string.replace("\\'", "'").replace('\\"', '"') for string in strings if " " in string.strip()
    )


def _admonitions(text: str) -> str:
    text = _DIRECTIVE.sub(lambda found: _headline(found[1], found[2] or found[3]), text)
    text = _MKDOCS.sub(lambda found: f"{_headline(found[2], found[3])}\n{_dedented(found[4])}", text)
    return _ALERT.sub(lambda found: f"{found[1]}**{found[2].capitalize()}**", text)


def _headline(kind: str | None, title: str | None) -> str:
    if not kind:
        return ""
    label = kind.replace("-", " ").capitalize()
    return f"\n**{label}: {title.strip()}**\n" if title and title.strip() else f"\n**{label}**\n"


def _dedented(body: str) -> str:
    return re.sub(r"^(?: {4}|\t)", "", body, flags=re.MULTILINE)
