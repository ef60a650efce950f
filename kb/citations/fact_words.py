"""Number words, months, weekdays and units of all languages that have a file, each to one canonical value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from kb.text.lexicon import Lexicon, by_name, lexicons, union
from kb.text.word_lists import forms_of

_LEXICONS = lexicons()
_FIGURES = [lexicon.figures for lexicon in _LEXICONS]


def _numbered(listed: Callable[[Lexicon], Iterable[str]], start: int = 1) -> dict[str, int]:
    return {
        form: number
        for lexicon in _LEXICONS
        for number, forms in enumerate(listed(lexicon), start)
        for form in forms_of(forms)
    }


def _number_words() -> dict[str, float]:
    """Returns the number words of all languages but articles: "een", "ein", "a"."""
    words: dict[str, float] = {}
    for lexicon in _LEXICONS:
        figures = lexicon.figures
        units = dict(enumerate((*lexicon.sequence.numbers, *figures.teens), 1))
        tens = {place * 10: word for place, word in enumerate(figures.tens, 2) if word != "-"}
        found = {word: float(value) for value, word in (*units.items(), *tens.items())}
        for pattern in figures.joined:
            found |= {
                pattern.format(ten=word, one=units[value]): float(ten + value)
                for ten, word in tens.items()
                for value in range(1, 10)
            }
        words |= {word: value for word, value in found.items() if word not in lexicon.words.articles}
        words |= figures.amounts
    return words | {word.casefold(): value for word, value in words.items()}


NUMBER_WORDS: Mapping[str, float] = _number_words()
SCALES: Mapping[str, float] = {word: scale for figures in _FIGURES for word, scale in figures.scales.items()}
WRITTEN: Mapping[str, str] = {
    phrase: text for figures in _FIGURES for phrase, text in figures.written.items()
}
MONTHS: Mapping[str, int] = _numbered(lambda lexicon: lexicon.sequence.months) | _numbered(
    lambda lexicon: lexicon.figures.months
)
WEEKDAYS: Mapping[str, int] = _numbered(lambda lexicon: lexicon.sequence.weekdays, 0) | _numbered(
    lambda lexicon: lexicon.figures.weekdays, 0
)
ORDINALS: Mapping[str, int] = _numbered(lambda lexicon: lexicon.sequence.ordinals) | _numbered(
    lambda lexicon: lexicon.figures.ordinals
)
ORDINAL = "th"
"""The unit of what is counted in order."""
SEASONS: Mapping[str, int] = _numbered(lambda lexicon: lexicon.figures.seasons, 10)
"""Numbered after the weekdays, to be compared with them."""
WEEKEND = union(lambda lexicon: lexicon.figures.weekend)
EVERY: Mapping[str, str] = by_name(lambda lexicon: lexicon.figures.every)
"""How often something happens, as the unit of time between."""
UNITS: Mapping[str, str] = by_name(lambda lexicon: lexicon.figures.units)
SMALLER: Mapping[str, tuple[tuple[str, float], ...]] = {
    "week": (("day", 7),),
    "year": (("month", 12), ("week", 52), ("day", 365)),
    "day": (("hour", 24),),
    "hour": (("minute", 60),),
    "minute": (("second", 60),),
}
"""How many of other units one is: "two weeks" is 14 days."""
TIME_UNITS = frozenset({"day", "week", "month", "year", "hour", "minute", "second", "night"})
