"""Writes a page of a PDF as Markdown: the converter's, but for tables that it has not read row by row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import Any

from ingest.parsers.grids import is_figure, table
from ingest.parsers.pdf.tables import GAP, WRAPPED, Line, PlacedTable, Rule, Word, placed_tables, text_lines

_THIN = 2.5
"""Maximum height of a line, in points; higher shapes are boxes."""
_EVEN = 1.2
"""Maximum ratio of the widest to the closest line spacing in text that is set evenly."""
_WORD = re.compile(r"[^\W_]+")
_MARKS = re.compile(r"^#+ |[*_]", re.MULTILINE)
_TEXT = frozenset({"paragraph", "table", "rule", "figure"})
"""Kinds of blocks that the converter may make of parts of a table. A list or code that looks like a table stays."""


def page_markdown(page: Any) -> tuple[str, bool]:
    """Writes a page. Tells whether a table on it cannot be read, whose lines are kept.

    `page`: liteparse's, with blocks and vector graphics.
    """
    converted, blocks = page.markdown or "", page.blocks or []
    words = _words(page)
    placed = [
        made
        for made in placed_tables(words, _rules(page))
        if _is_alone(made, words) and _is_misread(made, blocks, words)
    ]
    torn = [
        block
        for block in blocks
        if block.kind == "table" and not _meets_any(block, placed) and _is_torn(block, words)
    ]
    if not placed and not torn:
        return converted, False
    written = "\n\n".join(_pieces(blocks, placed, torn, words, converted))
    if _all_words(converted) - _all_words(written):
        return converted, False
    return written, bool(torn)


def _all_words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text))


def with_headers_of_pages_before(pages: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Repeats the header of a table on each page on which it continues. `pages`: their numbers and Markdown."""
    made: list[tuple[int, str]] = []
    for number, text in pages:
        before = made[-1][1].split("\n\n")[-1].split("\n") if made else []
        lines = text.split("\n")
        if _starts_with_table(before) and _starts_with_table(lines) and _cells(before[0]) != _cells(lines[0]):
            names, first = _cells(before[0]), _cells(lines[0])
            if len(names) == len(first) and any(map(is_figure, first)) and not any(map(is_figure, names)):
                lines[:2] = [before[0], lines[1], lines[0]]
        made.append((number, "\n".join(lines)))
    return made


def _starts_with_table(lines: Sequence[str]) -> bool:
    """Whether the lines begin with a table's header and the rule under it."""
    return len(lines) > 1 and lines[0].startswith("|") and not lines[1].strip("|-: ")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _words(page: Any) -> list[Word]:
    """Returns the words of a page, without rotated ones. The converter's pieces stay whole, but for wide gaps."""
    pieces: list[Any] = []
    for item in page.text_items:
        if not item.rotation and item.text.strip():
            room = GAP * item.height
            has_gap = any(after.x - before.x - before.width > room for before, after in pairwise(item.words))
            pieces += item.words if has_gap else [item]
    return [
        Word(piece.text.strip(), piece.x, piece.x + piece.width, piece.y, piece.y + piece.height)
        for piece in pieces
    ]


def _rules(page: Any) -> list[Rule]:
    graphics = page.vector_graphics
    if graphics is None:
        return []
    rules = [
        Rule(min(line.x1, line.x2), max(line.x1, line.x2), (line.y1 + line.y2) / 2)
        for line in graphics.lines
        if abs(line.y1 - line.y2) < _THIN
    ]
    boxes = (shape.bbox for shape in graphics.shapes)
    return rules + [Rule(x, x + width, y + height / 2) for x, y, width, height in boxes if height < _THIN]


def _is_alone(made: PlacedTable, words: Sequence[Word]) -> bool:
    """Whether there are no other words beside a table."""
    return all(_holds(made, word) for word in words if made.top < word.middle < made.bottom)


def _is_misread(made: PlacedTable, blocks: Sequence[Any], words: Sequence[Word]) -> bool:
    """Whether the converter has cells of several of its rows in one, or no table there at all."""
    meeting = [block for block in blocks if _meets(block, made)]
    if not all(block.kind in _TEXT or _names_columns(block, made) for block in meeting):
        return False
    tables = [block for block in meeting if block.kind == "table"]
    if any(not _holds(made, word) for block in tables for word in _within(block, words)):
        return False
    rows = [row for block in tables for row in _filled(block)]
    has_text_outside = any(block.kind != "table" and _within(block, words) for block in meeting)
    return not rows or has_text_outside or _joins(rows, made)


def _names_columns(block: Any, made: PlacedTable) -> bool:
    """Whether a block is a heading that the converter has made of the bold names of columns."""
    return block.kind == "heading" and _bare(block.text or "") == " ".join(made.rows[0])


