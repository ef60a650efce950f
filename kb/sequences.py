"""Steps in a series: what comes after Day 6, before Phase C, what the second one is.

An item is a unit with a number, a letter or a roman numeral ("Day 6", "Phase C", "Part IV"), a weekday, a month, a
quarter ("Q3 2025"), a version ("v2") or an ordinal ("the second week").
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from kb.lexicon import Lexicon, words_of

Kind = Literal["number", "letter", "roman", "weekday", "month", "quarter", "version", "ordinal", "year"]

_ROMANS = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV")
_QUARTER = re.compile(r"(?<!\w)Q([1-4])(?:([ /-])((?:19|20)\d\d))?(?!\w)", re.IGNORECASE)
_VERSION = re.compile(r"(?<!\w)(v|version )(\d+)(?:\.(\d+))?(?!\w|\.\d)", re.IGNORECASE)
_COUNTED = re.compile(r"(?<!\w)([^\W\d_]{2,})( )(\d{1,4}|[A-Za-z]|[IVXivx]{2,5})(?![\w%]|[.,]\d)")
_YEAR = re.compile(r"(?<![\w.,])(?:19|20)\d\d(?![\w%]|[.,]\d)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One member of a series as it stands in a text. `at` are its offsets there; `place` counts from 1 (letters: A = 1)."""

    text: str
    kind: Kind
    unit: str
    place: int
    at: tuple[int, int] = (0, 0)

    def same_series(self, other: Item) -> bool:
        return self.kind == other.kind and self.unit == other.unit


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """A move in a series that a question asks for. `by` counts from the item at hand; `to` is a place of its own (-1: the last)."""

    by: int = 0
    to: int | None = None
    unit: str = ""
    at: tuple[int, int] = (0, 0)


def items_in(text: str, lexicon: Lexicon) -> list[Item]:
    """Every item of a series in a text, in order of place."""
    found = [
        *_quarters(text),
        *_versions(text),
        *_counted(text, lexicon),
        *_named(text, lexicon),
        *_years(text),
    ]
    found.sort(key=lambda item: (item.at[0], -item.at[1]))
    apart: list[Item] = []
    for item in found:
        if not apart or item.at[0] >= apart[-1].at[1]:
            apart.append(item)
    return apart


def step_in(question: str, lexicon: Lexicon) -> Step | None:
    """The step that a question asks for ("the one before", "how about next", "the second one"), or None."""
    words = lexicon.sequence
    unit = rf"(?P<unit>{_any([*words.units, *words.ones], plural=True)})"
    count = rf"(?:(?P<count>\d{{1,2}}|{_any(words.numbers)}) )?"
    end = r"(?=\s*(?:$|[?.!,]))"
    for phrases, sign in ((words.next, 1), (words.previous, -1)):
        move = _any(phrases)
        for pattern in (
            rf"(?:(?:the|a|an|de|het|een|der|die|das|den|dem|ein|eine|einen|le|la|el|los?|un|une|una) )?{count}{unit} (?:{move}){end}",
            rf"(?:(?:the|a|de|het|der|die|das|den|dem) )?(?:{move}) {unit}",
            rf"(?:(?:the|de|het|der|die|das) )?(?:{move}){end}",
        ):
            match = re.search(rf"(?<!\w){pattern}(?!\w)", question, re.IGNORECASE)
            if match and _is_step(match, question, lexicon):
                groups = match.groupdict()
                by = _count(groups.get("count"), lexicon) * sign
                return Step(by=by, unit=_unit(groups.get("unit"), lexicon), at=match.span())
    return _absolute(question, lexicon)


def resolve(step: Step, item: Item, lexicon: Lexicon, *, known: list[Item] | None = None) -> Item | None:
    """The item that a step leads to from `item`, or None where the series has none (before Day 1).

    `known` are the items of the thread: the last of a series is the furthest of them.
    """
    if step.to == -1:
        series = [other for other in known or [] if other.same_series(item)]
        return max(series, key=lambda other: other.place, default=None)
    place = item.place + step.by if step.to is None else step.to
    text = _render(item, place, lexicon)
    return replace(item, text=text, place=place) if text else None


def _quarters(text: str) -> list[Item]:
    return [
        Item(
            text=match.group(),
            kind="quarter",
            unit="quarter",
            place=int(match[1]) + 4 * int(match[3] or 0),
            at=match.span(),
        )
        for match in _QUARTER.finditer(text)
    ]


def _versions(text: str) -> list[Item]:
    return [
        Item(
            text=match.group(),
            kind="version",
            unit="version",
            place=int(match[3] or match[2]),
            at=match.span(),
        )
        for match in _VERSION.finditer(text)
    ]


