"""`footnote eval citations`: measures the literal check of citations on labelled sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from rich.table import Table

from bot.cli.evaluation.report import Report, table
from kb.errors import SettingsError
from kb.evaluation.case_files import read_lines
from kb.evaluation.citations import (
    CAUGHT_TARGET,
    LITERAL_KINDS,
    REMOVED_LIMIT,
    CitationFigures,
    Counted,
    Kind,
    LabelledPassage,
    PairResult,
    Split,
    check_pairs,
    figures,
)

OURS = Path(__file__).parents[3] / "tests" / "golden" / "citations.jsonl"


def citations(file: Path | None, *, split: Split | None, misses: bool) -> Report:
    """Checks labelled sentences. The exit code is 1 below the target over everything that is measured.

    Args:
        split: None for all.
        misses: name the sentences that were told wrongly.
    """
    if file is None and not OURS.exists():
        raise SettingsError("name a file of labelled sentences: Footnote's own are in its repository only")
    passages = read_lines(file or OURS, LabelledPassage)
    results = [result for result in check_pairs(passages) if split in (None, result.passage.split)]
    splits = {
        name: figures(of_split)
        for name in get_args(Split)
        if (of_split := [result for result in results if result.passage.split == name])
    }
    total = figures(results)
    wrong = [result for result in results if not result.right]
    lines = [
        f"{result.passage.id} {result.languages} {result.sentence.kind}: {result.reason or 'kept'}: "
        f"{result.sentence.text}"
        for result in wrong
    ]
    return Report(
        figures=_as_json(splits, total, wrong),
        shown=[
            *(_table(name, measured) for name, measured in splits.items()),
            _verdict(total),
            *(lines if misses else ()),
        ],
        code=0 if total.reached else 1,
    )


def _table(split: Split, found: CitationFigures) -> Table:
    kinds: tuple[Kind, ...] = get_args(Kind)
    heads = [
        kind if kind in ("true", *LITERAL_KINDS) else f"{kind}\n[dim]for the judge[/dim]" for kind in kinds
    ]
    rows = table("languages", *heads, title=split, caption="true sentences kept, wrong ones removed")
    for language, counts in found.languages.items():
        rows.add_row(language, *(_cell(counts[kind]) for kind in kinds))
    rows.add_section()
    rows.add_row("all", *(_cell(found.kinds[kind]) for kind in kinds))
    return rows


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
                "passage": result.passage.id,
                "split": result.passage.split,
                "languages": result.languages,
                "kind": result.sentence.kind,
                "reason": result.reason,
                "text": result.sentence.text,
            }
            for result in wrong
        ],
    }
