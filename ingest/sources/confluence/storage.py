"""Confluence's storage format (XHTML with macros) to Markdown: every word that a reader sees, and nothing else.

What another page holds (include macros) becomes a link to it: that page is indexed by itself, with its own readers and
dates, and a copy here would outlive both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml.etree import _Element as Element

from ingest.parsers.pictures import description
from ingest.sources.confluence import macros
from ingest.sources.confluence.elements import Macro, attribute, macro_of, name_of, parse_storage
from ingest.sources.confluence.links import PageLinks
from ingest.sources.confluence.shapes import fenced, indented, list_item, quoted
from ingest.sources.confluence.tables import table_rows, table_text

_DEEPEST = 80
"""Levels of nesting that are kept as structure; below that only the words count."""

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_TRANSPARENT = frozenset(
    [
        "div",
        "section",
        "article",
        "body",
        "root",
        "ac:layout",
        "ac:layout-section",
        "ac:layout-cell",
        "ac:rich-text-body",
        "ac:adf-fallback",
        "ac:task-body",
        "center",
        "details",
        "figure",
        "thead",
        "tbody",
    ]
)
_BLOCKS = (
    _TRANSPARENT
    | _HEADINGS.keys()
    | frozenset(
        [
            "p",
            "ul",
            "ol",
            "table",
            "blockquote",
            "pre",
            "hr",
            "dl",
            "dt",
            "dd",
            "ac:task-list",
            "ac:adf-extension",
            "ac:structured-macro",
            "ac:macro",
        ]
    )
)
_DROPPED = frozenset(
    [
        "ac:parameter",
        "ac:placeholder",
        "ac:task-id",
        "ac:task-uuid",
        "ac:task-status",
        "script",
        "style",
        "colgroup",
    ]
)
_WRAPPED = {
    "strong": "**", "b": "**", "em": "*", "i": "*", "code": "`", "tt": "`", "del": "~~", "s": "~~", "strike": "~~",
}  # fmt: skip
_LINE_START = re.compile(r"^(\s*\d{0,9})(?=(?<!\d)(?:#{1,6} |>|[-+*] |\|)|(?<=\d)[.)] )", re.MULTILINE)
"""Words that would start a heading, a quotation, a list or a table of Markdown."""


def storage_to_markdown(storage: str, links: PageLinks) -> str:
    """
    Raises:
        StorageError: it cannot be read as XML, however generously.
    """
    return "\n\n".join(_Writer(links).blocks(parse_storage(storage), 0)) + "\n"


class _Writer:
    """Writes elements as Markdown: `blocks` those that stand alone, `inline` those within a line."""

    def __init__(self, links: PageLinks) -> None:
        self._links = links

    def blocks(self, element: Element, depth: int) -> list[str]:
        """The element's content as blocks. Text and inline elements between blocks make paragraphs."""
        if depth > _DEEPEST:
            return [text] if (text := _words("".join(element.itertext()))) else []
        written: list[str] = []
        run = [_text(element.text)]
        for child in element:
            if self._is_block(child):
                written += [*_paragraph(run), *self._block(child, depth + 1)]
                run = []
            else:
                run.append(self._inline_one(child, depth + 1))
            run.append(_text(child.tail))
        return [*written, *_paragraph(run)]

    def inline(self, element: Element, depth: int) -> str:
        """The element's content within a line."""
        if depth > _DEEPEST:
            return _words("".join(element.itertext()))
        return _text(element.text) + "".join(
            self._inline_one(child, depth + 1) + _text(child.tail) for child in element
        )

    def _is_block(self, element: Element) -> bool:
        name = name_of(element)
        if name in ("ac:structured-macro", "ac:macro"):
            return attribute(element, "ac:name") not in macros.INLINE
        return name in _BLOCKS

    def _block(self, element: Element, depth: int) -> list[str]:
        name = name_of(element)
        match name:
            case "ac:structured-macro" | "ac:macro":
                return self._macro(macro_of(element), depth)
            case "ac:adf-extension":
                return self._fallback(element, depth)
            case "ac:task-list":
                return _some("\n".join(self._tasks(element, depth)))
            case "ul" | "ol" | "dl":
                return _some("\n".join(self._items(element, depth)))
            case "table":
                rows = table_rows(element, name_of, lambda cell: self._cell(cell, depth))
                return _some(table_text(rows))
            case "blockquote":
                return _some(quoted(self.blocks(element, depth)))
            case "pre":
                return [fenced("".join(element.itertext()), "")]
            case "hr":
                return []
            case _ if name in _HEADINGS:
                return self._heading(element, _HEADINGS[name], depth)
            case _ if name in ("p", "dt", "dd") and not any(map(self._is_block, element)):
                return _paragraph([self.inline(element, depth)])
            case _:
                return self.blocks(element, depth)

    def _heading(self, element: Element, level: int, depth: int) -> list[str]:
        text = _words(self.inline(element, depth))
        if not text:
            return []
        anchor = self._links.anchor(_words("".join(_seen_text(element))))
        return [f"{'#' * level} {text} {{#{anchor}}}" if anchor else f"{'#' * level} {text}"]

    def _items(self, element: Element, depth: int) -> Iterator[str]:
        number = int(start) if (start := element.get("start", "1")).isdigit() else 1
        for item in element:
            if name_of(item) in ("ul", "ol"):  # a list right within a list, as old editors wrote it
                yield indented("\n".join(self._items(item, depth + 1)), "  ")
                continue
            marker = f"{number}. " if name_of(element) == "ol" else "- "
            number += 1
            yield from list_item(marker, self.blocks(item, depth + 1))

    def _tasks(self, element: Element, depth: int) -> Iterator[str]:
        for task in element:
            parts = {name_of(part): part for part in task}
            status, body = parts.get("ac:task-status"), parts.get("ac:task-body")
            done = status is not None and (status.text or "").strip() == "complete"
            if body is not None:
                yield from list_item("- [x] " if done else "- [ ] ", self.blocks(body, depth + 1))

    def _cell(self, cell: Element, depth: int) -> str:
        """A cell's blocks in one line, as Markdown's tables want it."""
        return _words(" ".join(re.sub(r"^(```\w*|[-*] (\[.\] )?)", "", block, flags=re.MULTILINE)
                               for block in self.blocks(cell, depth)))  # fmt: skip

    def _macro(self, macro: Macro, depth: int) -> list[str]:
        if macro.name in macros.SILENT or macro.parameters.get("hidden") == "true":
            return []  # a hidden excerpt or table of properties is there for other pages
        body = self.blocks(macro.rich, depth) if macro.rich is not None else []
        return macros.block(macro, body, self._links)

    def _fallback(self, element: Element, depth: int) -> list[str]:
        fallback = next((one for one in element.iter() if name_of(one) == "ac:adf-fallback"), None)
        if fallback is not None:
            return self.blocks(fallback, depth)
        return [
            block
            for one in element.iter()
            if name_of(one) == "ac:adf-content"
            for block in self.blocks(one, depth)
        ]

    def _inline_one(self, element: Element, depth: int) -> str:
        name = name_of(element)
        if name in _DROPPED or not name:
            return ""
        if name in ("ac:structured-macro", "ac:macro"):
            return macros.inline(macro_of(element), self._links)
        if name in _BLOCKS:
            return " " + " ".join(self._block(element, depth)) + " "
        if name in _WRAPPED:
            return _wrapped(self.inline(element, depth), _WRAPPED[name])
        match name:
            case "br":
                return "\n"
            case "a":
                return self._links.markdown(_words(self.inline(element, depth)), element.get("href", ""))
            case "ac:link":
                return self._link(element, depth)
            case "ac:image":
                return self._image(element, depth)
            case "ac:emoticon":
                return attribute(element, "ac:emoji-fallback") or f":{attribute(element, 'ac:name')}:"
            case "time":
                return str(element.get("datetime", "")) or self.inline(element, depth)
            case "li" | "tr" | "td" | "th":
                return " " + self.inline(element, depth)
            case _:
                return self.inline(element, depth)

    def _link(self, element: Element, depth: int) -> str:
        body, target = "", None
        for child in element:
            if name_of(child) in ("ac:link-body", "ac:plain-text-link-body"):
                body = _words(self.inline(child, depth))
            elif name_of(child).startswith("ri:"):
                target = child
        return self._links.to_resource(
            body,
            kind=name_of(target) if target is not None else "",
            read=lambda name: attribute(target, name) if target is not None else "",
            anchor=attribute(element, "ac:anchor"),
        )

    def _image(self, element: Element, depth: int) -> str:
        """What stands in for a picture: its caption and, where it says something else, its alternative text."""
        caption = next(
            (_words(self.inline(one, depth)) for one in element if name_of(one) == "ac:caption"), ""
        )
        alternative = description(attribute(element, "ac:alt") or attribute(element, "ac:title"))
        told = [alternative, caption] if alternative != caption else [caption]
        return " ".join(f"*{text}*" for text in told if text)


