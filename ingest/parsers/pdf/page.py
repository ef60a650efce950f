"""A page of a PDF as Markdown: the converter's, but for tables that it has not read row by row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from itertools import pairwise
from typing import Any

from ingest.parsers.grids import is_figure, table
from ingest.parsers.pdf.tables import GAP, WRAPPED, Line, PlacedTable, Rule, Word, placed_tables, text_lines

_THIN = 2.5
"""Points. A shape that is no higher is a line."""
_EVEN = 1.2
"""How much further apart than the closest two lines others may be, where all are set alike."""
_WIDE_GAP = re.compile(r"\S {3,}\S")
_FEWEST_GAPS = 3
"""Between words of a page's lines, as the converter lays them out: a
page without has no table, which saves half of the time.
"""
_WORD = re.compile(r"[^\W_]+")
_MARKS = re.compile(r"^#+ |[*_]", re.MULTILINE)
_TEXT = frozenset({"paragraph", "table", "rule", "figure"})
"""What the converter may take parts of a table for. A list or code that looks like a table is left to it."""


def page_markdown(page: Any) -> tuple[str, bool]:
    """`page`: liteparse's, with blocks and vector graphics. True: a table on it cannot be read, its lines are kept."""
    converted, blocks = page.markdown or "", page.blocks or []
    if len(_WIDE_GAP.findall(page.text)) < _FEWEST_GAPS:
        return converted, False
    words = _words(page)
    placed = [
        made
        for made in placed_tables(words, _rules(page))
        if _is_alone(made, words) and _is_misread(made, blocks, words)
    ]
    left = [one for one in blocks if one.kind == "table" and not any(_meets(one, made) for made in placed)]
    torn = [one for one in left if _is_torn(one, words)]
    if not placed and not torn:
        return converted, False
    written = "\n\n".join(_pieces(blocks, placed, torn, words, converted))
    if _all_words(converted) - _all_words(written):
        return converted, False
    return written, bool(torn)


def _all_words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text))


def with_headers_of_pages_before(pages: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Page numbers and their Markdown. A table that goes on from the page before has its header there as well."""
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
    """Drops words that stand upright or askew. What the converter has in one piece, but for wide gaps, stays so."""
    found = []
    for item in page.text_items:
        if item.rotation or not item.text.strip():
            continue
        words, room = item.words, GAP * item.height
        if any(after.x - before.x - before.width > room for before, after in pairwise(words)):
            found += [Word(one.text, one.x, one.x + one.width, one.y, one.y + one.height) for one in words]
        else:
            found.append(Word(item.text.strip(), item.x, item.x + item.width, item.y, item.y + item.height))
    return found


def _rules(page: Any) -> list[Rule]:
    drawn = page.vector_graphics
    if drawn is None:
        return []
    rules = [
        Rule(min(one.x1, one.x2), max(one.x1, one.x2), (one.y1 + one.y2) / 2)
        for one in drawn.lines
        if abs(one.y1 - one.y2) < _THIN
    ]
    boxes = (one.bbox for one in drawn.shapes)
    return rules + [Rule(x, x + width, y + height / 2) for x, y, width, height in boxes if height < _THIN]


def _is_alone(made: PlacedTable, words: Sequence[Word]) -> bool:
    """Whether nothing else stands beside it."""
    return all(_holds(made, one) for one in words if made.top < (one.top + one.bottom) / 2 < made.bottom)


def _is_misread(made: PlacedTable, blocks: Sequence[Any], words: Sequence[Word]) -> bool:
    """Whether the converter has cells of several of its rows in one, or no table there at all."""
    meeting = [one for one in blocks if _meets(one, made)]
    if not all(one.kind in _TEXT or _names_columns(one, made) for one in meeting):
        return False
    tables = [one for one in meeting if one.kind == "table"]
    if any(not _holds(made, word) for one in tables for word in _within(one, words)):
        return False
    rows = [row for one in tables for row in _filled(one)]
    outside = [one for one in meeting if one.kind != "table" and _within(one, words)]
    return not rows or bool(outside) or _joins(rows, made)


def _names_columns(block: Any, made: PlacedTable) -> bool:
    """Whether it is a heading that the converter has made of the bold names of columns."""
    return block.kind == "heading" and _bare(block.text or "") == " ".join(made.rows[0])


def _joins(rows: Sequence[Sequence[str]], made: PlacedTable) -> bool:
    """Whether a cell holds what stands in two of the table's, beside or below each other."""
    cells = {cell for row in made.rows for cell in row}
    beside = [pair for row in made.rows for pair in pairwise(filter(None, row))]
    below = [pair for one, other in pairwise(made.rows) for pair in zip(one, other, strict=True) if all(pair)]
    joined = {" ".join(pair) for pair in (*beside, *below)} - cells
    return any(_holds_any(cell, joined) for row in rows for cell in row)


def _holds_any(cell: str, joined: Set[str]) -> bool:
    return cell in joined or any(f" {one} " in f" {cell} " for one in joined)


def _filled(block: Any) -> list[list[str]]:
    """Its rows without columns that are empty in all of them."""
    rows = [[" ".join(cell.text.split()) for cell in row] for row in (block.header or [], *block.rows) if row]
    used = [at for at in range(max(map(len, rows))) if any(at < len(row) and row[at] for row in rows)]
    return [[row[at] if at < len(row) else "" for at in used] for row in rows]


def _meets(block: Any, made: PlacedTable) -> bool:
    box = block.bbox
    return (
        box is not None
        and box.y < made.bottom - 1 and box.y + box.height > made.top + 1
        and box.x < made.right and box.x + box.width > made.left
    )  # fmt: skip


def _is_torn(block: Any, words: Sequence[Word]) -> bool:
    """Whether its rows are fewer than its lines, which are set evenly and too far apart to be of one cell."""
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
        if box.x - 1 <= (word.left + word.right) / 2 <= box.x + box.width + 1
        and box.y - 1 <= (word.top + word.bottom) / 2 <= box.y + box.height + 1
    ]


