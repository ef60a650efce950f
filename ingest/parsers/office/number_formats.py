"""A number of a spreadsheet as the reader sees it: by the cell's number format, as Excel's TEXT() would write it.

Format codes are those of ECMA-376 (part 1, 18.8.30 and 18.8.31). None of the Python packages that render them is both
kept up and complete. Where Excel goes by the computer that it runs on, this goes its own way: the short dates of the
system are written as ISO does (nobody can mistake 2026-03-04), decimals have points and thousands commas, and a whole
number without a format keeps its digits where a narrow column would show 1.23E+11.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from itertools import pairwise

from ingest.parsers.office.date_formats import Parts, literal, shown_date
from ingest.parsers.office.format_codes import PERCENT, SLASH, Plain, Section, sections

_TESTS = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b, "=": lambda a, b: a == b, "<>": lambda a, b: a != b,
}  # fmt: skip
_DIVISOR = re.compile(r"[0-9#? ]")
_GENERAL_WIDTH = 11
"""Characters of a number without a format, before Excel rounds it."""
_SURE_DIGITS = 15
_WIDE = Context(prec=400)
"""For the largest number that a file can hold."""


def shown_number(value: float, code: str, *, since_1904: bool = False) -> str:
    """`value` is what the file holds: a count, a share, or days since the epoch. Empty where the format hides it."""
    section, is_negative_section = _section(value, code)
    if section is None:
        return general(value)
    if section.letters is not None:
        shown = shown_date(value, section.letters, since_1904=since_1904, language=section.locale)
        return general(value) if shown is None else _tidy(shown)
    amount = abs(value) if is_negative_section else value
    return _plain(amount, section.plain) if section.plain else _tidy(_number(amount, section.pieces))


def shown_text(text: str, code: str) -> str:
    """Words under a format: of its section for text, if it has one (`0;-0;0;"staff: "@`)."""
    parts = sections(code)
    section = parts[3] if len(parts) > 3 else parts[-1]
    has_place = any(kind == "text" for kind, _ in section.pieces)
    if not has_place:
        return "" if len(parts) > 3 else text
    return _tidy("".join(text if kind == "text" else literal(kind, of) for kind, of in section.pieces))


def general(value: float) -> str:
    """A number without a format."""
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
    """What formats the number, and whether that is only for numbers below zero, whose sign it writes itself."""
    parts = sections(code)
    if len(parts) > 1 and any(kind == "text" for kind, _ in parts[-1].pieces):
        parts = parts[:-1]
    if parts[0].condition is None and (len(parts) < 2 or parts[1].condition is None):
        if len(parts) == 1 or value > 0:
            return parts[0], False
        if value < 0:
            return parts[1], True
        return parts[2 if len(parts) > 2 else 0], False
    for at, section in enumerate(parts[:2]):
        sign, than = section.condition or ((">", 0.0) if at == 0 else ("<", 0.0))
        last = at == len(parts) - 1 and section.condition is None
        if last or _TESTS[sign](value, than):
            return section, value < 0 and sign in ("<", "<=") and than <= 0
    return (parts[2], False) if len(parts) > 2 else (None, False)


def _plain(value: float, how: Plain) -> str:
    amount = _rounded(_exact(value) * (100 if how.percent else 1), how.places)
    sign = "-" if value < 0 else ""
    return _tidy(f"{sign}{how.before}{abs(amount):{how.spec}}{how.after}")


def _number(value: float, pieces: Parts) -> str:
    kinds = [kind for kind, _ in pieces]
    if "general" in kinds or ("digit" not in kinds and "text" in kinds):
        return "".join(general(value) if k in ("general", "text") else literal(k, t) for k, t in pieces)
    if "digit" not in kinds:
        written = "".join(literal(*piece) for piece in pieces)
        return f"-{written}" if value < 0 and written.strip() else written
    amount = _exact(value) * 100 ** sum(piece == PERCENT for piece in pieces)
    sign = "-" if amount < 0 else ""
    if "exponent" in kinds:
        return sign + _scientific(abs(amount), pieces)
    if shown := _fraction(abs(amount), pieces):
        return sign + shown
    return sign + _decimal(abs(amount), pieces)


def _decimal(amount: Decimal, pieces: Parts) -> str:
    places = [at for at, (kind, _) in enumerate(pieces) if kind == "digit"]
    point = next((at for at, piece in enumerate(pieces) if piece == ("mark", ".")), len(pieces))
    whole = [at for at in places if at < point]
    decimals = [at for at in places if at > point]
    commas = [at for at, piece in enumerate(pieces) if piece == ("mark", ",") and places and at > places[0]]
    last = whole[-1] if whole else point
    amount /= 1000 ** sum(1 for at in commas if at > last and (at < point or at > places[-1]))
    grouped = any(at < last for at in commas)
    rounded = _rounded(amount, len(decimals))
    before, _, after = f"{rounded:f}".partition(".")
    written = dict(zip(decimals, _trimmed(after, [pieces[at][1] for at in decimals]), strict=False))
    written |= _spread("" if before == "0" else before, whole, pieces, grouped=grouped)
    return "".join(
        written.get(at, "") if kind == "digit" else ("" if at in commas else literal(kind, text))
        for at, (kind, text) in enumerate(pieces)
    )


def _trimmed(digits: str, places: Sequence[str]) -> list[str]:
    """Decimals without the zeros at their end for which the format keeps no place."""
    kept = list(digits)
    for at in range(len(kept) - 1, -1, -1):
        if kept[at] != "0" or places[at] == "0":
            break
        kept[at] = " " if places[at] == "?" else ""
    return kept


def _spread(digits: str, places: Sequence[int], pieces: Parts, *, grouped: bool) -> dict[int, str]:
    """Digits over the places before the point, from the right; what is left over goes to the first place."""
    written: dict[int, str] = {}
    rest = digits
    count = 0
    for at in reversed(places):
        taken = rest if at == places[0] else rest[-1:]
        rest = rest[: len(rest) - len(taken)]
        if not taken:
            taken = {"0": "0", "?": " "}.get(pieces[at][1], "")
        shown = ""
        for digit in reversed(taken):
            comma = "," if grouped and count and count % 3 == 0 and digit != " " else ""
            shown = f"{digit}{comma}{shown}"
            count += 1
        written[at] = shown
    return written


def _scientific(amount: Decimal, pieces: Parts) -> str:
    """Writes scientific notation. With several places before the point the power is a multiple ("##0.0E+0")."""
    split = next(at for at, (kind, _) in enumerate(pieces) if kind == "exponent")
    head, tail = pieces[:split], pieces[split + 1 :]
    point = next((at for at, piece in enumerate(head) if piece == ("mark", ".")), len(head))
    step = max(1, sum(kind == "digit" for kind, _ in head[:point]))
    decimals = sum(kind == "digit" for kind, _ in head[point:])
    power = amount.adjusted() // step * step if amount else 0
    if _rounded(amount.scaleb(-power), decimals) >= Decimal(10) ** step:
        power += step
    mantissa = _decimal(amount.scaleb(-power), head)
    sign = "-" if power < 0 else "+" if pieces[split][1].endswith("+") else ""
    return f"{mantissa}E{sign}{_decimal(Decimal(abs(power)), tail)}"


def _fraction(amount: Decimal, pieces: Parts) -> str:
    """Empty where the format is none of a fraction. "# ?/8" names what to divide by, "# ??/??" how long it may be."""
    slash = pieces.index(SLASH) if SLASH in pieces else 0
    before = [at for at, (kind, _) in enumerate(pieces[:slash]) if kind == "digit"]
    end = slash + 1
    while end < len(pieces) and _DIVISOR.fullmatch(pieces[end][1]) and pieces[end][0] in ("digit", "other"):
        end += 1
    below = "".join(text for _, text in pieces[slash + 1 : end]).strip()
    if not before or not below:
        return ""
    gaps = [after for one, after in pairwise(before) if after > one + 1]
    first = gaps[-1] if gaps else before[0]
    whole, over, under = _shares(amount, below, apart=bool(gaps))
    head = "".join(literal(*piece) for piece in pieces[:first])
    if gaps:
        head = _decimal(Decimal(whole), pieces[:first])
        if not over:
            return head.strip() or "0"
    return f"{head}{over}/{under}{''.join(literal(*piece) for piece in pieces[end:])}"


def _shares(amount: Decimal, below: str, *, apart: bool) -> tuple[int, int, int]:
    """The whole part, where it stands apart, and the fraction nearest to the rest."""
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
    """As Excel sees it: 15 digits."""
    return Decimal(f"{value:.{_SURE_DIGITS}g}")


def _rounded(amount: Decimal, places: int) -> Decimal:
    return amount.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _WIDE)


def _tidy(shown: str) -> str:
    return " ".join(shown.split())
