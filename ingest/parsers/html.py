"""HTML inside Markdown, rewritten as Markdown: no tag is left, every word that a reader would see is.

Written as one pass over the tags because the text between them is Markdown, which an HTML parser would not leave
alone. What looks like a tag but is none (`<your-token>`, `<String>`) is text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass

from ingest.parsers.html_tables_in_markdown import TAG, attributes_of, with_tables
from ingest.parsers.pictures import description
from ingest.parsers.unseen import is_hidden

_DROPPED = re.compile(
    r"<(script|style|svg|iframe|template|noscript)\b[^<>]*>(?:(?!<\1\b).)*?</\1\s*>",
    re.DOTALL | re.IGNORECASE,
)
_HIDEABLE_NAMES = """
div span section article aside p font small sup sub b i em strong a blockquote td th h1 h2 h3 h4 h5 h6
"""
_HIDEABLE = frozenset(_HIDEABLE_NAMES.split())
_ENTITY = re.compile(r"&(?!lt;|gt;|amp;|quot;)(?:#\d{1,7}|#x[\da-fA-F]{1,6}|[A-Za-z]\w{1,30});")

_LOOKS_LIKE_HTML = re.compile(rf"<!--|-->|{_ENTITY.pattern}|{TAG.pattern}")

_WRAPPED = {
    "b": "**",
    "strong": "**",
    "i": "*",
    "em": "*",
    "code": "`",
    "kbd": "`",
    "samp": "`",
    "del": "~~",
    "s": "~~",
}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCK_NAMES = """
div section article aside details figure figcaption header footer main nav blockquote p ul ol dl dt dd form fieldset
center address hr table thead tbody tr td th caption pre video audio picture
"""
_INLINE_NAMES = """
a abbr br button cite img input label legend li link mark meta option q ruby rt rp select small source span strike sub
summary sup textarea time track tt u var wbr font big ins html body head title hgroup object param embed canvas map area
col colgroup datalist output progress meter
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_DEEP = _BLOCKS - {"p", "dt", "dd", "hr", "tr", "td", "th"}
"""Blocks whose end tag authors do not leave out, so that nesting can be counted."""
_KNOWN = _BLOCKS | set(_INLINE_NAMES.split()) | _WRAPPED.keys() | _HEADINGS.keys()


def html_to_markdown(text: str, *, mdx: bool) -> str:
    """Rewrites the HTML in a Markdown text whose code is hidden. `mdx`: every capitalised tag is a component."""
    if "<" in text:
        text = _DROPPED.sub("", text)
        text = with_tables(text, lambda part: _Rewriter(mdx=mdx).rewrite(part))
        text = _Rewriter(mdx=mdx).rewrite(text)
    return _ENTITY.sub(lambda found: html.unescape(found[0]).replace("\xa0", " "), text)


@dataclass(kw_only=True, slots=True)
class _Opened:
    """An element whose end decides what becomes of it. `at`: where its content starts in the output."""

    name: str
    at: int
    wrap: Callable[[str], str]