def _pieces(
    blocks: Sequence[Any], placed: Sequence[PlacedTable], torn: Sequence[Any], words: Sequence[Word], converted: str,
) -> Iterator[str]:  # fmt: skip
    """The blocks in their order, each table where the first of those stands that the converter made of it."""
    waiting = list(placed)
    apart = [one for one in blocks if not any(_meets(one, made) for made in placed)]
    chunks = {_bare(chunk): chunk for chunk in converted.split("\n\n")}
    kept = {word for one in apart for word in _within(one, words)}
    for block in blocks:
        met = [made for made in placed if _meets(block, made)]
        if any(block is one for one in torn):
            yield from map(_joined, text_lines(_within(block, words)))
        elif not met:
            yield chunks.get(_bare(block.text or ""), "") or _rendered(block)
        for made in met:
            if made in waiting:
                waiting.remove(made)
                yield from _with_what_is_around(
                    made, blocks, placed, [one for one in words if one not in kept]
                )


def _with_what_is_around(
    made: PlacedTable, blocks: Sequence[Any], placed: Sequence[PlacedTable], words: Sequence[Word]
) -> Iterator[str]:
    """The table between the lines that the converter has in one block with parts of it."""
    around = {word for one in blocks if _meets(one, made) for word in _within(one, words)}
    free = [word for word in around if not any(_holds(one, word) for one in placed)]
    above = [word for word in free if word.bottom <= made.top + 1]
    yield from _paragraphs(text_lines(above))
    yield table([[cell.replace("|", "\\|") for cell in row] for row in made.rows])
    yield from _paragraphs(text_lines([word for word in free if word not in above]))


def _holds(made: PlacedTable, word: Word) -> bool:
    middle = (word.top + word.bottom) / 2
    return made.top <= middle <= made.bottom and made.left <= (word.left + word.right) / 2 <= made.right


def _paragraphs(lines: Sequence[Line]) -> Iterator[str]:
    """Lines that are set close are one paragraph."""
    told: list[str] = []
    for at, line in enumerate(lines):
        if told and line.middle - lines[at - 1].middle > WRAPPED * line.height:
            yield " ".join(told)
            told = []
        told.append(_joined(line))
    if told:
        yield " ".join(told)


def _joined(line: Line) -> str:
    return " ".join(cell.text for cell in line.segments)


def _bare(chunk: str) -> str:
    """Words without the marks of headings and of what is set in bold or italics."""
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
