"""Lays out text as Slack blocks: cuts between paragraphs, list items and code lines, never inside a link or a fence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from bot.rendering.mrkdwn import Piece, as_mrkdwn, escape, fenced
from bot.rendering.tables import Rows, aligned, size_of, table_block

Block = dict[str, Any]

SECTION_CHARACTERS = 2900
"""Slack's limit is 3,000; the rest is for what it counts differently (emoji, entities)."""
TABLE_ROWS, TABLE_COLUMNS, TABLE_CHARACTERS = 100, 20, 3000
"""Slack draws one table a message, of at most these rows and columns. Larger or further ones are preformatted text."""
FENCE = "```"
_UNITS = re.compile(r"<[^<>]*>|`[^`\n]*`|\s+|&(?:amp|lt|gt);|[^\s<`&]+|.")


def mrkdwn(text: str) -> dict[str, Any]:
    """Returns a text object. Verbatim, so that Slack makes neither links nor mentions of what we escaped."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def label(text: str) -> dict[str, Any]:
    """Returns a text object for titles and controls, which show no markup."""
    return {"type": "plain_text", "text": text}


def button(action_id: str, text: str, value: str, *, meaning: str = "") -> dict[str, Any]:
    """Returns a button of an actions block. `meaning`: what a screen reader says, where it is not `text`."""
    return {
        "type": "button",
        "action_id": action_id,
        "value": value,
        "text": label(text) | {"emoji": True},
        "accessibility_label": meaning or text,
    }


def section(text: str) -> Block:
    return {"type": "section", "text": mrkdwn(text), "expand": True}


def context(text: str) -> Block:
    return {"type": "context", "elements": [mrkdwn(text)]}


def blocks_of(pieces: Sequence[Piece], *, budget: int) -> tuple[list[Block], bool]:
    """Returns the pieces as blocks, and whether any were left out to stay within `budget` characters."""
    blocks: list[Block] = []
    open_text = ""
    table_used = False
    for unit in _units(pieces):
        size = len(unit) if isinstance(unit, str) else size_of(unit.rows)
        budget -= size
        if budget < 0:
            return _closed(blocks, open_text), True
        if isinstance(unit, str):
            blocks, open_text = _packed(blocks, open_text, unit)
        elif table_used:
            for part in cut_lines(aligned(unit.rows).split("\n"), SECTION_CHARACTERS - 100):
                blocks, open_text = _packed(blocks, open_text, fenced(escape(part)))
        else:
            blocks, open_text, table_used = [*_closed(blocks, open_text), table_block(unit.rows)], "", True
    return _closed(blocks, open_text), False


def shorten(text: str, limit: int) -> str:
    """Returns the text, or as many whole words and whole links of it as fit, and an ellipsis."""
    return text if len(text) <= limit else f"{cut(text, limit - 1)[0].rstrip()}…"


def cut(text: str, limit: int) -> list[str]:
    """Cuts a text into parts of at most `limit` characters, at white space and never inside a link or inline code."""
    parts, current = [], ""
    for unit in _UNITS.findall(text):
        if len(current) + len(unit) > limit and current:
            parts.append(current.rstrip())
            current = ""
        while len(unit) > limit:  # a "word" longer than a section: nothing better to cut at
            parts.append(unit[:limit])
            unit = unit[limit:]
        current += unit if current else unit.lstrip()
    return [*parts, current] if current.strip() else parts


def _units(pieces: Iterable[Piece]) -> Iterable[str | Piece]:
    """Yields texts that fit a section block, and tables that fit a table block."""
    for piece in pieces:
        if piece.kind == "table" and fits_table_block(piece.rows):
            yield piece
        elif piece.kind in {"fence", "table"}:
            code = piece.text if piece.kind == "fence" else escape(aligned(piece.rows))
            yield from (fenced(part) for part in cut_lines(code.split("\n"), SECTION_CHARACTERS - 10))
        elif piece.kind in {"list", "quote"}:
            yield from cut_lines(piece.text.split("\n"), SECTION_CHARACTERS)
        else:
            yield from cut(as_mrkdwn(piece), SECTION_CHARACTERS)


def fits_table_block(rows: Rows) -> bool:
    fits = len(rows) <= TABLE_ROWS and len(rows[0]) <= TABLE_COLUMNS
    return fits and size_of(rows) <= TABLE_CHARACTERS


def cut_lines(lines: Iterable[str], limit: int) -> list[str]:
    """Cuts between lines. A fence that a cut would leave open is closed before it and opened again after it."""
    parts: list[str] = []
    current: list[str] = []
    for line in lines:
        for part in cut(line, limit) if len(line) > limit else [line]:
            if current and sum(len(kept) + 1 for kept in current) + len(part) + len(FENCE) > limit:
                fence_open = sum(kept.count(FENCE) for kept in current) % 2 == 1
                parts.append("\n".join([*current, FENCE] if fence_open else current))
                current = [FENCE] if fence_open else []
            current.append(part)
    return [*parts, "\n".join(current)] if current else parts


def _packed(blocks: list[Block], open_text: str, unit: str) -> tuple[list[Block], str]:
    if not open_text:
        return blocks, unit
    joined = f"{open_text}\n\n{unit}"
    if len(joined) <= SECTION_CHARACTERS:
        return blocks, joined
    return [*blocks, section(open_text)], unit


def _closed(blocks: list[Block], open_text: str) -> list[Block]:
    return [*blocks, section(open_text)] if open_text else blocks