class _Rewriter:
    def __init__(self, *, mdx: bool) -> None:
        self._mdx = mdx
        self._out: list[str] = []
        self._opened: list[_Opened] = []
        self._depth = 0
        self._lists = 0
        self._hidden_at: int | None = None
        self._hidden: list[str] = []

    def rewrite(self, text: str) -> str:
        position = 0
        for tag in TAG.finditer(text):
            name = tag[2].lower()
            if not _is_markup(tag, mdx=self._mdx):
                continue
            self._say(text[position : tag.start()])
            position = tag.end()
            if tag[1]:
                self._close(name)
            else:
                self._open(
                    name,
                    attributes_of(tag),
                    in_row="|" in text[text.rfind("\n", 0, tag.start()) + 1 : tag.start()],
                )
        self._say(text[position:])
        return "".join(self._out)

    def _say(self, text: str) -> None:
        """Within HTML, indentation is lay-out: left alone it would turn prose into code."""
        self._out.append(re.sub(r"\n[ \t]+", "\n", text) if self._depth else text)

    def _open(self, name: str, attributes: dict[str, str], *, in_row: bool) -> None:
        self._depth += name in _DEEP
        self._hide(name, attributes)
        if name in _WRAPPED:
            self._await(name, lambda inner: f"{_WRAPPED[name]}{inner.strip()}{_WRAPPED[name]}")
        elif name == "a" and _is_link(attributes.get("href", "")):
            self._await(name, lambda inner: f"[{' '.join(inner.split())}]({attributes['href']})")
        elif name in _HEADINGS:
            anchor = f" {{#{attributes['id']}}}" if attributes.get("id") else ""
            self._await(
                name, lambda inner: f"\n\n{'#' * _HEADINGS[name]} {' '.join(inner.split())}{anchor}\n\n"
            )
        elif name == "summary":
            self._await(name, lambda inner: f"\n\n**{' '.join(inner.split())}**\n\n")
        elif name == "li":
            self._out.append(f"\n{'  ' * max(self._lists - 1, 0)}- ")
        elif name == "br":
            self._out.append(" " if in_row else "\n")
        elif name == "img":
            if told := description(attributes.get("alt", "")):
                self._out.append(f"{told} ")
        elif name in _BLOCKS:
            self._lists += name in ("ul", "ol")
            self._break()
        elif name not in _KNOWN:
            self._component(attributes)

    def _hide(self, name: str, attributes: dict[str, str]) -> None:
        """Text that no reader sees must not be quoted, nor be read by a model as an order."""
        if name not in _HIDEABLE:
            return
        if self._hidden or is_hidden(attributes):
            self._hidden_at = len(self._out) if self._hidden_at is None else self._hidden_at
            self._hidden.append(name)

    def _reveal(self, name: str) -> None:
        if name in self._hidden:
            while self._hidden.pop() != name:  # end tags within that its author left out
                continue
            if not self._hidden and self._hidden_at is not None:
                del self._out[self._hidden_at :]
                self._opened = [element for element in self._opened if element.at <= self._hidden_at]
                self._hidden_at = None

    def _component(self, attributes: dict[str, str]) -> None:
        label = attributes.get("label") or attributes.get("title")
        self._break()
        if label:
            self._out.append(f"**{label}**\n\n")

    def _close(self, name: str) -> None:
        self._depth = max(0, self._depth - (name in _DEEP))
        self._reveal(name)
        if name in ("ul", "ol"):
            self._lists = max(0, self._lists - 1)
        if name in _BLOCKS or name not in _KNOWN:
            self._break()
        elif any(element.name == name for element in self._opened):
            while True:
                element = self._opened.pop()
                if element.name == name:
                    break
            inner = "".join(self._out[element.at :])
            self._out[element.at :] = [element.wrap(inner) if inner.strip() else inner]

    def _await(self, name: str, wrap: Callable[[str], str]) -> None:
        self._opened.append(_Opened(name=name, at=len(self._out), wrap=wrap))

    def _break(self) -> None:
        if not "".join(self._out[-2:]).endswith("- "):  # `<li><p>`: the item's text follows its bullet
            self._out.append("\n\n")


def _is_markup(tag: re.Match[str], *, mdx: bool) -> bool:
    if tag[2].lower() in _KNOWN:
        return True
    return tag[2][0].isupper() and (mdx or "=" in tag[3] or bool(tag[4]))


def shown_as_code(text: str) -> str:
    """Words of a reader's page, in a page of Markdown: what would be taken for mark-up of HTML is put in code spans."""
    return _LOOKS_LIKE_HTML.sub(
        lambda found: (
            f"`{found[0]}`"
            if not (tag := TAG.fullmatch(found[0])) or _is_markup(tag, mdx=False)
            else found[0]
        ),
        text,
    )


def _is_link(href: str) -> bool:
    return bool(href) and not href.lower().strip().startswith(("javascript:", "data:", "vbscript:"))
