"""Splits number formats of ECMA-376 (part 1, 18.8.30 and 18.8.31) into sections, and those into pieces."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ingest.parsers.office.date_formats import Parts, date_letters, literals

GENERAL = "General"
_SHORT, _SHORT_WITH_TIME = "yyyy-mm-dd", "yyyy-mm-dd h:mm"
_LONG = "d mmmm yyyy"
BUILT_IN: Mapping[int, str] = {
    0: GENERAL, 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00",
    5: "$#,##0_);($#,##0)", 6: "$#,##0_);[Red]($#,##0)", 7: "$#,##0.00_);($#,##0.00)", 8: "$#,##0.00_);[Red]($#,##0.00)",
    9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
    14: _SHORT, 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss",
    22: _SHORT_WITH_TIME, **dict.fromkeys((*range(27, 32), 36, *range(50, 55), 57, 58), _SHORT),
    **dict.fromkeys((32, 34, 55), "h:mm"), **dict.fromkeys((33, 35, 56), "h:mm:ss"),
    37: "#,##0_);(#,##0)", 38: "#,##0_);[Red](#,##0)", 39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);[Red](#,##0.00)",
    41: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)', 42: '_($* #,##0_);_($* (#,##0);_($* "-"_);_(@_)',
    43: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)', 44: '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)',
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
    59: "0", 60: "0.00", 61: "#,##0", 62: "#,##0.00", 67: "0%", 68: "0.00%", 69: "# ?/?", 70: "# ??/??",
    **dict.fromkeys((71, 72), _SHORT), 73: "d-mmm-yy", 74: "d-mmm", 75: "mmm-yy", 76: "h:mm", 77: "h:mm:ss",
    78: _SHORT_WITH_TIME, 79: "mm:ss", 80: "[h]:mm:ss", 81: "mm:ss.0",
}  # fmt: skip
"""Formats that a file names by number alone."""

_PIECE = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_(?P<width>.)|\*(?P<fill>.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>General)|(?P<clock>AM/PM|A/P|上午/下午)|(?P<exponent>E[+-])|(?P<digit>[0#?])"
    r"|(?P<date>[yY]+|[mM]+|[dD]+|[hH]+|[sS]+|[eE]+|[gG]+|[aA]{3,4}|[bB]+)|(?P<text>@)|(?P<mark>[.,%/;])|(?P<other>.)",
    re.DOTALL | re.IGNORECASE,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?(?:\d+\.?\d*|\.\d+)(?:E[+-]?\d+)?)", re.IGNORECASE)
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
_SYSTEM_LONG, _SYSTEM_TIME = "[$-f800]", "[$-f400]"
SLASH = ("mark", "/")
PERCENT = ("mark", "%")
_POINTS = (("mark", "."), ("mark", ","))
_PLAIN_KINDS = frozenset({"digit", "mark", "quoted", "escaped", "width", "fill", "other"})
_PLAIN = re.compile(r"(?:(?P<grouped>#,##0)|0)(?:\.(?P<decimals>0+))?")


class Plain(NamedTuple):
    """A format of digits between words, as most are, which Python's own formatting writes 5 times faster."""

    before: str
    after: str
    spec: str
    places: int
    percent: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """`locale`: of a date, as the format has it. `condition`: such as (">=", 100)."""

    pieces: Parts
    condition: tuple[str, float] | None
    locale: str
    letters: Parts | None
    """The pieces of a date's format."""
    plain: Plain | None


@lru_cache(maxsize=1024)
def sections(code: str) -> tuple[Section, ...]:
    """Splits a format into sections: for numbers above zero, below it, zero and words, as many as there are; or each under its condition."""
    made: list[list[tuple[str, str]]] = [[]]
    for found in _PIECE.finditer(_of_the_system(code)):
        kind = found.lastgroup or "other"
        if kind == "mark" and found[0] == ";":
            made.append([])
        else:
            made[-1].append((kind, found[kind]))
    return tuple(map(_made, made[:4]))


def _of_the_system(code: str) -> str:
    """Replaces a code that means "as this computer writes dates"."""
    lower = code.lower()
    return _LONG if _SYSTEM_LONG in lower else "h:mm:ss" if _SYSTEM_TIME in lower else code or GENERAL


def _made(pieces: Sequence[tuple[str, str]]) -> Section:
    kept: list[tuple[str, str]] = []
    condition, locale = None, ""
    for kind, text in pieces:
        if kind != "bracket":
            kept.append((kind, text))
        elif found := _CONDITION.fullmatch(text):
            condition = (found[1], float(found[2]))
        elif _ELAPSED.fullmatch(text):
            kept.append(("elapsed", text.lower()))
        elif text.startswith("$"):
            symbol, _, language = text[1:].partition("-")
            locale = language or locale
            kept += [("quoted", symbol)] if symbol else []
    letters = date_letters(kept)
    plain = None if letters else _as_plain(kept)
    return Section(pieces=tuple(kept), condition=condition, locale=locale, letters=letters, plain=plain)


def _as_plain(pieces: Parts) -> Plain | None:
    """Recognizes "#,##0", "0" and decimals that are all shown, once in the format."""
    places = [
        index for index, (kind, text) in enumerate(pieces) if kind == "digit" or (kind, text) in _POINTS
    ]
    if not places or any(kind not in _PLAIN_KINDS for kind, _ in pieces):
        return None
    before, digits, after = (
        pieces[: places[0]], pieces[places[0] : places[-1] + 1], pieces[places[-1] + 1 :]
    )  # fmt: skip
    found = _PLAIN.fullmatch("".join(text for _, text in digits))
    others = [*before, *after]
    percents = others.count(PERCENT)
    if found is None or percents > 1 or SLASH in others:
        return None
    decimals = len(found["decimals"] or "")
    spec = f"{',' if found['grouped'] else ''}.{decimals}f"
    return Plain(literals(before), literals(after), spec, decimals, percents > 0)
