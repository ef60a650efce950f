"""Steps in a series: what comes after Day 6, before Phase C, what the second one is.

An item is a unit with a number, a letter or a roman numeral ("Day 6", "Phase C", "Part IV"), a weekday, a month, a
quarter ("Q3 2025"), a version ("v2") or an ordinal ("the second week").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from kb.text.lexicon import Lexicon, any_of, words_of
from kb.text.lexicon import lexicon as lexicon_of

Kind = Literal["number", "letter", "roman", "weekday", "month", "quarter", "version", "ordinal", "year"]

_ROMANS = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV")
_QUARTER = re.compile(r"(?<!\w)Q([1-4])(?:([ /-])((?:19|20)\d\d))?(?!\w)", re.IGNORECASE)
_VERSION = re.compile(r"(?<!\w)(v|version )(\d+)(?:\.(\d+))?(?!\w|\.\d)", re.IGNORECASE)
_COUNTED = re.compile(r"(?<!\w)([^\W\d_]{2,})( )(\d{1,4}|[A-Za-z]|[IVXivx]{2,5})(?![\w%]|[.,]\d)")
_YEAR = re.compile(r"(?<![\w.,])(?:19|20)\d\d(?![\w%]|[.,]\d)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """A member of a series as it stands in a text, at `span`. `place` counts from 1 (letters: A = 1)."""

    text: str
    kind: Kind
    unit: str
    place: int
    span: tuple[int, int] = (0, 0)

    @property
    def exact(self) -> bool:
        """Whether pages write it just so. A weekday may stand in "Monday to Friday", a second step as "2."."""
        return self.kind not in ("weekday", "month", "ordinal")

    def same_series(self, other: Item) -> bool:
        return self.kind == other.kind and self.unit == other.unit


@dataclass(frozen=True, kw_only=True, slots=True)
class SeriesStep:
    """A move in a series that a question asks for, at `span` of its text.

    `by` counts from the item that the thread is at; `to` is a place of its own (-1: the last).
    """

    by: int = 0
    to: int | None = None
    unit: str = ""
    span: tuple[int, int] = (0, 0)


def items_in(text: str, lexicon: Lexicon) -> list[Item]:
    """Finds every item of a series in a text, in the order of the text; of two that overlap the first, longer one."""
    items = [
        *(
            _item(match, "quarter", int(match[1]) + 4 * int(match[3] or 0))
            for match in _QUARTER.finditer(text)
        ),
        *(_item(match, "version", int(match[3] or match[2])) for match in _VERSION.finditer(text)),
        *_counted(text, lexicon),
        *_named(text, lexicon),
        *(_item(match, "year", int(match.group())) for match in _YEAR.finditer(text)),
    ]
    apart: list[Item] = []
    for item in sorted(items, key=lambda item: (item.span[0], -item.span[1])):
        if not apart or item.span[0] >= apart[-1].span[1]:
            apart.append(item)
    return apart


def step_in(question: str, lexicon: Lexicon) -> SeriesStep | None:
    """Returns the step that a question asks for ("the one before", "how about next", "the second one"), or None."""
    patterns = _patterns(lexicon.language)
    for pattern, sign in patterns.moves:
        match = pattern.search(question)
        if match and _is_step(match, question, lexicon):
            groups = match.groupdict()
            by = _count(groups.get("count"), lexicon) * sign
            return SeriesStep(by=by, unit=_unit(groups.get("unit"), lexicon), span=match.span())
    match = patterns.place.search(question)
    if match is None:
        return None
    place = patterns.places[match["place"].casefold()]
    return SeriesStep(to=place, unit=_unit(match["unit"], lexicon), span=match.span())


def resolve(step: SeriesStep, item: Item, lexicon: Lexicon, *, mentioned: Sequence[Item] = ()) -> Item | None:
    """Returns the item that a step leads to from `item`, or None where the series has none (before Day 1).

    `mentioned` are the items of the thread: the last of a series is the furthest of them.
    """
    if step.to == -1:
        series = [other for other in mentioned if other.same_series(item)]
        return max(series, key=lambda other: other.place, default=None)
    place = item.place + step.by if step.to is None else step.to
    text = _render(item, place, lexicon)
    return replace(item, text=text, place=place) if text else None


def _item(match: re.Match[str], kind: Kind, place: int, unit: str = "") -> Item:
    return Item(text=match.group(), kind=kind, unit=unit or kind, place=place, span=match.span())


def _counted(text: str, lexicon: Lexicon) -> list[Item]:
    """Finds units with a number, a letter or a roman numeral: "Day 6", "Phase C", "Part IV"."""
    items = []
    for match in _COUNTED.finditer(text):
        word, number = match[1], match[3]
        unit = _unit(word, lexicon)
        if unit not in lexicon.sequence.units:
            capital = number.isupper() or word[0].isupper()
            if not (capital and lexicon.is_content(word)) or (number.isalpha() and not number.isupper()):
                continue
        kind, place = _numeral(number)
        if kind is not None and word.casefold() not in lexicon.sequence.months:
            items.append(_item(match, kind, place, unit))
    return items


def _numeral(number: str) -> tuple[Kind | None, int]:
    if number.isdigit():
        return "number", int(number)
    upper = number.upper()
    if len(number) > 1 or upper in ("I", "V", "X"):
        return ("roman", _ROMANS.index(upper)) if upper in _ROMANS else (None, 0)
    return "letter", ord(upper) - ord("A") + 1


def _named(text: str, lexicon: Lexicon) -> list[Item]:
    """Finds weekdays, months, and units with an ordinal."""
    patterns, ordinals = _patterns(lexicon.language), lexicon.sequence.ordinals
    named = [
        _item(match, kind, names.index(match.group().casefold()) + 1)
        for kind, names, pattern in patterns.named
        for match in pattern.finditer(text)
        # "may" and "march" are words of their own
        if not (kind == "month" and match.group().islower() and lexicon.words.capital_months)
    ]
    return named + [
        _item(match, "ordinal", ordinals.index(match[1].casefold()) + 1, match[2].casefold())
        for match in patterns.ordinal.finditer(text)
    ]


def _is_step(match: re.Match[str], question: str, lexicon: Lexicon) -> bool:
    """Whether a step leaves its place open: "how about next", not "the steps before surgery"."""
    rest = words_of(question[match.end() :])
    return all(not lexicon.is_content(word) for word in rest[:1]) or match.groupdict().get("unit") is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Patterns:
    """A language's regular expressions. `moves` come with their sign; `places` are the numbers of `place`."""

    moves: tuple[tuple[re.Pattern[str], int], ...]
    place: re.Pattern[str]
    places: Mapping[str, int]
    named: tuple[tuple[Kind, tuple[str, ...], re.Pattern[str]], ...]
    ordinal: re.Pattern[str]


