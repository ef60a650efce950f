"""What `footnote eval fidelity` tells: a table of the formats, the worst files with their lost words, JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from kb.evaluation.fidelity.comparison import Fidelity, Kept

LEAST_NUMBERS = 0.995
LEAST_WORDS = 0.99
"""Least share of words kept, of each format. A wrong number is certified by its citation, so fewer may be lost."""
UNCHECKED = 3
"""The exit code where all that was checked holds and something was not."""
WORST = 15
"""Files that are named."""
_SHOWN = 12
"""Words of each that are shown."""
_OUR_FAULT = ("broke the parser", "took longer than", "program that reads it crash")
"""Parts of the reasons that a reader process gives for a file that crashed it, or made it hang."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileResult:
    """One of three: compared, `unchecked` (why there is no second reading) or `refused` (why it is not indexed)."""

    path: str
    kind: str
    fidelity: Fidelity | None = None
    unchecked: str | None = None
    refused: str | None = None

    @property
    def is_broken(self) -> bool:
        """Not indexed through our own fault."""
        return self.refused is not None and any(fault in self.refused for fault in _OUR_FAULT)


def code_of(results: Sequence[FileResult]) -> int:
    """1: a format is below the bar; 3: none is, but not everything could be checked."""
    if any(result.is_broken for result in results) or any(
        not holds(total) for total in totals(results).values()
    ):
        return 1
    return UNCHECKED if any(result.unchecked for result in results) else 0


def totals(results: Sequence[FileResult]) -> dict[str, Fidelity]:
    """What is kept of each format that was checked."""
    found: dict[str, list[Fidelity]] = {}
    for result in results:
        if result.fidelity is not None:
            found.setdefault(result.kind, []).append(result.fidelity)
    return {kind: sum(each, Fidelity()) for kind, each in sorted(found.items())}


def holds(total: Fidelity) -> bool:
    return _at_least(total.numbers, LEAST_NUMBERS) and _at_least(total.words, LEAST_WORDS)


def _at_least(kept: Kept, bar: float) -> bool:
    return kept.share is None or kept.share >= bar


def show(results: Sequence[FileResult]) -> None:
    console = Console()
    console.print(_table(results))
    for reason, number in sorted(Counter(result.unchecked for result in results if result.unchecked).items()):
        console.print(f"{number:4} unchecked: {reason}", highlight=False, markup=False)
    for reason, number in sorted(Counter(result.refused for result in results if result.refused).items()):
        console.print(f"{number:4} not indexed: {reason}", highlight=False, markup=False)
    for result in worst(results):
        _show_file(console, result)
    below = [kind for kind, total in totals(results).items() if not holds(total)]
    if below:
        console.print(
            f"below {LEAST_NUMBERS:.1%} of the numbers or {LEAST_WORDS:.0%} of the words: {', '.join(below)}",
            style="red",
        )


def _table(results: Sequence[FileResult]) -> Table:
    table = Table(
        "format", "files", "read", "words", "numbers", "cells", "code", "dates", "added", "moved", "apart",
        box=box.SIMPLE_HEAD, collapse_padding=True, pad_edge=False,
    )  # fmt: skip
    sums = totals(results)
    for kind in sorted({result.kind for result in results if result.fidelity or result.unchecked}):
        of_kind = [result for result in results if result.kind == kind]
        table.add_row(kind, *_row(of_kind, sums.get(kind)))
    table.caption = (
        "read: by a second reader too; words to dates: percent of the files' that the index holds;\n"
        "added, moved: words; apart: words that are left out on purpose"
    )
    return table


def _row(results: Sequence[FileResult], total: Fidelity | None) -> list[str]:
    numbers = [str(len(results)), str(sum(result.fidelity is not None for result in results))]
    if total is None:
        return [*numbers, *["-"] * 8]
    shares = (total.words, total.numbers, total.cells, total.code, total.dates)
    counts = (len(total.added), len(total.moved), total.apart)
    return [*numbers, *(_share(kept) for kept in shares), *map(str, counts)]


def _share(kept: Kept) -> str:
    """Cut, not rounded: what is not all does not read as all."""
    return "-" if kept.share is None else f"{int(kept.share * 10_000) / 100:.2f}"


def worst(results: Sequence[FileResult]) -> list[FileResult]:
    """Those that lost the largest share of their words or numbers first; then those that added or moved many."""
    faulty = [result for result in results if result.fidelity is not None and _faults(result.fidelity)]
    return sorted(faulty, key=lambda result: _badness(result.fidelity or Fidelity()), reverse=True)[:WORST]


def _faults(one: Fidelity) -> int:
    return len(one.lost) + len(one.added) + len(one.moved) + len(one.lost_cells) + len(one.lost_code)


def _badness(one: Fidelity) -> tuple[float, float]:
    everything = one.words.all + one.numbers.all or 1
    return len(one.lost) / everything, _faults(one) / everything


def _show_file(console: Console, result: FileResult) -> None:
    assert result.fidelity is not None
    console.print(f"\n{result.path}", style="bold", highlight=False, markup=False)
    one = result.fidelity
    named = {
        "lost": one.lost,
        "added": one.added,
        "moved": one.moved,
        "cells": one.lost_cells,
        "code": one.lost_code,
    }
    for name, found in named.items():
        if found:
            more = f" ... ({len(found)})" if len(found) > _SHOWN else ""
            joint = " " if name in ("lost", "added", "moved") else " | "
            console.print(f"  {name}: {joint.join(found[:_SHOWN])}{more}", highlight=False, markup=False)


def told(results: Sequence[FileResult]) -> dict[str, Any]:
    """Everything, for programs."""
    sums = totals(results)
    return {
        "files": len(results),
        "checked": sum(result.fidelity is not None for result in results),
        "holds": code_of(results) in (0, UNCHECKED),
        "formats": {
            kind: {"files": sum(r.kind == kind for r in results), "holds": holds(total), **_figures(total)}
            for kind, total in sums.items()
        },
        "each": [
            {
                "path": result.path,
                "format": result.kind,
                "refused": result.refused,
                "unchecked": result.unchecked,
                **(_details(result.fidelity) if result.fidelity else {}),
            }
            for result in results
        ],
    }


def _figures(one: Fidelity) -> dict[str, Any]:
    kept = {
        "words": one.words,
        "numbers": one.numbers,
        "cells": one.cells,
        "code": one.code,
        "dates": one.dates,
    }
    return {
        **{name: {"all": each.all, "kept": each.kept, "share": each.share} for name, each in kept.items()},
        "lost": len(one.lost),
        "added": len(one.added),
        "moved": len(one.moved),
        "apart": one.apart,
    }


def _details(one: Fidelity) -> dict[str, Any]:
    return {
        **_figures(one),
        "lost": one.lost,
        "added": one.added,
        "moved": one.moved,
        "lost_cells": one.lost_cells,
        "lost_code": one.lost_code,
    }
