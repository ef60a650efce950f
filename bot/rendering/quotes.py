"""Renders quotes of pages: a header, the page's blocks beside a bar, and a quiet line where rows or items are missing.

The best sentence is bold. Slack draws it from rich text, where a style is a field: no mark in the text can break it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from bot.messages.catalog import Messages
from bot.rendering.layout import TABLE_ROWS, Block, context, fits_table_block, section
from bot.rendering.markdown import commonmark
from bot.rendering.mrkdwn import as_mrkdwn, escape, to_pieces
from bot.rendering.quote_headers import header_markdown, header_mrkdwn, header_spans
from bot.rendering.rich_text import quote_elements, rich_text, section_element
from bot.rendering.styled_text import Line, Span, cut_spans, lines_of, with_best
from bot.rendering.tables import Cell, size_of, table_block
from kb.answer import Quote
from kb.marked import closed_fence

QUOTE_CHARACTERS = 2900
"""Most characters of a quote with addresses. Quotes are about 600; the rest is for a table that is shown whole."""
QUOTES = 6
"""Most quotes of a message: two for each of three parts. Each makes at most five blocks of Slack's 50."""
PART_CHARACTERS = 200
_ITEM_MARK = re.compile(r"^(?:[-*+]|\d{1,9}[.)])\s+")


@dataclass(frozen=True, kw_only=True, slots=True)
class QuoteBlocks:
    """Quotes as blocks and as mrkdwn. `cut`: something had to be left out to stay within Slack's limits."""

    blocks: tuple[Block, ...] = ()
    text: str = ""
    cut: bool = False


def quote_blocks(
    quotes: Sequence[Quote], messages: Messages, *, budget: int, closest: bool = False
) -> QuoteBlocks:
    """Renders the quotes. `closest`: a sentence before leads them in."""
    blocks: list[Block] = []
    texts: list[str] = []
    cut = len(quotes) > QUOTES
    for heading, quote in _with_headings(quotes[:QUOTES]):
        if heading:
            blocks.append(section(heading))
            texts.append(heading)
        fitted = _fitted(quote, budget=min(budget, QUOTE_CHARACTERS))
        budget -= sum(_size(line) for line in fitted.lines)
        cut = cut or fitted.cut
        table_used = any(block["type"] == "table" for block in blocks)
        head = header_spans(quote.citation, messages, says=not closest)
        blocks.extend(_blocks(head, fitted.lines, table_used=table_used))
        quiet = quiet_line(fitted.quote, messages)
        blocks.extend([context(quiet)] if quiet else [])
        texts.extend([header_mrkdwn(quote.citation, messages, says=not closest), _as_text(quote), quiet])
    return QuoteBlocks(blocks=tuple(blocks), text="\n".join(filter(None, texts)), cut=cut)


def quote_markdown(quotes: Sequence[Quote], messages: Messages, *, closest: bool = False) -> str:
    """Returns the quotes as Markdown, for a terminal or an API."""
    parts: list[str] = []
    for heading, quote in _with_headings(quotes):
        head = header_markdown(quote.citation, messages, says=not closest)
        quoted = "\n".join(f"> {line}" if line else ">" for line in _marked(quote).split("\n"))
        parts += [heading, head, quoted, quiet_line(quote, messages)]
    return "\n\n".join(filter(None, parts))


def _with_headings(quotes: Sequence[Quote]) -> Iterator[tuple[str, Quote]]:
    """Yields each quote with a heading where a new part of the question begins, else with ""."""
    part = ""
    for quote in quotes:
        begins = quote.part not in ("", part)
        part = quote.part or part
        yield f"_{escape(shorten_part(part))}_" if begins else "", quote


def shorten_part(part: str) -> str:
    """Returns a question of a question in several parts, on one line."""
    line = " ".join(part.split())
    return line if len(line) <= PART_CHARACTERS else f"{line[: PART_CHARACTERS - 1].rsplit(' ', 1)[0]}…"


def quiet_line(quote: Quote, messages: Messages) -> str:
    """Returns what is missing of a table or list; "" where all of it is shown."""
    if quote.shown == quote.total:
        return ""
    has_table = any(line.kind == "table" for block in quote.blocks for line in lines_of(block))
    template = messages.rows_shown if has_table else messages.items_shown
    return template.format(shown=messages.number(quote.shown), total=messages.number(quote.total))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Fitted:
    """A quote's lines within a budget. `quote` counts the rows that are left of a table."""

    quote: Quote
    lines: tuple[Line, ...]
    cut: bool


