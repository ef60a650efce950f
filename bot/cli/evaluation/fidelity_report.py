"""What `footnote eval fidelity` shows: a table of the formats, the worst files with their lost words, JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.table import Table

from kb.evaluation.fidelity.comparison import Fidelity, Kept

KEPT = ("words", "numbers", "cells", "code", "dates")
"""Fields of `Fidelity` that say how many of the original's the index holds."""
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
        """Not indexed, through a fault of ours."""
        return self.refused is not None and any(fault in self.refused for fault in _OUR_FAULT)


def code_of(results: Sequence[FileResult]) -> int:
    """Returns 1 where a format is below the bar, 3 where none is, but not everything could be checked."""
    if any(result.is_broken for result in results) or any(
        not holds(total) for total in totals(results).values()
    ):
        return 1
    return UNCHECKED if any(result.unchecked for result in results) else 0


def totals(results: Sequence[FileResult]) -> dict[str, Fidelity]:
    """Returns what is kept of each format that was checked."""
    found: dict[str, list[Fidelity]] = {}
    for result in results:
        if result.fidelity is not None:
            found.setdefault(result.kind, []).append(result.fidelity)
    return {kind: sum(each, Fidelity()) for kind, each in sorted(found.items())}


def holds(total: Fidelity) -> bool:
    return _at_least(total.numbers, LEAST_NUMBERS) and _at_least(total.words, LEAST_WORDS)


def _at_least(kept: Kept, bar: float) -> bool:
    return kept.share is None or kept.share >= bar


def shown(results: Sequence[FileResult]) -> Iterator[Table | str]:
    """Yields a table of the formats, what was not compared, and the worst files with their words."""
    yield _table(results)
    for state, reasons in (
        ("unchecked", Counter(result.unchecked for result in results if result.unchecked)),
        ("not indexed", Counter(result.refused for result in results if result.refused)),
    ):
        yield from (f"{number:4} {state}: {reason}" for reason, number in sorted(reasons.items()))
    for result in worst(results):
        yield f"\n{result.path}"
        for name, words in _faults(result.fidelity or Fidelity()).items():
            more = f" ... ({len(words)})" if len(words) > _SHOWN else ""
            joint = " " if name in ("lost", "added", "moved") else " | "
            if words:
                yield f"  {name}: {joint.join(words[:_SHOWN])}{more}"
    below = [kind for kind, total in totals(results).items() if not holds(total)]
    if below:
        yield f"below {LEAST_NUMBERS:.1%} of the numbers or {LEAST_WORDS:.0%} of the words: {', '.join(below)}"


def _table(results: Sequence[FileResult]) -> Table:
    rows = Table(
        "format", "files", "read", *KEPT, "added", "moved", "apart",
        box=box.SIMPLE_HEAD, collapse_padding=True, pad_edge=False,
        caption="read: by a second reader too; words to dates: percent of the files' that the index holds;\n"
        "added, moved: words; apart: words that are left out on purpose",
    )  # fmt: skip
    sums = totals(results)
    for kind in sorted({result.kind for result in results if result.fidelity or result.unchecked}):
        rows.add_row(kind, *_row([result for result in results if result.kind == kind], sums.get(kind)))
    return rows


def _row(results: Sequence[FileResult], total: Fidelity | None) -> list[str]:
    numbers = [str(len(results)), str(sum(result.fidelity is not None for result in results))]
    if total is None:
        return [*numbers, *["-"] * 8]
    counts = (len(total.added), len(total.moved), total.apart)
    return [*numbers, *(_share(getattr(total, name)) for name in KEPT), *map(str, counts)]


def _share(kept: Kept) -> str:
    """Writes a percentage, cut and not rounded, so that only all of it reads as 100%."""
    return "-" if kept.share is None else f"{int(kept.share * 10_000) / 100:.2f}"


def worst(results: Sequence[FileResult]) -> list[FileResult]:
    """Returns those that lost the largest share of words or numbers first; then those that added or moved many."""
    faulty = [result for result in results if result.fidelity is not None and _number(result.fidelity)]
    return sorted(faulty, key=lambda result: _badness(result.fidelity or Fidelity()), reverse=True)[:WORST]


def _faults(file: Fidelity) -> dict[str, tuple[str, ...]]:
    return {
        "lost": file.lost,
        "added": file.added,
        "moved": file.moved,
        "cells": file.lost_cells,
        "code": file.lost_code,
    }


def _number(file: Fidelity) -> int:
    return sum(map(len, _faults(file).values()))


def _badness(file: Fidelity) -> tuple[float, float]:
    everything = file.words.all + file.numbers.all or 1
    return len(file.lost) / everything, _number(file) / everything


def as_json(results: Sequence[FileResult]) -> dict[str, Any]:
    return {
        "files": len(results),
        "checked": sum(result.fidelity is not None for result in results),
        "holds": code_of(results) in (0, UNCHECKED),
        "formats": {
            kind: {
                "files": sum(result.kind == kind for result in results),
                "holds": holds(total),
                **_figures(total),
            }
            for kind, total in totals(results).items()
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


def _figures(file: Fidelity) -> dict[str, Any]:
    kept: dict[str, Kept] = {name: getattr(file, name) for name in KEPT}
    return {
        **{name: {"all": each.all, "kept": each.kept, "share": each.share} for name, each in kept.items()},
        "lost": len(file.lost),
        "added": len(file.added),
        "moved": len(file.moved),
        "apart": file.apart,
    }


def _details(file: Fidelity) -> dict[str, Any]:
    return {
        **_figures(file),
        "lost": file.lost,
        "added": file.added,
        "moved": file.moved,
        "lost_cells": file.lost_cells,
        "lost_code": file.lost_code,
    }
