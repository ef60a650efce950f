"""Counts what `footnote eval leaks` finds."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.table import Table

from bot.cli.evaluation.report import table

SHOWN_LEAKS = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Leak:
    """`where`: what held the words: "message", "why", "given to the answerer", "remembered", "api"."""

    where: str
    page: str
    asker: str
    room: str
    kind: str
    number: int


@dataclass(kw_only=True, slots=True)
class LeakTally:
    """`readable`: combinations whose page the asker may read there; `found`: of these, those that found it."""

    asked: int = 0
    readable: int = 0
    found: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    leaks: list[Leak] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "asked": self.asked,
            "outcomes": dict(self.outcomes),
            "readable": self.readable,
            "found": self.found,
            "leaks": [asdict(leak) for leak in self.leaks],
        }

    def shown(self) -> list[Table | str]:
        rows = table("what", "number")
        for what, number in (
            ("combinations of asker, place and page", self.asked),
            *((f"  {outcome}", number) for outcome, number in self.outcomes.most_common()),
            ("asked for a page that may be told there", self.readable),
            ("  and found it", self.found),
            ("leaks", len(self.leaks)),
            *(
                (f"  {where}", number)
                for where, number in Counter(leak.where for leak in self.leaks).most_common()
            ),
        ):
            rows.add_row(what, str(number))
        return [
            rows,
            *(
                f"#{leak.number} {leak.kind}: {leak.where} told {leak.page} to {leak.asker} in {leak.room}"
                for leak in self.leaks[:SHOWN_LEAKS]
            ),
        ]
