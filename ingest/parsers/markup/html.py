"""Rewrites HTML inside Markdown as Markdown: no tag is left, every word that a reader would see is.

One pass over the tags, because the text between them is Markdown, which an HTML parser would change. What looks like a
tag but is none (`<your-token>`, `<String>`) is text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ingest.parsers.markup.hidden_html import opened_by, stays_hidden
from ingest.parsers.markup.html_tables_in_markdown import TAG, attributes_of, with_tables
from ingest.parsers.markup.permalinks import is_symbol
from ingest.parsers.pictures import description
from ingest.parsers.superscripts import lowered, raised

_DROPPED_NAMES = ("script", "style", "svg", "iframe", "template", "noscript")
_DROPPED = re.compile(
    rf"<({'|'.join(_DROPPED_NAMES)})\b[^<>]*>(?:(?!<\1\b).)*?</\1\s*>",
    re.DOTALL | re.IGNORECASE,
)
_HIDEABLE_NAMES = """
div span section article aside p font small sup sub b i em strong a blockquote td th h1 h2 h3 h4 h5 h6
"""
_HIDEABLE = frozenset(_HIDEABLE_NAMES.split())
_ENTITY = re.compile(r"&(?!lt;|gt;|amp;|quot;)(?:#\d{1,7}|#x[\da-fA-F]{1,6}|[A-Za-z]\w{1,30});")

_LOOKS_LIKE_HTML = re.compile(rf"<!--|-->|{_ENTITY.pattern}|{TAG.pattern}")

_WRAPPED = {"b": "**", "strong": "**", "i": "*", "em": "*", "del": "~~", "s": "~~"}
_CODE = frozenset({"code", "kbd", "samp"})
_BOXES = frozenset({"button", "label", "option"})
"""Inline elements between which a reader sees a space."""
_BULLET = re.compile(r"\n *(?:-|\d+\.) \Z")
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
"""Blocks whose end tag authors do not omit, so that nesting can be counted."""
_KNOWN = _BLOCKS | set(_INLINE_NAMES.split()) | _WRAPPED.keys() | _CODE | _HEADINGS.keys()


def html_to_markdown(text: str, *, mdx: bool) -> str:
    """Rewrites the HTML in a Markdown text whose code is hidden. `mdx`: every capitalised tag is a component."""
    if "<" in text:
        text = _DROPPED.sub("", text)
        controlled = {ident for tag in TAG.finditer(text) for ident in opened_by(attributes_of(tag))}

        def rewrite(part: str) -> str:
            return _Rewriter(controlled, mdx=mdx).rewrite(part)

        text = rewrite(with_tables(text, rewrite))
    return _ENTITY.sub(lambda found: html.unescape(found[0]).replace("\xa0", " "), text)


def checkbox(name: str, attributes: Mapping[str, str]) -> str:
    """Returns `[x]` or `[ ]`, as Markdown has tasks, for a box to tick; empty for another element.

    Notion's export draws a box by a class: `checkbox-on`, `checkbox-off`.
    """
    classes = attributes.get("class", "").split()
    if name == "input" and attributes.get("type", "").lower() == "checkbox":
        return "[x]" if "checked" in attributes else "[ ]"
    if "checkbox" in classes:
        return "[x]" if "checkbox-on" in classes else "[ ]" if "checkbox-off" in classes else ""
    return ""


@dataclass(kw_only=True, slots=True)
class _Opened:
    """An element that is rewritten at its end. `start`: the index of its content in the output."""

    name: str
    start: int
    wrap: Callable[[str], str]


class _Rewriter:
    def __init__(self, controlled: Collection[str], *, mdx: bool) -> None:
        self._controlled = controlled
        self._mdx = mdx
        self._out: list[str] = []
        self._opened: list[_Opened] = []
        self._depth = 0
        self._lists: list[int | None] = []
        """The open lists: the number of the next item, None for bullets."""
        self._item_continues = False
        """Whether a list within an item has just ended: the item may continue."""
        self._hidden_from: int | None = None
        self._hidden: list[str] = []

    def rewrite(self, text: str) -> str:
        position = 0
        for tag in TAG.finditer(text):
            name = tag[2].lower()
            if not _is_markup(tag, mdx=self._mdx):
                continue
            self._write(text[position : tag.start()])
            position = tag.end()
            if tag[1]:
                self._close(name)
            else:
                line_start = text.rfind("\n", 0, tag.start()) + 1
                self._open(name, attributes_of(tag), in_row="|" in text[line_start : tag.start()])
        self._write(text[position:])
        return "".join(self._out)

    def _write(self, text: str) -> None:
        """Writes text. Within HTML its indentation goes, which would turn prose into code."""
        text = re.sub(r"\n[ \t]+", "\n", text) if self._depth else text
        if self._item_continues and text.strip():
            text = f"\n{self._indent(self._lists)}{text.lstrip()}"
        self._item_continues = self._item_continues and not text.strip()
        self._out.append(text)

    def _open(self, name: str, attributes: dict[str, str], *, in_row: bool) -> None:
        self._depth += name in _DEEP
        self._hide(name, attributes)
        if name in _WRAPPED:
            self._await(name, lambda inner: f"{_WRAPPED[name]}{inner.strip()}{_WRAPPED[name]}")
        elif name in _CODE:
            self._await(name, lambda inner: f"`{inner.strip().replace('`', '')}`")
        elif name in ("sup", "sub"):
            script, before = (raised if name == "sup" else lowered), "".join(self._out[-2:])
            self._await(name, lambda inner: script(inner, before=before))
        elif name in _BOXES:
            self._out.append(" ")
        elif name == "a" and _is_link(attributes.get("href", "")):
            self._await(name, lambda inner: _link(inner, attributes["href"]))
        elif name in _HEADINGS:
            anchor = f" {{#{attributes['id']}}}" if attributes.get("id") else ""
            self._await(
                name, lambda inner: f"\n\n{'#' * _HEADINGS[name]} {' '.join(inner.split())}{anchor}\n\n"
            )
        elif name == "summary":
            self._await(name, _summary)
        elif name == "li":
            self._out.append(f"\n{self._bullet(attributes.get('value', ''))}")
        elif name == "br":
            self._out.append(" " if in_row else "\n")
        elif name == "img":
            if words := description(attributes.get("alt", "")):
                self._out.append(f"{words} ")
        elif name in ("ul", "ol"):
            if not self._lists:  # within an item, an empty line would make a paragraph of it
                self._break()
            self._lists.append(None if name == "ul" else _number(attributes.get("start", ""), 1))
        elif box := checkbox(name, attributes):
            self._out.append(f"{box} ")
        elif name in _BLOCKS:
            self._break()
        elif name not in _KNOWN:
            self._component(attributes)

    def _hide(self, name: str, attributes: dict[str, str]) -> None:
        """Notes where hidden text starts: it must not be quoted, nor be read by a model as an instruction."""
        if name not in _HIDEABLE:
            return
        if self._hidden or stays_hidden(name, attributes, controlled=self._controlled, around=()):
            self._hidden_from = len(self._out) if self._hidden_from is None else self._hidden_from
            self._hidden.append(name)

    def _reveal(self, name: str) -> None:
        """Drops the hidden text that ends here."""
        if name in self._hidden:
            while self._hidden.pop() != name:  # end tags within that its author omitted
                continue
            if not self._hidden and self._hidden_from is not None:
                del self._out[self._hidden_from :]
                self._opened = [element for element in self._opened if element.start <= self._hidden_from]
                self._hidden_from = None

    def _component(self, attributes: dict[str, str]) -> None:
        label = attributes.get("label") or attributes.get("title")
        self._break()
        if label:
            self._out.append(f"**{label}**\n\n")

    def _close(self, name: str) -> None:
        self._depth = max(0, self._depth - (name in _DEEP))
        self._reveal(name)
        if name in ("ul", "ol") and self._lists:
            self._lists.pop()
            self._item_continues = bool(self._lists)
            if self._lists:
                return
        if name in _BOXES:
            self._out.append(" ")
        if name in _BLOCKS or name not in _KNOWN:
            self._break()
        elif any(element.name == name for element in self._opened):
            while True:
                element = self._opened.pop()
                if element.name == name:
                    break
            inner = "".join(self._out[element.start :])
            self._out[element.start :] = [element.wrap(inner) if inner.strip() else inner]

    def _indent(self, lists: Sequence[int | None]) -> str:
        return " " * sum(2 if number is None else 3 for number in lists)

    def _bullet(self, value: str) -> str:
        self._item_continues = False
        indent = self._indent(self._lists[:-1])
        number = self._lists[-1] if self._lists else None
        if number is None:
            return f"{indent}- "
        number = _number(value, number)
        self._lists[-1] = number + 1
        return f"{indent}{number}. "

    def _await(self, name: str, wrap: Callable[[str], str]) -> None:
        self._opened.append(_Opened(name=name, start=len(self._out), wrap=wrap))

    def _break(self) -> None:
        if not _BULLET.search("".join(self._out[-2:])):  # `<li><p>`: the item's text follows its bullet
            self._out.append("\n\n")


def _summary(inner: str) -> str:
    """Writes a title in bold, unless it is a heading already."""
    if re.search(r"^#{1,6} ", inner, re.MULTILINE):
        return f"\n\n{inner.strip()}\n\n"
    return f"\n\n**{' '.join(inner.split())}**\n\n"


def _link(inner: str, href: str) -> str:
    """Writes a link; only its text where it is around blocks, nothing where it is a heading's to itself."""
    if href.startswith("#") and is_symbol(inner):
        return ""
    return inner if "\n\n" in inner.strip() else f"[{' '.join(inner.split())}]({href})"


def _number(written: str, otherwise: int) -> int:
    return int(written) if re.fullmatch(r"\d{1,9}", written) else otherwise


def _is_markup(tag: re.Match[str], *, mdx: bool) -> bool:
    if tag[2].lower() in _KNOWN:
        return True
    return mdx and tag[2][0].isupper()


def shown_as_code(text: str) -> str:
    """Puts words that Markdown would take for HTML in code spans."""
    return _LOOKS_LIKE_HTML.sub(
        lambda found: (
            f"`{found[0]}`"
            if not (tag := TAG.fullmatch(found[0]))
            or _is_markup(tag, mdx=False)
            or tag[2].lower() in _DROPPED_NAMES
            else found[0]
        ),
        text,
    )


def _is_link(href: str) -> bool:
    return bool(href) and not href.lower().strip().startswith(("javascript:", "data:", "vbscript:"))
