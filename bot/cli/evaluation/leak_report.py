"""Counts and prints what `footnote eval leaks` found."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table

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
class LeakReport:
    """`readable`: combinations whose page the asker may read there; `found`: of these, those that found it."""

    asked: int = 0
    readable: int = 0
    found: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    leaks: list[Leak] = field(default_factory=list)


def report_as_json(report: LeakReport) -> dict[str, Any]:
    return {
        "asked": report.asked,
        "outcomes": dict(report.outcomes),
        "readable": report.readable,
        "found": report.found,
        "leaks": [asdict(leak) for leak in report.leaks],
    }


def show(report: LeakReport) -> None:
    console = Console()
    table = Table("what", "number", box=None)
    table.add_row("combinations of asker, place and page", str(report.asked))
    for outcome, number in report.outcomes.most_common():
        table.add_row(f"  {outcome}", str(number))
    table.add_row("asked for a page that may be told there", str(report.readable))
    table.add_row("  and found it", str(report.found))
    table.add_row("leaks", str(len(report.leaks)))
    for where, number in Counter(leak.where for leak in report.leaks).most_common():
        table.add_row(f"  {where}", str(number))
    console.print(table)
    for leak in report.leaks[:SHOWN_LEAKS]:
        console.print(
            f"#{leak.number} {leak.kind}: {leak.where} told {leak.page} to {leak.asker} in {leak.room}",
            highlight=False,
        )
