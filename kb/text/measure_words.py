"""How one language says what it measures, and where its sentences end, as its file in `kb/languages` has it."""

from __future__ import annotations

from collections.abc import Mapping

from kb.text.word_lists import NONE, LexiconPart, Words


class SentenceWords(LexiconPart):
    """What a full stop behind a word tells."""

    abbreviations: Words = NONE
    """Never the last word of a sentence: "e.g"."""
    before_number: Words = NONE
    """Abbreviations before a number; words of their own before anything else ("No. That is not allowed.")."""
    named_by_letter: Words = NONE
    """Nouns that a letter may follow: "plan B."."""
    days_with_stop: bool = False
    """Whether a day of a month has a full stop: "3. Mai"."""


class MeasureWords(LexiconPart):
    """Words beside a figure."""

    most: Words = NONE
    """They bound it from above."""
    least: Words = NONE
    more: Words = NONE
    """From below, and with a "not" before them from above."""
    most_before: Words = NONE
    """They bound it from above only where they stand right before the figure: "under 10 people"."""
    least_before: Words = NONE
    carried: Words = NONE
    """Verbs whose "over" bounds nothing: "carry over 10 days"."""
    within: Words = NONE
    """Words behind which what follows the figure's unit is not what is counted: "within 5 days Finance pays"."""
    extremes: Words = NONE
    """They bound the figure of their clause wherever they stand: "the maximum size of a group is 16"."""
    may: Words = NONE
    every: Words = NONE
    after: Words = NONE
    before: Words = NONE
    between: Words = NONE
    """They may stand between a figure and its unit or noun."""
    per: tuple[str, ...] = ()
    """Before what a rate is of: "25 days per year"."""
    rates: Mapping[str, Words] = {}
    """What a rate is of, by its name in English; "*" stands for any ending."""
    since: tuple[str, ...] = ()
    """Before a day that tells since when, not what."""
    denials: Words = NONE
    series: Words = NONE
    """What a figure may name instead of count: "band 3"."""
    joins: Words = NONE
    """Between two clauses."""
    clause_objects: Words = NONE
    """Words that show behind a verb that a join begins a clause: "and close the window"."""
    conditions: tuple[str, ...] = ()
    """Beginnings of a clause that a statement holds under."""
