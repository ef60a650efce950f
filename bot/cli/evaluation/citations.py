"""`footnote eval citations`: measures the literal check of citations on labelled sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from rich import box
from rich.console import Console
from rich.table import Table

from bot.cli.as_json import write_json
from kb.errors import SettingsError
from kb.evaluation.citations import (
    CAUGHT_TARGET,
    LITERAL_KINDS,
    REMOVED_LIMIT,
    CitationFigures,
    Counted,
    Kind,
    PairResult,
    Split,
    check_pairs,
    figures,
    read_labelled,
)

OURS = Path(__file__).parents[3] / "tests" / "golden" / "citations.jsonl"


@dataclass(frozen=True, kw_only=True, slots=True)
class CitationsRequest:
    """`misses`: name the sentences that were told wrongly. `split`: None for all."""

    file: Path | None
    split: Split | None
    misses: bool
    out: Path | None


async def citations(request: CitationsRequest) -> int:
    """Returns 1 below the target over everything that is measured."""
    if request.file is None and not OURS.exists():
        raise SettingsError("name a file of labelled sentences: Footnote's own are in its repository only")
    passages = read_labelled(request.file or OURS)
    results = [
        check_pair
        for check_pair in check_pairs(passages)
        if request.split is None or check_pair.passage.split == request.split
    ]
    splits = {
        split: figures(found)
        for split in get_args(Split)
        if (found := [result for result in results if result.passage.split == split])
    }
    total = figures(results)
    console = Console()
    for split, measured in splits.items():
        console.print(_table(split, measured))
    console.print(_verdict(total))
    wrong = [result for result in results if not result.right]
    if request.misses:
        for one in wrong:
            line = f"{one.passage.id} {one.languages} {one.sentence.kind}: {one.reason or 'kept'}: {one.sentence.text}"
            console.print(line, markup=False, highlight=False)
    if request.out is not None:
        write_json(request.out, _as_json(splits, total, wrong))
    return 0 if total.reached else 1


def _table(split: Split, found: CitationFigures) -> Table:
    kinds: tuple[Kind, ...] = get_args(Kind)
    heads = [
        kind if kind in ("true", *LITERAL_KINDS) else f"{kind}\n[dim]for the judge[/dim]" for kind in kinds
    ]
    table = Table("languages", *heads, title=split, box=box.SIMPLE_HEAD)
    for language, counts in found.languages.items():
        table.add_row(language, *(_cell(counts[kind]) for kind in kinds))
    table.add_section()
    table.add_row("all", *(_cell(found.kinds[kind]) for kind in kinds))
    table.caption = "true sentences kept, wrong ones removed"
    return table


def _verdict(total: CitationFigures) -> str:
    return (
        f"Wrong numbers and dates caught: {_cell(total.caught)}, {total.caught.share or 0:.1%} "
        f"(target {CAUGHT_TARGET:.0%}). True sentences removed: {1 - (total.kept.share or 0):.1%} "
        f"(at most {REMOVED_LIMIT:.0%})."
    )


def _cell(counted: Counted) -> str:
    return f"{counted.right}/{counted.of}" if counted.of else "-"


def _as_json(
    splits: Mapping[Split, CitationFigures], total: CitationFigures, wrong: Sequence[PairResult]
) -> dict[str, Any]:
    return {
        "splits": {
            name: {**found.model_dump(), "caught_share": found.caught.share, "kept_share": found.kept.share}
            for name, found in [*splits.items(), ("all", total)]
        },
        "wrong": [
            {
                "passage": one.passage.id,
                "split": one.passage.split,
                "languages": one.languages,
                "kind": one.sentence.kind,
                "reason": one.reason,
                "text": one.sentence.text,
            }
            for one in wrong
        ],
    }
