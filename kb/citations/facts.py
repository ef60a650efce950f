"""The hard facts that a sentence states: quantities with their units, dates, times, weekdays and names.

A fact has to be in the passage in some form of it: 1.000 or 1,000, "two weeks" or "2 weken", 31 March or 2026-03-31.
In the languages that have a file; digits and ISO dates in any language.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from kb.citations.fact_days import Day, same_day, take_days
from kb.citations.fact_names import Names, join_names, missing_names, read_names
from kb.citations.fact_quantities import Quantity, read_quantities
from kb.citations.fact_words import EVERY, MONTHS, ORDINAL, SEASONS, UNITS, WEEKDAYS, WEEKEND
from kb.text.wording import plain, stem, tokens

FactKind = Literal["number", "date", "weekday", "name"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """`days`: each with its possible readings, for 3/4/2026 is two dates.
    `weekdays`: seasons among them, a weekend is two.

    `every`: units of time in which it comes again ("weekly"). `units`: those that the text speaks of; "Mondays" and
    "daily" speak of weeks and days.
    """

    quantities: tuple[Quantity, ...] = ()
    days: tuple[tuple[Day, ...], ...] = ()
    weekdays: frozenset[int] = frozenset()
    every: frozenset[str] = frozenset()
    names: Names = field(default_factory=Names)
    units: frozenset[str] = frozenset()
    stems: frozenset[str] = frozenset()

    @property
    def none(self) -> bool:
        return not (self.figures or self.names.any)

    @property
    def figures(self) -> bool:
        return bool(self.quantities or self.days or self.weekdays or self.every)

    def is_rivalled_by(self, known: Facts) -> bool:
        """Tells whether one of its quantities has another value there."""
        return any(quantity.rivals(other) for quantity in self.quantities for other in known.quantities)

    def beyond(self, known: Facts, *, same_language: bool = True) -> Facts:
        """Returns the facts that `known` does not hold in any form.

        Names are compared only within one language: across two they are spelled differently, but for what is typed.
        """
        every = self.every - known.units if known.every else frozenset[str]()
        return replace(
            self,
            quantities=tuple(quantity for quantity in self.quantities if not _has_quantity(quantity, known)),
            days=tuple(readings for readings in self.days if not _has_day(readings, known)),
            weekdays=self.weekdays - known.weekdays,
            every=every,  # "annual leave" needs no year on a page without any
            names=missing_names(self.names, known.names, known.stems, same_language=same_language),
        )

    @property
    def kinds(self) -> list[FactKind]:
        """The kinds of these facts, the hardest first."""
        held: dict[FactKind, bool] = {
            "number": bool(self.quantities or self.every),
            "date": bool(self.days),
            "weekday": bool(self.weekdays),
            "name": self.names.any,
        }
        return [kind for kind, any_of_it in held.items() if any_of_it]


def read_facts(text: str) -> Facts:
    words = plain(text)
    folded = {token.casefold() for token in tokens(words)}
    every = frozenset(EVERY[word] for word in folded if word in EVERY)
    days, rest = take_days(words, named_months=not folded.isdisjoint(MONTHS))
    return Facts(
        quantities=tuple(read_quantities(rest)),
        days=tuple(days),
        weekdays=frozenset().union(*(_named_times(word) for word in folded)),
        every=every,
        names=read_names(text),
        units=every
        | {UNITS[word] for word in folded if word in UNITS}
        | {"week" for word in folded if word in WEEKDAYS},
        stems=frozenset(stem(part) for word in folded for part in (word, *re.split(r"[-.]", word)) if part),
    )


def _named_times(word: str) -> frozenset[int]:
    if word in WEEKEND:
        return frozenset({5, 6})
    return frozenset(table[word] for table in (WEEKDAYS, SEASONS) if word in table)


def join_facts(facts: Sequence[Facts]) -> Facts:
    """Returns the facts of several texts together."""
    return Facts(
        quantities=tuple(quantity for each in facts for quantity in each.quantities),
        days=tuple(day for each in facts for day in each.days),
        weekdays=frozenset().union(*(each.weekdays for each in facts)),
        every=frozenset().union(*(each.every for each in facts)),
        names=join_names([each.names for each in facts]),
        units=frozenset().union(*(each.units for each in facts)),
        stems=frozenset().union(*(each.stems for each in facts)),
    )


def _has_quantity(quantity: Quantity, held: Facts) -> bool:
    if quantity.readings == {
        1.0
    }:  # "first" says before as often as it counts; "a week" is one, "one of them" is none
        united = (quantity for quantity in held.quantities if quantity.unit)
        return quantity.unit in (None, ORDINAL, *held.units) or quantity.is_in(united)
    if quantity.is_in(held.quantities):
        return True
    if (
        quantity.things is not None
    ):  # how many things it lists is the answer's own, but for those that the page counts
        return not quantity.is_counted_otherwise(held.quantities)
    years = {float(day.year) for readings in held.days for day in readings if day.year}
    return quantity.unit is None and bool(quantity.readings & years)


def _has_day(readings: tuple[Day, ...], held: Facts) -> bool:
    years = {reading for quantity in held.quantities for reading in quantity.readings}
    return any(
        same_day(stated, other, years) for stated in readings for others in held.days for other in others
    )
