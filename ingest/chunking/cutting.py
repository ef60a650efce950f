"""Cuts text into pieces that fit, where a reader would, in time proportional to the text.

A tokenizer never gets more than some thousand characters at once: the beginning of a far too long text tells enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from textwrap import dedent

from ingest.page import Block
from kb.spelled_out import spelled_out

CountTokens = Callable[[str], int]
"""The embedder's own count for one text, with or without special tokens."""
SizeOf = Callable[[str], int]
"""Tokens that a piece takes in a chunk."""

CHARACTERS_A_TOKEN = 64
"""Characters that count as a token at least, whatever a tokenizer says: for some, a word of a megabyte is one token."""
UNKNOWN_WORD = 100
"""Tokens by which the beginning of a text may have more than the whole: a word that is cut there may be known."""
TABLE_TOKENS = 96
"""Most tokens of the rows that share a chunk, some three rows: among ten others a row is not what an embedder hears."""
REMEMBERED = 2048
"""Size of the cache of counts: a piece is measured when it is cut and again, soon after, when it is packed."""

_PARAGRAPHS = re.compile(r"(?<=\n)\s*\n+")
_SENTENCES = re.compile(r"(?<=[.!?…])(?<![ (]\w\.)\s+|(?<=[。！？।])")
_LINES = re.compile(r"(?<=\n)")
_WORDS = re.compile(r"(?<=\s)(?=\S)")
_CUTS = (_PARAGRAPHS, _SENTENCES, _LINES, _WORDS)
"""The places to cut a text, best first; a cut drops no character. Lines come late: many authors break them at a width,
in the middle of a sentence.
"""
_QUOTATION_CUTS = (_PARAGRAPHS, _LINES, _SENTENCES, _WORDS)
"""Every line of a quotation has its own mark."""
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_INDENT = re.compile(r"[ \t]*")
_ITEMS = re.compile(rf"(?<=\n)(?={_ITEM.pattern})")


class Measure:
    """Counts tokens so that counts add up: without the special tokens around each text. For one page.

    Rows of tables are counted as they are embedded, with the names of their columns.
    """

    def __init__(self, count_tokens: CountTokens, max_tokens: int) -> None:
        self.max_tokens = max_tokens
        self._count = lru_cache(maxsize=REMEMBERED)(lambda text: count_tokens(spelled_out(text)))
        self._special = count_tokens("")
        self._longest = max_tokens * CHARACTERS_A_TOKEN
        self._beginning = 2 * max_tokens
        self._too_many = max_tokens + UNKNOWN_WORD

    def whole(self, text: str) -> int:
        """Counts the tokens of a whole text; above `max_tokens` where the text is too long to be counted."""
        at_least = len(text) // CHARACTERS_A_TOKEN
        return at_least if len(text) > self._longest else max(at_least, self._count(text))

    def part(self, text: str) -> int:
        """Counts the tokens that a text adds to a chunk."""
        return self.whole(text) - self._special

    def fits(self, text: str, room: int) -> bool:
        """Whether `part` is at most `room`; counts only the beginning of a text that is far too long."""
        if len(text) > self._longest:
            return False
        far = len(text) > 2 * self._beginning
        return not (far and self._count(text[: self._beginning]) > self._too_many) and self.part(text) <= room


