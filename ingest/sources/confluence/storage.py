"""Confluence's storage format (XHTML with macros) to Markdown: every word that a reader sees, and nothing else.

What another page holds (include macros) becomes a link to it: that page is indexed by itself, with its own readers and
dates, and a copy here would outlive both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lxml.etree import _Element as Element

from ingest.parsers.markup import html_tables
from ingest.parsers.pictures import description
from ingest.sources.confluence import lines, macros
from ingest.sources.confluence.elements import (
    BLOCKS,
    DROPPED,
    HEADINGS,
    MACROS,
    Macro,
    attribute,
    is_amid_text,
    macro_name,
    macro_of,
    name_of,
    parse_storage,
    seen_text,
)
from ingest.sources.confluence.links import PageLinks
from ingest.sources.confluence.rendered import RENDERED, closed, rendered
from ingest.sources.markup import fenced, quoted

_DEEPEST = 80
"""Levels of nesting that are kept as structure; below that only the words count."""

_WRAPPED = {
    "strong": "**", "b": "**", "em": "*", "i": "*", "code": "`", "tt": "`", "del": "~~", "s": "~~", "strike": "~~",
}  # fmt: skip
_GROUPS: dict[str, html_tables.GroupKind] = {"thead": "thead", "tbody": "tbody", "tfoot": "tfoot"}


@dataclass(frozen=True, kw_only=True, slots=True)
class StorageText:
    """A page as Markdown. `notes`: what was left out of it, and why."""

    markdown: str
    notes: tuple[str, ...] = ()


def storage_to_markdown(storage: str, links: PageLinks) -> str:
    """Writes a page as Markdown. Raises as `read_storage`."""
    return read_storage(storage, links).markdown


def read_storage(storage: str, links: PageLinks) -> StorageText:
    """Reads a page in storage format.

    Raises:
        StorageError: it cannot be read as XML, however generously.
    """
    writer = _Writer(links)
    markdown = "\n\n".join(writer.blocks(parse_storage(storage), 0)) + "\n"
    return StorageText(markdown=markdown, notes=writer.notes())


class _Writer:
    """Writes elements as Markdown: `blocks` those that stand alone, `inline` those within a line."""

    def __init__(self, links: PageLinks) -> None:
        self._links = links
        self._cells = 0
        """Cells of tables that are open: what stands in one is written in one line."""
        self._limited: set[str] = set()

    def notes(self) -> tuple[str, ...]:
        if not self._limited:
            return ()
        return (f"what it shows to some readers alone is left out ({', '.join(sorted(self._limited))})",)

    def blocks(self, element: Element, depth: int) -> list[str]:
        """Writes the element's content as blocks. Text and inline elements between blocks make paragraphs."""
        if depth > _DEEPEST:
            return [text] if (text := lines.words("".join(element.itertext()))) else []
        written: list[str] = []
        run = [lines.plain(element.text)]
        for child in element:
            if self._is_block(child):
                written += [*lines.paragraph(run), *self._block(child, depth + 1)]
                run = []
            else:
                run.append(self._inline_one(child, depth + 1))
            run.append(lines.plain(child.tail))
        return [*written, *lines.paragraph(run)]

    def inline(self, element: Element, depth: int) -> str:
        """Writes the element's content within a line."""
        if depth > _DEEPEST:
            return lines.words("".join(element.itertext()))
        return lines.plain(element.text) + "".join(
            self._inline_one(child, depth + 1) + lines.plain(child.tail) for child in element
        )

    def _is_block(self, element: Element) -> bool:
        name = name_of(element)
        if name not in MACROS:
            return name in BLOCKS
        kind = macro_name(element)
        if kind in macros.INLINE or kind in macros.BLOCKS:
            return kind in macros.BLOCKS
        return not (is_amid_text(element) and self._is_flat(element))

    def _is_flat(self, macro: Element) -> bool:
        """Whether what a macro shows fits into a line: no block at all, or a single paragraph."""
        rich = macro_of(macro).rich
        within = [] if rich is None else [child for child in rich if self._is_block(child)]
        return (
            all(name_of(child) == "p" and not any(map(self._is_block, child)) for child in within[:1])
            and not within[1:]
        )

    def _block(self, element: Element, depth: int) -> list[str]:
        name = name_of(element)
        match name:
            case _ if name in MACROS:
                return self._macro(macro_of(element), depth)
            case "ac:adf-extension":
                return self._fallback(element, depth)
            case "ac:task-list":
                return lines.some("\n".join(self._tasks(element, depth)))
            case "ul" | "ol" | "dl":
                return lines.some("\n".join(self._items(element, depth)))
            case "table":
                return self._table(element, depth)
            case "blockquote":
                return lines.some(quoted(self.blocks(element, depth)))
            case "pre":
                return [fenced("".join(element.itertext()), "")]
            case "hr":
                return []
            case _ if name in HEADINGS:
                return self._heading(element, HEADINGS[name], depth)
            case _ if name in ("p", "dt", "dd") and not any(map(self._is_block, element)):
                return lines.paragraph([self.inline(element, depth)])
            case _:
                return self.blocks(element, depth)

    def _heading(self, element: Element, level: int, depth: int) -> list[str]:
        text = lines.words(self.inline(element, depth))
        if not text:
            return []
        anchor = self._links.anchor(lines.words("".join(seen_text(element))))
        return [f"{'#' * level} {text} {{#{anchor}}}" if anchor else f"{'#' * level} {text}"]

    def _items(self, element: Element, depth: int) -> Iterator[str]:
        number = int(start) if (start := element.get("start", "1")).isdigit() else 1
        for item in element:
            if name_of(item) in ("ul", "ol"):  # a list right within a list, as old editors wrote it
                yield lines.indented("\n".join(self._items(item, depth + 1)), "  ")
                continue
            marker = f"{number}. " if name_of(element) == "ol" else "- "
            number += 1
            yield from lines.list_item(marker, self.blocks(item, depth + 1))

    def _tasks(self, element: Element, depth: int) -> Iterator[str]:
        for task in element:
            parts = {name_of(part): part for part in task}
            status, body = parts.get("ac:task-status"), parts.get("ac:task-body")
            done = status is not None and (status.text or "").strip() == "complete"
            if body is not None:
                yield from lines.list_item("- [x] " if done else "- [ ] ", self.blocks(body, depth + 1))

    def _table(self, element: Element, depth: int) -> list[str]:
        self._cells += 1
        groups = _row_groups(element, lambda cell: self._cell(cell, depth))
        self._cells -= 1
        return lines.some(
            html_tables.inline_table(groups) if self._cells else html_tables.markdown_table(groups)
        )

    def _cell(self, cell: Element, depth: int) -> str:
        """Writes a cell's blocks in one line, as Markdown's tables want it."""
        return lines.words(" ".join(map(lines.one_line, self.blocks(cell, depth))))

    def _macro(self, macro: Macro, depth: int) -> list[str]:
        if macros.is_hidden(macro):
            return []
        if macros.is_limited(macro):
            self._limited.add(macro.name)
            return []
        if macro.plain is not None and macro.name in RENDERED:
            return (
                self.blocks(rendered(macro.plain), depth) if macro.name == "html" else [closed(macro.plain)]
            )
        body = self.blocks(macro.rich, depth) if macro.rich is not None else []
        return macros.block(macro, body, self._links)

    def _inline_macro(self, macro: Macro, depth: int) -> str:
        if macros.is_hidden(macro) and macro.name not in macros.INLINE:
            return ""
        if macros.is_limited(macro):
            self._limited.add(macro.name)
            return ""
        body = self.inline(macro.rich, depth) if macro.rich is not None else ""
        return macros.inline(macro, body, self._links)

    def _fallback(self, element: Element, depth: int) -> list[str]:
        fallback = next((inner for inner in element.iter() if name_of(inner) == "ac:adf-fallback"), None)
        if fallback is not None:
            return self.blocks(fallback, depth)
        return [
            block
            for inner in element.iter()
            if name_of(inner) == "ac:adf-content"
            for block in self.blocks(inner, depth)
        ]

    def _inline_one(self, element: Element, depth: int) -> str:
        name = name_of(element)
        if name in DROPPED or not name:
            return ""
        if name in MACROS:
            return self._inline_macro(macro_of(element), depth)
        if name in BLOCKS:
            return " " + " ".join(self._block(element, depth)) + " "
        if name in _WRAPPED:
            return lines.wrapped(self.inline(element, depth), _WRAPPED[name])
        match name:
            case "br":
                return "\n"
            case "a":
                return self._links.markdown(lines.words(self.inline(element, depth)), element.get("href", ""))
            case "ac:link":
                return self._link(element, depth)
            case "ac:image":
                return self._image(element, depth)
            case "ac:emoticon":
                return lines.sign(attribute(element, "ac:name"), attribute(element, "ac:emoji-fallback"))
            case "sup":
                return lines.raised(self.inline(element, depth))
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
                body = lines.words(self.inline(child, depth))
            elif name_of(child).startswith("ri:"):
                target = child
        return self._links.to_resource(
            body,
            kind=name_of(target) if target is not None else "",
            read=lambda name: attribute(target, name) if target is not None else "",
            anchor=attribute(element, "ac:anchor"),
        )

    def _image(self, element: Element, depth: int) -> str:
        """Writes what stands in for a picture: its caption and, where it says something else, its alternative text."""
        captions = (self.inline(child, depth) for child in element if name_of(child) == "ac:caption")
        caption = lines.words(next(captions, ""))
        alternative = description(attribute(element, "ac:alt") or attribute(element, "ac:title"))
        return " ".join(f"*{text}*" for text in dict.fromkeys((alternative, caption)) if text)


def _row_groups(table: Element, write: Callable[[Element], str]) -> list[html_tables.RowGroup]:
    """Reads the table's own rows, not those of tables within its cells. `write`: a cell's Markdown in one line."""
    return html_tables.in_groups(
        (part, kind, [_cell_of(cell, write) for cell in row if name_of(cell) in ("td", "th")])
        for part, kind, row in _rows(table)
    )


def _rows(table: Element) -> Iterator[tuple[Element, html_tables.GroupKind, Element]]:
    for part in table:
        if name_of(part) == "tr":
            yield table, "tbody", part
        elif kind := _GROUPS.get(name_of(part)):
            for row in part:
                if name_of(row) == "tr":
                    yield part, kind, row


def _cell_of(cell: Element, write: Callable[[Element], str]) -> html_tables.Cell:
    return html_tables.Cell(
        text=html_tables.cell_text(write(cell)),
        across=html_tables.span(str(cell.get("colspan", ""))),
        down=html_tables.span(str(cell.get("rowspan", "")), down=True),
        head=name_of(cell) == "th",
    )
