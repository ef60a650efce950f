"""How one language says figures, dates and how often, as its file in `kb/languages` has it."""

from __future__ import annotations

from collections.abc import Mapping

from kb.text.word_lists import NONE, LexiconPart, OrderedWords, Words


class FigureWords(LexiconPart):
    """In lists that count, "/" separates forms of one entry, and "-" stands for none."""

    teens: OrderedWords = ()
    """From thirteen: one to twelve are `SequenceWords.numbers`."""
    tens: OrderedWords = ()
    """From twenty."""
    joined: tuple[str, ...] = ()
    """How {ten} and {one} make a number."""
    amounts: Mapping[str, float] = {}
    not_numbers: Words = NONE
    """Words of this language that are numbers in another: "once", "onze"."""
    scales: Mapping[str, float] = {}
    """What multiplies the number before it: "million"."""
    months: OrderedWords = ()
    """Other forms than those of `SequenceWords`, as for `weekdays` and `ordinals`."""
    ambiguous_months: Words = NONE
    """Words of their own in lower case: "may"."""
    weekdays: OrderedWords = ()
    ordinals: OrderedWords = ()
    weekend: Words = NONE
    short_days: Words = NONE
    """Capitalised without being names; too short to be told from other words."""
    clock: Words = NONE
    """Words behind a time of day: "9.30 uur"."""
    seasons: OrderedWords = ()
    ordinal_endings: Words = NONE
    """Endings behind digits: "2nd"."""
    day_of: Words = NONE
    """Between a day and its month: "3 de marzo"."""
    joins: Words = NONE
    """Between two days of one month: "24 and 31 December"."""
    rate: Words = NONE
    """Before the unit of a rate: "per week"."""
    bounds: Words = NONE
    """Before an article that counts: "within a day"."""
    denials: tuple[str, ...] = ()
    """Before a figure that is said to be wrong: "25 days, not 30"."""
    assent: Words = NONE
    """Words of "Yes, that is correct.", which states nothing by itself."""
    every: Mapping[str, Words] = {}
    """How often, by the unit of time that goes by: "weekly"."""
    units: Mapping[str, Words] = {}
    written: Mapping[str, str] = {}
    """Figures that are said without a number, as they are written."""
