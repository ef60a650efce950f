"""The figures as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

KINDS = {
    "unread": "new question, sentences never read before",
    "read_before": "new question, pages asked about before",
}


def show(told: dict[str, Any], console: Console) -> None:
    console.print(
        f"{told['pages']} pages, {told['passages']} passages, {told['questions']} questions, extractive, no reranker; "
        f"{told['machine']['cores']} cores, load {told['machine']['load_1m_at_end']:.1f}",
        highlight=False,
    )
    _show_answers(told, console)
    _show_shares(told, console)
    _show_starts(told, console)
    show_targets(told["targets"], console)


def _show_answers(told: dict[str, Any], console: Console) -> None:
    table = Table(
        "answers (ms)",
        "p50",
        "p95",
        "bare p50",
        "p50 / bare p50",
        "ratio p10..p90",
        "else p50",
        "texts",
        box=None,
    )
    first = told["first_answer"]
    table.add_row(
        "the first of a process",
        f"{first['total']:.0f}",
        "",
        f"{first['bare']:.0f}",
        f"{first['total'] / first['bare']:.2f}",
        "",
        f"{first['total'] - first['model'] - first['rerank']:.0f}",
        f"{first['texts']}",
    )
    for kind, name in KINDS.items():
        of = told["steady"][kind]
        table.add_row(
            name,
            f"{of['p50_ms']:.1f}",
            f"{of['p95_ms']:.1f}",
            f"{of['bare_p50_ms']:.1f}",
            f"{of['ratio_of_p50']:.2f}",
            f"{of['ratio_p10']:.2f}..{of['ratio_p90']:.2f}",
            f"{of['everything_else_p50_ms']:.1f}",
            f"{of['texts_embedded_p50']:.0f}",
        )
    table.add_row(
        "mention to answer in Slack",
        f"{told['mention_to_answer_p50_ms']:.0f}",
        f"{told['mention_to_answer_p95_ms']:.0f}",
    )
    console.print(table, highlight=False)


def _show_shares(told: dict[str, Any], console: Console) -> None:
    stages = ("embedding", "search", "reranking", "rest")
    table = Table("share of time", *stages, box=None)
    for kind, name in KINDS.items():
        table.add_row(name, *(f"{told['steady'][kind][f'share_{stage}']:.0%}" for stage in stages))
    console.print(table, highlight=False)


def _show_starts(told: dict[str, Any], console: Console) -> None:
    table = Table(
        "start", "ready (s)", "CPU (s)", "MB at rest", "MB after an answer", "first answer (ms)", box=None
    )
    rows = [("with indexing", told["first_start_with_indexing"])]
    for name, of in rows + [("indexed before", one) for one in told["starts"]]:
        table.add_row(
            name,
            f"{of['ready_s']:.1f}",
            f"{of['cpu_s']:.0f}",
            f"{of['rest_mb']:.0f}",
            f"{of['answered_mb']:.0f}",
            f"{of['first_answer_ms']:.0f}" if of["first_answer_ms"] else "",
        )
    console.print(table, highlight=False)
    words = told["words"]
    console.print(
        f"words of {words['passages']:,} passages known {words['known_ms']:.1f} ms after the index was open "
        f"({words['opened_ms']:.0f} ms, their file read)",
        highlight=False,
    )
    console.print(f"peak while answering: {told['peak_mb']:.0f} MB", highlight=False)


def show_targets(targets: Sequence[dict[str, Any]], console: Console) -> None:
    table = Table("target", "", "limit", "measured", "", box=None)
    for target in targets:
        unit = target["unit"]
        table.add_row(
            target["name"],
            "at least" if target["least"] else "at most",
            f"{target['limit']:g} {unit}",
            f"{target['measured']:.2f} {unit}",
            "[green]met[/green]" if target["met"] else "[red]missed[/red]",
        )
    console.print(table, highlight=False)