def _paragraph(run: list[str]) -> list[str]:
    lines = [_words(line) for line in "".join(run).split("\n")]
    text = "\n".join(line for line in lines if line)
    return _some(_LINE_START.sub(r"\1\\", text))


def _some(text: str) -> list[str]:
    return [text] if text.strip() else []


def _text(text: str | None) -> str:
    """Text between tags: line breaks there mean nothing, and `<` must not open a tag of Markdown's HTML."""
    return re.sub(r"\s+", " ", text or "").replace("<", "&lt;")


def _words(text: str) -> str:
    return " ".join(text.split())


def _wrapped(inner: str, mark: str) -> str:
    """`**bold**` with the white space outside of the marks, where Markdown wants it."""
    core = inner.strip()
    if not core:
        return inner
    if mark == "`":
        core = core.replace("&lt;", "<").replace("\n", " ")
        mark = "``" if "`" in core else "`"
    lead, tail = inner[: len(inner) - len(inner.lstrip())], inner[len(inner.rstrip()) :]
    return f"{lead}{mark}{core}{mark}{tail}"


def _seen_text(element: Element) -> Iterator[str]:
    """A heading's own words, without the parameters of macros in it."""
    yield element.text or ""
    for child in element:
        if name_of(child) not in _DROPPED and name_of(child) not in ("ac:structured-macro", "ac:macro"):
            yield from _seen_text(child)
        yield child.tail or ""
