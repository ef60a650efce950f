"""Writes a number of a spreadsheet as the reader sees it: by the cell's number format, as Excel's TEXT() would.

Format codes are those of ECMA-376 (part 1, 18.8.30 and 18.8.31). No Python package that renders them is both maintained
and complete. Where Excel follows the computer that it runs on, this is fixed: the system's short dates are ISO dates
(nobody can mistake 2026-03-04), decimals have points and thousands commas, and a whole number without a format keeps
its digits where a narrow column would show 1.23E+11.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from itertools import pairwise

from ingest.parsers.office.date_formats import Parts, literal, literals, shown_date
from ingest.parsers.office.format_codes import PERCENT, SLASH, Plain, Section, sections

_POINT = ("mark", ".")
_TESTS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "<>": operator.ne,
}  # fmt: skip
_DIVISOR = re.compile(r"[0-9#? ]")
_GENERAL_WIDTH = 11
"""Characters of a number without a format, before Excel rounds it."""
_SURE_DIGITS = 15
_WIDE = Context(prec=400)
"""Enough digits for the largest number that a file can hold."""


def shown_number(value: float, code: str, *, since_1904: bool = False) -> str:
    """Writes a number; empty where the format hides it. `value`: as in the file: a count, a share, or days since the
    epoch.
    """
    section, is_negative_section = _section(value, code)
    if section is None:
        return general(value)
    if section.letters is not None:
        shown = shown_date(value, section.letters, since_1904=since_1904, language=section.locale)
        return general(value) if shown is None else _tidy(shown)
    amount = abs(value) if is_negative_section else value
    return _plain(amount, section.plain) if section.plain else _tidy(_number(amount, section.pieces))


def shown_text(text: str, code: str) -> str:
    """Writes words by a format's section for text, if it has one (`0;-0;0;"staff: "@`)."""
    parts = sections(code)
    section = parts[3] if len(parts) > 3 else parts[-1]
    has_place = any(kind == "text" for kind, _ in section.pieces)
    if not has_place:
        return "" if len(parts) > 3 else text
    return _tidy("".join(text if kind == "text" else literal(kind, of) for kind, of in section.pieces))


def general(value: float) -> str:
    """Writes a number without a format."""
    if value == int(value) and abs(value) < 10**_SURE_DIGITS:
        return str(int(value))
    exact = _exact(value)
    plain, size = f"{exact:f}", exact.adjusted()
    if len(plain) <= _GENERAL_WIDTH + (value < 0):
        return plain
    if -5 < size < _GENERAL_WIDTH:
        return f"{_rounded(exact, max(0, _GENERAL_WIDTH - 2 - max(size, 0))):f}".rstrip("0").rstrip(".")
    digits, _, power = f"{exact:.5E}".partition("E")
    return f"{digits.rstrip('0').rstrip('.')}E{power[0]}{power[1:].zfill(2)}"


def _section(value: float, code: str) -> tuple[Section | None, bool]:
    """Chooses the section for a number. Tells whether it is only for negative numbers and so writes the sign itself."""
    parts = sections(code)
    if len(parts) > 1 and any(kind == "text" for kind, _ in parts[-1].pieces):
        parts = parts[:-1]
    if parts[0].condition is None and (len(parts) < 2 or parts[1].condition is None):
        if len(parts) == 1 or value > 0:
            return parts[0], False
        if value < 0:
            return parts[1], True
        return parts[2 if len(parts) > 2 else 0], False
    for index, section in enumerate(parts[:2]):
        sign, bound = section.condition or ((">", 0.0) if index == 0 else ("<", 0.0))
        is_last = index == len(parts) - 1 and section.condition is None
        if is_last or _TESTS[sign](value, bound):
            return section, value < 0 and sign in ("<", "<=") and bound <= 0
    return (parts[2], False) if len(parts) > 2 else (None, False)


def _plain(value: float, form: Plain) -> str:
    amount = _rounded(_exact(value) * (100 if form.percent else 1), form.places)
    sign = "-" if value < 0 else ""
    return _tidy(f"{sign}{form.before}{abs(amount):{form.spec}}{form.after}")


def _number(value: float, pieces: Parts) -> str:
    kinds = [kind for kind, _ in pieces]
    if "general" in kinds or ("digit" not in kinds and "text" in kinds):
        return "".join(general(value) if k in ("general", "text") else literal(k, t) for k, t in pieces)
    if "digit" not in kinds:
        written = literals(pieces)
        return f"-{written}" if value < 0 and written.strip() else written
    amount = _exact(value) * 100 ** sum(piece == PERCENT for piece in pieces)
    sign = "-" if amount < 0 else ""
    if "exponent" in kinds:
        return sign + _scientific(abs(amount), pieces)
    if shown := _fraction(abs(amount), pieces):
        return sign + shown
    return sign + _decimal(abs(amount), pieces)