def _fitted(quote: Quote, *, budget: int) -> _Fitted:
    lines: list[Line] = []
    cut = False
    for line in with_best([line for block in quote.blocks for line in lines_of(block)], quote.best):
        fit = _fit(line, budget)
        if fit is not None:
            lines.append(fit)
            budget -= _size(fit)
            if fit.kind == "table" and len(fit.rows) < len(line.rows):
                total = quote.total or len(line.rows) - 1
                quote = replace(quote, shown=len(fit.rows) - 1, total=total)
        if fit != line:
            cut = True
            break
    return _Fitted(quote=quote, lines=tuple(lines), cut=cut)


def _fit(line: Line, budget: int) -> Line | None:
    """Returns as much of the line as there is room for; None where that is nothing worth showing."""
    if _size(line) <= budget and len(line.rows) <= TABLE_ROWS:
        return line
    if line.kind == "table":
        kept = 0
        for row in line.rows[:TABLE_ROWS]:
            budget -= size_of([row])
            if budget < 0:
                break
            kept += 1
        return replace(line, rows=line.rows[:kept]) if kept > 1 else None
    return replace(line, spans=tuple(cut_spans(line.spans, budget))) if budget > 40 else None


def _size(line: Line) -> int:
    return size_of(line.rows) + sum(len(span.text) + len(span.url) + 1 for span in line.spans)


def _blocks(head: Sequence[Span], lines: Sequence[Line], *, table_used: bool) -> list[Block]:
    """Returns the head and the lines as rich text, around the one table block that Slack takes of a message."""
    blocks: list[Block] = []
    elements = [section_element(head)]
    for is_table, run in groupby(lines, key=lambda line: line.kind == "table"):
        for part in [[line] for line in run] if is_table else [list(run)]:
            if is_table and not table_used and fits_table_block(part[0].rows):
                blocks.extend([*([rich_text(elements)] if elements else []), table_block(part[0].rows)])
                elements, table_used = [], True
            else:
                elements.extend(quote_elements(_as_list(part[0]) if is_table else part))
    return [*blocks, rich_text(elements)] if elements else blocks


def _as_list(line: Line) -> list[Line]:
    """Returns a further table as a list, a row an item: columns of a fixed width would wrap in a thread."""
    header, *rows = line.rows
    return [
        Line(kind="text", spans=tuple(replace(span, italic=True) for span in _in_a_row(header))),
        *(Line(kind="item", spans=tuple(_in_a_row(row))) for row in rows),
    ]


def _in_a_row(row: Sequence[Cell]) -> Iterator[Span]:
    for index, cell in enumerate(row):
        if index:
            yield Span(text=" · ")
        parts = [(text, url) for text, url in cell.parts if text]
        yield from (Span(text=text, url=url) for text, url in parts or [("–", "")])


def _as_text(quote: Quote) -> str:
    """Returns the quote as mrkdwn, for notifications and for clients without blocks. Code stands beside no bar."""
    parts = []
    for piece in (piece for block in quote.blocks for piece in to_pieces(closed_fence(block))):
        text = as_mrkdwn(piece)
        fenced = piece.kind in ("fence", "table", "quote")
        parts.append(text if fenced else "\n".join(f"> {line}" for line in text.split("\n")))
    return "\n".join(parts)


def _marked(quote: Quote) -> str:
    """Returns the blocks as Markdown, the best sentence in bold where that leaves every other word as it was."""
    text = "\n\n".join(closed_fence(block.strip("\n")) for block in quote.blocks)
    best = _ITEM_MARK.sub("", quote.best.strip()).strip()
    if not best or best not in text:
        return text
    before, _, after = text.partition(best)
    bolder = f"{before}**{best}**{after}"
    plain_lines, bold_lines = lines_of(text, read=commonmark), lines_of(bolder, read=commonmark)
    same_words = [_unstyled(line) for line in plain_lines] == [_unstyled(line) for line in bold_lines]
    wanted = _bold(with_best(plain_lines, best))
    return bolder if same_words and _bold(plain_lines) != wanted == _bold(bold_lines) else text


def _unstyled(line: Line) -> tuple[str, str, tuple[tuple[Cell, ...], ...]]:
    return line.kind, line.text, line.rows


def _bold(lines: Sequence[Line]) -> str:
    return "".join(span.text for line in lines for span in line.spans if span.bold)