def pieces_of(block: Block, room: int, measure: Measure) -> Iterator[str]:
    """Cuts a block into texts of at most `room` tokens, each of which stands alone."""
    is_table = block.kind == "table"
    together = min(room, TABLE_TOKENS) if is_table else room
    if measure.fits(block.text, together):
        yield block.text
        return
    if block.lead and not measure.fits(block.lead, room // 3):  # too long to be repeated: it goes first, once
        yield from _cut(block.lead, room, measure)
        block = replace(block, lead="")
    inner = max(1, room - measure.part(block.lead) - measure.part(block.tail))
    cut = _cut_item if block.kind == "list" else _cut
    parts = (piece for part in block.parts for piece in cut(part, inner, measure))
    if is_table:
        groups = packed(parts, "\n", together, lambda row: measure.part(block.joined((row,))))
    else:
        groups = packed(parts, "\n", inner, measure.part)
    for text in groups:
        yield block.joined((text.rstrip() if block.kind != "code" else text,))


def _cut_item(item: str, room: int, measure: Measure) -> list[str]:
    """Cuts a list's item, where it does not fit, between its paragraphs and the items in it.

    A piece from within it starts with the lines that it is nested in, where those leave it two thirds of the room.
    """
    if measure.fits(item, room):
        return [item]
    pieces: list[str] = []
    held, filled, position = "", 0, 0
    nesting = _Nesting(item)
    for unit in _units_of_item(item, room - room // 3, measure):
        size = measure.part(unit)
        if held and filled + size > room:
            pieces.append(held)
            held = nesting.around(position, room // 3, measure)
            filled = measure.part(held) if held else 0
        held, filled, position = held + unit, filled + size, position + len(unit)
    return [dedent(piece).rstrip() for piece in (*pieces, held)]


def _units_of_item(item: str, room: int, measure: Measure) -> Iterator[str]:
    for paragraph in _units(item, _PARAGRAPHS):
        if measure.fits(paragraph, room):
            yield paragraph
        else:
            for entry in _units(paragraph, _ITEMS):
                yield from _cut(entry, room, measure)


class _Nesting:
    """Tells what the positions in a list's item are nested in. Positions must be asked for in ascending order."""

    def __init__(self, item: str) -> None:
        self._item = item
        self._looked = self._line = self._read = 0
        self._open: list[tuple[int, list[str]]] = []
        """The open items: indents, each deeper than the one before, and first lines, with those of a wrapped paragraph.
        """
        self._wrapped = False

    def around(self, position: int, room: int, measure: Measure) -> str:
        """Returns the first lines of the items around `position`, from the outermost that leaves room."""
        self._read_to(position)
        depth = self._indent(self._item, self._line)
        around = ""
        for indent, lines in reversed(self._open):
            if indent >= depth:
                continue
            wider = "".join(f"{line}\n" for line in lines) + around
            if not measure.fits(wider, room):
                break
            around = wider
        return around

    def _read_to(self, position: int) -> None:
        found = self._item.rfind("\n", self._looked, position)
        self._looked, self._line = position, found + 1 if found >= 0 else self._line
        for line in self._item[self._read : self._line].splitlines():
            if _ITEM.match(line):
                indent = self._indent(line)
                while self._open and self._open[-1][0] >= indent:
                    self._open.pop()
                self._open.append((indent, [line]))
                self._wrapped = True
            elif self._wrapped and line.strip():
                self._open[-1][1].append(line)
            else:
                self._wrapped = False
        self._read = self._line

    @staticmethod
    def _indent(text: str, start: int = 0) -> int:
        found = _INDENT.match(text, start)
        return found.end() - start if found else 0


def _cut(text: str, room: int, measure: Measure) -> list[str]:
    """Cuts a text, where it does not fit, at the best places that make every piece fit."""
    if len(text) < 2 or measure.fits(text, room):
        return [text]
    for cut in _QUOTATION_CUTS if text.startswith(">") else _CUTS:
        units = [unit for unit in _units(text, cut) if unit]
        if len(units) > 1:
            fitting = (piece for unit in units for piece in _cut(unit, room, measure))
            return packed(fitting, "", room, measure.part)
    middle = len(text) // 2
    return [*_cut(text[:middle], room, measure), *_cut(text[middle:], room, measure)]


def _units(text: str, cut: re.Pattern[str]) -> Iterator[str]:
    """Splits a text into units that, joined, are the text again: white space at a cut stays with the unit before."""
    start = 0
    for found in cut.finditer(text):
        yield text[start : found.end()]
        start = found.end()
    yield text[start:]


def packed(pieces: Iterable[str], joint: str, room: int, size_of: SizeOf) -> list[str]:
    """Joins neighbours while they fit."""
    groups: list[list[str]] = []
    filled = 0
    for piece in pieces:
        size = size_of(piece)
        if not groups or filled + size > room:
            groups.append([])
            filled = 0
        groups[-1].append(piece)
        filled += size
    return [joint.join(group) for group in groups]