def _decimal(amount: Decimal, pieces: Parts) -> str:
    places = _places(pieces)
    point = _point(pieces)
    whole = [place for place in places if place < point]
    decimals = [place for place in places if place > point]
    commas = [i for i, piece in enumerate(pieces) if piece == ("mark", ",") and places and i > places[0]]
    last = whole[-1] if whole else point
    amount /= 1000 ** sum(comma > last and (comma < point or comma > places[-1]) for comma in commas)
    grouped = any(comma < last for comma in commas)
    before, _, after = f"{_rounded(amount, len(decimals)):f}".partition(".")
    written = dict(zip(decimals, _trimmed(after, [pieces[place][1] for place in decimals]), strict=False))
    written |= _spread("" if before == "0" else before, whole, pieces, grouped=grouped)
    return "".join(
        written.get(index, "") if kind == "digit" else ("" if index in commas else literal(kind, text))
        for index, (kind, text) in enumerate(pieces)
    )


def _places(pieces: Parts) -> list[int]:
    return [index for index, (kind, _) in enumerate(pieces) if kind == "digit"]


def _point(pieces: Parts) -> int:
    """Returns the index of the decimal point; the end where there is none."""
    return pieces.index(_POINT) if _POINT in pieces else len(pieces)


def _trimmed(digits: str, places: Sequence[str]) -> list[str]:
    """Drops the zeros at the end of decimals for which the format keeps no place."""
    kept = list(digits)
    for index in reversed(range(len(kept))):
        if kept[index] != "0" or places[index] == "0":
            break
        kept[index] = " " if places[index] == "?" else ""
    return kept


def _spread(digits: str, places: Sequence[int], pieces: Parts, *, grouped: bool) -> dict[int, str]:
    """Puts digits in the places before the point, from the right; the first place takes all that are left."""
    written: dict[int, str] = {}
    rest = digits
    count = 0
    for place in reversed(places):
        taken = rest if place == places[0] else rest[-1:]
        rest = rest[: len(rest) - len(taken)]
        if not taken:
            taken = {"0": "0", "?": " "}.get(pieces[place][1], "")
        shown = ""
        for digit in reversed(taken):
            comma = "," if grouped and count and count % 3 == 0 and digit != " " else ""
            shown = f"{digit}{comma}{shown}"
            count += 1
        written[place] = shown
    return written


def _scientific(amount: Decimal, pieces: Parts) -> str:
    """Writes scientific notation. With several places before the point the power is a multiple ("##0.0E+0")."""
    split = next(index for index, (kind, _) in enumerate(pieces) if kind == "exponent")
    head, tail = pieces[:split], pieces[split + 1 :]
    point = _point(head)
    step = max(1, len(_places(head[:point])))
    decimals = len(_places(head[point:]))
    power = amount.adjusted() // step * step if amount else 0
    if _rounded(amount.scaleb(-power), decimals) >= Decimal(10) ** step:
        power += step
    mantissa = _decimal(amount.scaleb(-power), head)
    sign = "-" if power < 0 else "+" if pieces[split][1].endswith("+") else ""
    return f"{mantissa}E{sign}{_decimal(Decimal(abs(power)), tail)}"


def _fraction(amount: Decimal, pieces: Parts) -> str:
    """Writes a fraction; empty where the format has none. "# ?/8" gives the divisor, "# ??/??" its number of digits."""
    slash = pieces.index(SLASH) if SLASH in pieces else 0
    before = _places(pieces[:slash])
    end = slash + 1
    while end < len(pieces) and _DIVISOR.fullmatch(pieces[end][1]) and pieces[end][0] in ("digit", "other"):
        end += 1
    below = "".join(text for _, text in pieces[slash + 1 : end]).strip()
    if not before or not below:
        return ""
    gaps = [place for previous, place in pairwise(before) if place > previous + 1]
    first = gaps[-1] if gaps else before[0]
    whole, over, under = _mixed_number(amount, below, apart=bool(gaps))
    head = literals(pieces[:first])
    if gaps:
        head = _decimal(Decimal(whole), pieces[:first])
        if not over:
            return head.strip() or "0"
    return f"{head}{over}/{under}{literals(pieces[end:])}"


def _mixed_number(amount: Decimal, below: str, *, apart: bool) -> tuple[int, int, int]:
    """Returns the whole part, where it is written apart, and the fraction nearest to the rest."""
    whole = int(amount) if apart else 0
    rest = Fraction(amount) - whole
    if below.isdigit() and int(below):
        under = int(below)
        over = int(rest * under + Fraction(1, 2))
    else:
        near = rest.limit_denominator(10 ** len(below) - 1)
        over, under = near.numerator, near.denominator
    return (whole + 1, 0, under) if apart and over == under else (whole, over, under)


def _exact(value: float) -> Decimal:
    """Rounds to 15 digits, as Excel does."""
    return Decimal(f"{value:.{_SURE_DIGITS}g}")


def _rounded(amount: Decimal, places: int) -> Decimal:
    return amount.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _WIDE)


def _tidy(shown: str) -> str:
    return " ".join(shown.split())