def _counted(text: str, lexicon: Lexicon) -> list[Item]:
    items = []
    for match in _COUNTED.finditer(text):
        word, number = match[1], match[3]
        unit = _unit(word, lexicon)
        known = unit in lexicon.sequence.units
        if not known and (not lexicon.is_content(word) or not (number.isupper() or word[0].isupper())):
            continue
        if word.casefold() in lexicon.sequence.months or (
            number.isalpha() and not known and not number.isupper()
        ):
            continue
        kind, place = _numeral(number)
        if kind is not None:
            items.append(Item(text=match.group(), kind=kind, unit=unit, place=place, at=match.span()))
    return items


def _numeral(number: str) -> tuple[Kind | None, int]:
    if number.isdigit():
        return "number", int(number)
    upper = number.upper()
    if len(number) > 1 or upper in ("I", "V", "X"):
        return ("roman", _ROMANS.index(upper)) if upper in _ROMANS else (None, 0)
    return "letter", ord(upper) - ord("A") + 1


def _named(text: str, lexicon: Lexicon) -> list[Item]:
    """Weekdays, months, and a unit with an ordinal."""
    sequence = lexicon.sequence
    items = []
    kinds: tuple[tuple[Kind, tuple[str, ...]], ...] = (
        ("weekday", sequence.weekdays),
        ("month", sequence.months),
    )
    for kind, names in kinds:
        for match in re.finditer(rf"(?<!\w)(?:{_any(names)})(?!\w)", text, re.IGNORECASE) if names else ():
            if kind == "month" and match.group().islower() and lexicon.language == "en":
                continue  # "may" and "march" are words of their own
            place = names.index(match.group().casefold()) + 1
            items.append(Item(text=match.group(), kind=kind, unit=kind, place=place, at=match.span()))
    if sequence.ordinals:
        pattern = rf"(?<!\w)({_any(sequence.ordinals)}) ({_any(sequence.units)})(?!\w)"
        for match in re.finditer(pattern, text, re.IGNORECASE):
            place = sequence.ordinals.index(match[1].casefold()) + 1
            items.append(
                Item(
                    text=match.group(), kind="ordinal", unit=match[2].casefold(), place=place, at=match.span()
                )
            )
    return items


def _years(text: str) -> list[Item]:
    return [
        Item(text=match.group(), kind="year", unit="year", place=int(match.group()), at=match.span())
        for match in _YEAR.finditer(text)
    ]


def _is_step(match: re.Match[str], question: str, lexicon: Lexicon) -> bool:
    """ "the steps before surgery" names its own place; "what do I do before" and "how about next" do not."""
    rest = words_of(question[match.end() :])
    return all(not lexicon.is_content(word) for word in rest[:1]) or match.groupdict().get("unit") is not None


def _absolute(question: str, lexicon: Lexicon) -> Step | None:
    """ "the second one", "the last step", "the first"."""
    sequence = lexicon.sequence
    unit = rf"(?: (?P<unit>{_any([*sequence.units, *sequence.ones])}))"
    places = [
        *((word, number) for number, word in enumerate(sequence.ordinals, 1)),
        *((word, -1) for word in sequence.last),
    ]
    for word, place in places:
        pattern = rf"(?<!\w){re.escape(word)}(?:{unit}(?!\w)|(?=\s*(?:$|[?.!,])))"
        match = re.search(pattern, question, re.IGNORECASE)
        if match:
            return Step(to=place, unit=_unit(match["unit"], lexicon), at=match.span())
    return None


def _unit(word: str | None, lexicon: Lexicon) -> str:
    """The unit in the singular; empty for "one" and for nothing."""
    if word is None or word.casefold() in lexicon.sequence.ones:
        return ""
    unit = word.casefold()
    for singular in (
        unit,
        unit.removesuffix("s"),
        unit.removesuffix("en"),
        unit.removesuffix("n"),
        unit.removesuffix("e"),
    ):
        if singular in lexicon.sequence.units:
            return singular
    return unit


def _count(word: str | None, lexicon: Lexicon) -> int:
    if word is None:
        return 1
    if word.isdigit():
        return int(word)
    return lexicon.sequence.numbers.index(word.casefold()) + 1


def _any(phrases: object, *, plural: bool = False) -> str:
    ordered = sorted((re.escape(phrase) for phrase in phrases), key=len, reverse=True)  # type: ignore[attr-defined]
    joined = "|".join(ordered) or r"(?!)"
    return rf"(?:{joined})(?:s|en|e|n)?" if plural else joined


def _render(item: Item, place: int, lexicon: Lexicon) -> str:
    """The item at another place, written as `item` is; empty where there is none."""
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
        quarter, year = (place - 1) % 4 + 1, (place - 1) // 4
        dated = match is not None and match[3]
        return f"Q{quarter}{match[2]}{year}" if match is not None and dated else f"Q{quarter}"
    if item.kind == "version":
        head, dot, _ = item.text.rpartition(".")
        prefix = head + dot if dot else re.sub(r"\d+$", "", item.text)
        return f"{prefix}{place}"
    return str(place)


def _like(model: str, word: str) -> str:
    return word.capitalize() if model[:1].isupper() else word