@cache
def _patterns(language: str) -> _Patterns:
    lexicon = lexicon_of(language)
    words = lexicon.sequence
    article = rf"(?:(?:{any_of(lexicon.words.articles)}) )?"
    unit = rf"(?P<unit>(?:{any_of([*words.units, *words.ones])})(?:s|en|e|n)?)"
    count = rf"(?:(?P<count>\d{{1,2}}|{any_of(words.numbers)}) )?"
    end = r"(?=\s*(?:$|[?.!,]))"
    moves = []
    for phrases, sign in ((words.next, 1), (words.previous, -1)):
        move = rf"(?:{any_of(phrases)})"
        shapes = (f"{article}{count}{unit} {move}{end}", f"{article}{move} {unit}", f"{article}{move}{end}")
        moves += [(_compiled(rf"{shape}(?!\w)"), sign) for shape in shapes]
    places = {word: place for place, word in enumerate(words.ordinals, 1)} | dict.fromkeys(words.first, 1)
    places |= dict.fromkeys(words.last, -1)
    tail = rf"(?: {unit}(?!\w)|{end})"
    return _Patterns(
        moves=tuple(moves),
        place=_compiled(rf"{article}(?P<place>{any_of(places)}){tail}"),
        places=places,
        named=(
            ("weekday", words.weekdays, _compiled(rf"(?:{any_of(words.weekdays)})(?!\w)")),
            ("month", words.months, _compiled(rf"(?:{any_of(words.months)})(?!\w)")),
        ),
        ordinal=_compiled(rf"({any_of(words.ordinals)}) ({any_of(words.units)})(?!\w)"),
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){pattern}", re.IGNORECASE)


def _unit(word: str | None, lexicon: Lexicon) -> str:
    """Returns a unit in the singular; "" for "one" and for nothing."""
    if word is None or word.casefold() in lexicon.sequence.ones:
        return ""
    unit = word.casefold()
    forms = (unit.removesuffix(ending) for ending in ("", "s", "en", "n", "e"))
    return next((form for form in forms if form in lexicon.sequence.units), unit)


def _count(word: str | None, lexicon: Lexicon) -> int:
    if word is None:
        return 1
    if word.isdigit():
        return int(word)
    return lexicon.sequence.numbers.index(word.casefold()) + 1


def _render(item: Item, place: int, lexicon: Lexicon) -> str:
    """Writes the item at another place as `item` is written; "" where there is none."""
    sequence = lexicon.sequence
    if item.kind in ("weekday", "month"):
        names = sequence.weekdays if item.kind == "weekday" else sequence.months
        return _like(item.text, names[(place - 1) % len(names)])
    if place < 1:
        return ""
    head, _, tail = item.text.rpartition(" ")
    if item.kind == "number":
        return f"{head} {place}"
    if item.kind == "letter":
        letter = chr(ord("A") + place - 1) if place <= 26 else ""
        return f"{head} {letter if tail.isupper() else letter.lower()}" if letter else ""
    if item.kind == "roman":
        return f"{head} {_ROMANS[place]}" if place < len(_ROMANS) else ""
    if item.kind == "ordinal":
        return f"{sequence.ordinals[place - 1]} {tail}" if place <= len(sequence.ordinals) else ""
    return _render_period(item, place)


def _render_period(item: Item, place: int) -> str:
    if item.kind == "quarter":
        match = _QUARTER.match(item.text)
        year = f"{match[2]}{(place - 1) // 4}" if match is not None and match[3] else ""
        return f"Q{(place - 1) % 4 + 1}{year}"
    if item.kind == "version":
        head, dot, _ = item.text.rpartition(".")
        prefix = head + dot if dot else re.sub(r"\d+$", "", item.text)
        return f"{prefix}{place}"
    return str(place)


def _like(model: str, word: str) -> str:
    return word.capitalize() if model[:1].isupper() else word
