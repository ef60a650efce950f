"""What a reading of a document consists of: its words in order, numbers, dates, table cells and lines of code.

Both sides are brought to one form first, so that only what a reader would miss
counts: Unicode's compatible forms (NFKC: ligatures, full-width digits), case,
soft hyphens and other characters that nobody sees, underscores, kinds of dashes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import dedent

_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ufe0e\ufe0f]")
_DASHES = re.compile("[\u2010-\u2015\u2212]")
_APOSTROPHES = re.compile("[\u2018\u2019\u02bc]")
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Scripts that put no space between words: each character counts as one."""
_LEFTWARDS = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
"""Arabic and Hebrew: beside a Latin word, programs differ in the order of the two and in the space between them."""
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?=[{_LEFTWARDS}])[^\W_])+|(?:(?![{_UNSPACED}{_LEFTWARDS}])[^\W_])+")
_NUMBER = re.compile(r"(?<![^\W_])(?:[€$£¥] ?)?[-+]?\d+(?:[.,:/'-]\d+)*(?: ?[%‰€£])?(?![^\W_])")
_CELL_TOKEN = re.compile(rf"{_NUMBER.pattern}|{_WORD.pattern}")
_MONTH = r"[^\W\d_]{3,10}\.?"
_DATE = re.compile(
    rf"\b(?:\d{{4}}-\d\d?-\d\d?|\d\d?[./-]\d\d?[./-]\d\d(?:\d\d)?"
    rf"|\d\d?(?:\.|st|nd|rd|th|er)? (?:de )?{_MONTH},? (?:de )?(?:19|20)\d\d|{_MONTH} "
    rf"\d\d?(?:st|nd|rd|th)?, (?:19|20)\d\d)\b"
)
_BROKEN = re.compile(r"([^\W\d_]{2,})[-\u00ad\u2010] *\n\s*([^\W\d_]{2,})")
"""A word that goes on in the next line, or two words with a hyphen between them: nobody can tell from here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """`headers`: any of them may stand above it, of those of several rows; empty: its table names no headers."""

    headers: frozenset[str]
    value: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """`heads`: the headers of tables, each as often as it stands there. `marks`: the numbers of lists' items, which
    are text in one format and counted by the reader's program in another.

    `apart`: words that may be left out or kept (hidden text, menus, generators' tags): neither is a fault.

    `repeated`: words that may be told more often: those of a cell over several columns or rows.
    `broken`: pairs of words that stand in `words` one by one and may be one word that a line's end cut.
    """

    words: tuple[str, ...]
    numbers: tuple[str, ...]
    dates: tuple[str, ...]
    cells: tuple[Cell, ...] = ()
    heads: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    broken: tuple[tuple[str, str], ...] = ()


def reading_of(
    text: str,
    *,
    cells: Iterable[Cell] = (),
    heads: Iterable[str] = (),
    marks: Iterable[str] = (),
    code: Iterable[str] = (),
    apart: str = "",
    repeated: str = "",
) -> Reading:
    """Returns the reading of a text; `code`: blocks of it."""
    broken = tuple(
        (_folded(first), _folded(second))
        for first, second in _BROKEN.findall(unicodedata.normalize("NFKC", text))
    )
    folded = _folded(text)
    line = " ".join(folded.split())
    return Reading(
        words=tuple(_WORD.findall(folded)),
        numbers=tuple(found.replace(" ", "") for found in _NUMBER.findall(line)),
        dates=tuple(_DATE.findall(line)),
        cells=tuple(cells),
        heads=tuple(heads),
        marks=tuple(marks),
        code=tuple(line for block in code for line in code_lines(block)),
        apart=tuple(words_of(apart)),
        repeated=tuple(words_of(repeated)),
        broken=broken,
    )


def words_of(text: str) -> list[str]:
    return _WORD.findall(_folded(text))


def cell_text(text: str) -> str:
    """Returns what of a cell is compared: words and numbers, each of these whole."""
    return " ".join(token.replace(" ", "") for token in _CELL_TOKEN.findall(" ".join(_folded(text).split())))


def code_lines(block: str) -> Iterator[str]:
    """Yields the lines with their indentation as far as it differs within the block; empty ones say nothing."""
    for line in dedent(block.expandtabs(4)).splitlines():
        if line.strip():
            yield line.rstrip()


def _folded(text: str) -> str:
    text = unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).casefold()
    return _APOSTROPHES.sub("'", _DASHES.sub("-", text))
