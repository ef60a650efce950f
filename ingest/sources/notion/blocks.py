"""Notion's blocks as Markdown: first read as a tree, then written."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.parsers.grids import table
from ingest.sources.markup import fenced, linked, literal, prose, quoted
from ingest.sources.notion.connection import REFUSED, Connection, NotionError
from ingest.sources.notion.family import PageNames
from ingest.sources.notion.missing import Missing
from ingest.sources.notion.text import plain_text, rich_text

_DEEPEST = 30
_MOST_BLOCKS = 20_000
"""Blocks of one page: at 100 blocks and a third of a second a request, more than a minute."""
_LEAVES = frozenset({"child_page", "child_database", "link_to_page", "unsupported"})
_HEADINGS = {"heading_1": 2, "heading_2": 3, "heading_3": 4, "heading_4": 5}
"""One level below the page's title."""
_ITEMS = {"bulleted_list_item": "- ", "numbered_list_item": "1. ", "to_do": "- [ ] ", "toggle": "- "}
_ATTACHED = frozenset({"video", "audio", "file", "pdf"})
_FILES = frozenset({"image", "bookmark", "embed", "link_preview"}) | _ATTACHED
_SILENT = frozenset({"divider", "table_of_contents", "breadcrumb", "unsupported"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """`held`: what the API says under the block's kind."""

    id: str
    kind: str
    held: Mapping[str, Any]
    children: tuple[Block, ...] = ()


class BlockReader:
    """Reads the blocks of one page, with those within them, the originals of synced ones and titles of linked pages.

    What Notion refuses within the page is left out and told to `missing`.
    """

    def __init__(self, connection: Connection, names: PageNames, missing: Missing) -> None:
        self._connection = connection
        self._names = names
        self._missing = missing
        self._left = _MOST_BLOCKS
        self._open: set[str] = set()

    async def read(self, page_id: str) -> tuple[Block, ...]:
        """Reads the blocks of a page.

        Raises:
            NotionError: the page cannot be read, or Notion cannot be asked.
        """
        return tuple([block async for block in self._children(page_id, 0)])

    async def _children(self, block_id: str, depth: int) -> AsyncIterator[Block]:
        call = self._connection.client.blocks.children.list
        async for found in self._connection.all(call, block_id=block_id):
            self._left -= 1
            if found.get("in_trash") or found.get("archived"):
                continue
            kind = str(found.get("type", ""))
            if self._left < 0:
                self._missing.cut = True
                return
            held = found.get(kind) or {}
            children: tuple[Block, ...] = ()
            if kind == "unsupported":
                self._missing.block(kind)
            elif kind == "link_to_page":
                held = await self._linked(held)
            elif kind not in _LEAVES:
                children = await self._within(found, kind, held, depth)
            yield Block(id=str(found["id"]), kind=kind, held=held, children=children)

    async def _within(
        self, found: Mapping[str, Any], kind: str, held: Mapping[str, Any], depth: int
    ) -> tuple[Block, ...]:
        original = (held.get("synced_from") or {}).get("block_id") if kind == "synced_block" else None
        source = str(original or found["id"])
        if not (original or found.get("has_children")) or source in self._open:
            return ()
        if depth >= _DEEPEST:
            self._missing.cut = True
            return ()
        self._open.add(source)
        read: list[Block] = []
        try:
            async for block in self._children(source, depth + 1):
                read.append(block)  # noqa: PERF401 - what came before a refusal is kept
        except NotionError as error:
            if error.status not in REFUSED:
                raise
            self._missing.block(kind, error.status)
        finally:
            self._open.discard(source)
        return tuple(read)

    async def _linked(self, held: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the link with the title and the id of its target; as it is where that is not for the readers."""
        kind = str(held.get("type", ""))
        target = held.get(kind)
        if kind not in ("page_id", "database_id") or not target:
            return held
        title = await self._names.of(str(target), self._missing, database=kind == "database_id")
        return {"title": title, "target": str(target)} if title else held


def blocks_to_markdown(blocks: Sequence[Block]) -> str:
    return "\n\n".join(_written(blocks))


def _written(blocks: Sequence[Block]) -> Iterator[str]:
    """Yields blocks of Markdown; the items of one list are one block."""
    items: list[str] = []
    number = 0
    for block in blocks:
        if block.kind in _ITEMS:
            number = _number(block, number) if block.kind == "numbered_list_item" else 0
            items.append(_item(block, number))
            continue
        if items:
            yield "\n".join(items)
        items, number = [], 0
        yield from filter(str.strip, _block(block))
    if items:
        yield "\n".join(items)


def _number(block: Block, before: int) -> int:
    """Returns an item's number: a list may be made to start anywhere."""
    start = block.held.get("list_start_index")
    return start if not before and isinstance(start, int) and start >= 0 else before + 1


def _block(block: Block) -> Iterator[str]:
    held, text = block.held, _text(block.held)
    within = "\n\n".join(_written(block.children))
    match block.kind:
        case kind if kind in _HEADINGS:
            if text.strip():
                yield f"{'#' * _HEADINGS[kind]} {' '.join(text.split())} {{#{block.id.replace('-', '')}}}"
            yield within
        case "quote" | "callout":
            emoji = str((held.get("icon") or {}).get("emoji") or "")
            parts = [" ".join(filter(None, (emoji, prose(text)))), within]
            yield quoted([part for part in parts if part.strip()])
        case "code":
            yield _code(plain_text(held.get("rich_text") or []), str(held.get("language", "")))
            yield prose(rich_text(held.get("caption") or []))
        case "equation":
            yield f"$${held.get('expression', '')}$$"
        case "table":
            yield _table(block)
        case "child_page" | "child_database":
            yield _link(str(held.get("title", "")), block.id)
        case "link_to_page":
            yield _link(str(held.get("title", "")), str(held.get("target", "")))
        case kind if kind in _FILES:
            yield _file(block)
        case kind if kind in _SILENT:
            return
        case _:
            yield prose(text)
            yield within


def _text(held: Mapping[str, Any]) -> str:
    """Returns a block's own words. Kinds that are newer than this may call them their title."""
    pieces = held.get("rich_text") or held.get("title") or []
    return rich_text(pieces) if isinstance(pieces, list) else ""


def _link(title: str, object_id: str) -> str:
    return f"[{literal(title)}](https://www.notion.so/{object_id.replace('-', '')})" if title else ""


def _item(block: Block, number: int) -> str:
    marker = _ITEMS[block.kind]
    if block.kind == "numbered_list_item":
        marker = f"{number}. "
    elif block.kind == "to_do" and block.held.get("checked"):
        marker = "- [x] "
    pad = " " * (len(marker) if number else 2)
    lines = [marker + prose(_text(block.held)).replace("\n", "\n" + pad)]
    for inner in _written(block.children):
        gap = "" if inner.startswith(("- ", "1. ")) else "\n"
        lines.append(gap + "\n".join(pad + line if line else line for line in inner.split("\n")))
    return "\n".join(lines)


def _table(block: Block) -> str:
    """Writes a table. An empty row is the header of one without: its first row names no column."""
    rows = [
        [" ".join(rich_text(cell or []).split()).replace("|", "\\|") for cell in row.held.get("cells") or []]
        for row in block.children
        if row.kind == "table_row"
    ]
    if rows and block.held.get("has_column_header") is False:
        rows.insert(0, [])
    return table(rows) if rows else ""


def _file(block: Block) -> str:
    """Writes a caption, or the name of what is attached; a link where it leads to a page of the web.

    Notion's own files have addresses of an hour.
    """
    held, caption = block.held, prose(rich_text(block.held.get("caption") or []))
    name = str(held.get("name") or "")
    attached = f"Attached: {literal(name)}" if name and block.kind in _ATTACHED and name != caption else ""
    url = str(held.get("url") or "")
    if block.kind in _ATTACHED and not attached:
        url = url or str((held.get("external") or {}).get("url") or "")
    if url and not caption:
        return f"<{url}>" if url.startswith("http") else ""
    shown = linked(caption, url) if url and "](" not in caption else caption
    return "\n\n".join(filter(None, (attached, shown)))


def _code(code: str, language: str) -> str:
    return fenced(code, "" if language == "plain text" else language.split(" ")[0]) if code.strip() else ""
