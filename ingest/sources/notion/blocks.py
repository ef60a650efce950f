"""Notion's blocks as Markdown: first read as a tree, then written."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.sources.notion.connection import Connection, NotionError
from ingest.sources.notion.text import plain_text, rich_text

_DEEPEST = 30
_MOST_BLOCKS = 20_000
"""Of one page: at 100 blocks and a third of a second a request, more than a minute."""
_LEAVES = frozenset({"child_page", "child_database", "link_to_page", "unsupported"})
_HEADINGS = {"heading_1": 2, "heading_2": 3, "heading_3": 4, "heading_4": 5}
"""One level below the page's title."""
_ITEMS = {"bulleted_list_item": "- ", "numbered_list_item": "1. ", "to_do": "- [ ] ", "toggle": "- "}
_FILES = frozenset({"image", "video", "audio", "file", "pdf", "bookmark", "embed", "link_preview"})
_SILENT = frozenset({"divider", "table_of_contents", "breadcrumb", "unsupported"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """`held`: what the API says under the block's kind."""

    id: str
    kind: str
    held: Mapping[str, Any]
    children: tuple[Block, ...] = ()


class BlockReader:
    """Reads the blocks of one page, with those within them, and the originals of synced ones."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._left = _MOST_BLOCKS
        self._open: set[str] = set()

    async def read(self, block_id: str, depth: int = 0) -> tuple[Block, ...]:
        """
        Raises:
            NotionError: they cannot be read.
        """
        return tuple([block async for block in self._children(block_id, depth)])

    async def _children(self, block_id: str, depth: int) -> AsyncIterator[Block]:
        call = self._connection.client.blocks.children.list
        async for found in self._connection.all(call, block_id=block_id):
            self._left -= 1
            if self._left < 0 or found.get("in_trash") or found.get("archived"):
                continue
            kind = str(found.get("type", ""))
            held = found.get(kind) or {}
            children: tuple[Block, ...] = ()
            if depth < _DEEPEST and kind not in _LEAVES:
                children = await self._within(found, kind, held, depth)
            yield Block(id=str(found["id"]), kind=kind, held=held, children=children)

    async def _within(
        self, found: Mapping[str, Any], kind: str, held: Mapping[str, Any], depth: int
    ) -> tuple[Block, ...]:
        original = (held.get("synced_from") or {}).get("block_id") if kind == "synced_block" else None
        source = str(original or found["id"])
        if not (original or found.get("has_children")) or source in self._open:
            return ()
        self._open.add(source)
        try:
            return await self.read(source, depth + 1)
        except NotionError as error:
            if original and error.status in (403, 404):
                return ()  # the original is on a page that the integration may not see
            raise
        finally:
            self._open.discard(source)


def blocks_to_markdown(blocks: Sequence[Block]) -> str:
    return "\n\n".join(_written(blocks))


def _written(blocks: Sequence[Block]) -> Iterator[str]:
    """Blocks of Markdown; the items of one list are one block."""
    items: list[str] = []
    number = 0
    for block in blocks:
        if block.kind in _ITEMS:
            number = number + 1 if block.kind == "numbered_list_item" else 0
            items.append(_item(block, number))
            continue
        if items:
            yield "\n".join(items)
        items, number = [], 0
        yield from filter(str.strip, _block(block))
    if items:
        yield "\n".join(items)


def _block(block: Block) -> Iterator[str]:
    held, text = block.held, rich_text(block.held.get("rich_text") or [])
    within = "\n\n".join(_written(block.children))
    match block.kind:
        case kind if kind in _HEADINGS:
            if text.strip():
                yield f"{'#' * _HEADINGS[kind]} {' '.join(text.split())} {{#{block.id.replace('-', '')}}}"
            yield within
        case "quote" | "callout":
            yield _quoted("\n\n".join(filter(None, (text, within))))
        case "code":
            yield _code(plain_text(held.get("rich_text") or []), str(held.get("language", "")))
            yield rich_text(held.get("caption") or [])
        case "equation":
            yield f"$${held.get('expression', '')}$$"
        case "table":
            yield _table(block)
        case "child_page" | "child_database":
            yield f"[{held.get('title', '')}](https://www.notion.so/{block.id.replace('-', '')})"
        case kind if kind in _FILES:
            yield _file(held)
        case kind if kind in _SILENT:
            return
        case _:
            yield text
            yield within


def _item(block: Block, number: int) -> str:
    marker = _ITEMS[block.kind]
    if block.kind == "numbered_list_item":
        marker = f"{number}. "
    elif block.kind == "to_do" and block.held.get("checked"):
        marker = "- [x] "
    pad = " " * (len(marker) if number else 2)
    lines = [marker + rich_text(block.held.get("rich_text") or []).replace("\n", "\n" + pad)]
    for inner in _written(block.children):
        gap = "" if inner.startswith(("- ", "1. ")) else "\n"
        lines.append(gap + "\n".join(pad + line if line else line for line in inner.split("\n")))
    return "\n".join(lines)


def _table(block: Block) -> str:
    rows = [
        [" ".join(rich_text(cell).split()).replace("|", "\\|") for cell in row.held.get("cells", [])]
        for row in block.children
        if row.kind == "table_row"
    ]
    if not rows:
        return ""
    width = max(map(len, rows))
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])


def _file(held: Mapping[str, Any]) -> str:
    """A caption; a link where it leads to a page of the web. Notion's own files have addresses of an hour."""
    caption = rich_text(held.get("caption") or [])
    url = held.get("url")
    if url and not caption:
        return f"<{url}>" if str(url).startswith("http") else ""
    return f"[{caption}]({url})" if url and "](" not in caption else caption


def _code(code: str, language: str) -> str:
    fence = "```" if "```" not in code else "`````"
    return (
        f"{fence}{'' if language == 'plain text' else language.split(' ')[0]}\n{code}\n{fence}"
        if code.strip()
        else ""
    )


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n")) if text.strip() else ""