def _joins(rows: Sequence[Sequence[str]], made: PlacedTable) -> bool:
    """Whether a cell of `rows` holds the text of two of the table's cells, beside or below each other."""
    cells = {cell for row in made.rows for cell in row}
    beside = [pair for row in made.rows for pair in pairwise(filter(None, row))]
    below = [
        pair
        for row, following in pairwise(made.rows)
        for pair in zip(row, following, strict=True)
        if all(pair)
    ]
    joined = {" ".join(pair) for pair in (*beside, *below)} - cells
    return any(f" {text} " in f" {cell} " for row in rows for cell in row for text in joined)


def _filled(block: Any) -> list[list[str]]:
    """Returns the rows of a table without its empty columns."""
    rows = [[" ".join(cell.text.split()) for cell in row] for row in (block.header or [], *block.rows) if row]
    columns = [column for column in zip_longest(*rows, fillvalue="") if any(column)]
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in rows]


def _meets(block: Any, made: PlacedTable) -> bool:
    box = block.bbox
    return (
        box is not None
        and box.y < made.bottom - 1 and box.y + box.height > made.top + 1
        and box.x < made.right and box.x + box.width > made.left
    )  # fmt: skip


def _meets_any(block: Any, placed: Sequence[PlacedTable]) -> bool:
    return any(_meets(block, made) for made in placed)


def _is_torn(block: Any, words: Sequence[Word]) -> bool:
    """Whether a table has fewer rows than lines, which are set evenly and too far apart to be of one cell."""
    lines = text_lines(_within(block, words))
    steps = [below.middle - above.middle for above, below in pairwise(lines)]
    if len(lines) <= len(_filled(block)) or not steps:
        return False
    return max(steps) <= _EVEN * min(steps) and min(steps) > WRAPPED * lines[0].height


def _within(block: Any, words: Sequence[Word]) -> list[Word]:
    box = block.bbox
    if box is None:
        return []
    return [
        word
        for word in words
        if box.x - 1 <= word.center <= box.x + box.width + 1
        and box.y - 1 <= word.middle <= box.y + box.height + 1
    ]


def _pieces(
    blocks: Sequence[Any], placed: Sequence[PlacedTable], torn: Sequence[Any], words: Sequence[Word], converted: str,
) -> Iterator[str]:  # fmt: skip
    """Yields the blocks in their order, each table in the place of the first block that the converter made of it."""
    waiting = list(placed)
    chunks = {_bare(chunk): chunk for chunk in converted.split("\n\n")}
    kept = {word for block in blocks if not _meets_any(block, placed) for word in _within(block, words)}
    free = [word for word in words if word not in kept]
    for block in blocks:
        met = [made for made in placed if _meets(block, made)]
        if any(block is table_block for table_block in torn):
            yield from map(_joined, text_lines(_within(block, words)))
        elif not met:
            yield chunks.get(_bare(block.text or ""), "") or _rendered(block)
        for made in met:
            if made in waiting:
                waiting.remove(made)
                yield from _with_surroundings(made, blocks, placed, free)


def _with_surroundings(
    made: PlacedTable, blocks: Sequence[Any], placed: Sequence[PlacedTable], words: Sequence[Word]
) -> Iterator[str]:
    """Yields a table between the lines that the converter has in one block with parts of it."""
    around = {word for block in blocks if _meets(block, made) for word in _within(block, words)}
    free = [word for word in around if not any(_holds(other, word) for other in placed)]
    above = [word for word in free if word.bottom <= made.top + 1]
    yield from _paragraphs(text_lines(above))
    yield table([[cell.replace("|", "\\|") for cell in row] for row in made.rows])
    yield from _paragraphs(text_lines([word for word in free if word not in above]))


def _holds(made: PlacedTable, word: Word) -> bool:
    return made.top <= word.middle <= made.bottom and made.left <= word.center <= made.right


def _paragraphs(lines: Sequence[Line]) -> Iterator[str]:
    """Joins lines that are set close to paragraphs."""
    paragraph: list[str] = []
    for index, line in enumerate(lines):
        if paragraph and line.middle - lines[index - 1].middle > WRAPPED * line.height:
            yield " ".join(paragraph)
            paragraph = []
        paragraph.append(_joined(line))
    if paragraph:
        yield " ".join(paragraph)


def _joined(line: Line) -> str:
    return " ".join(cell.text for cell in line.segments)


def _bare(chunk: str) -> str:
    """Drops the marks of headings, bold and italics."""
    return " ".join(_MARKS.sub("", chunk).split())


def _rendered(block: Any) -> str:
    match block.kind:
        case "heading":
            return f"{'#' * (block.level or 1)} {block.text}"
        case "list_item":
            return f"{'  ' * (block.level or 0)}{block.marker or '-'} {block.text}"
        case "code" | "grid_fallback":
            return "\n".join([f"```{block.lang or ''}", *(block.lines or []), "```"])
        case "table":
            return table([[cell.replace("|", "\\|") for cell in row] for row in _filled(block)])
        case _:
            return block.text or ""
