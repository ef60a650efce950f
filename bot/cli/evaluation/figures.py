"""Tables of evaluation figures for a terminal of 80 columns: under each figure the ends of its 95% interval."""

from __future__ import annotations

from collections.abc import Mapping

from rich import box
from rich.table import Table

from kb.evaluation.metrics import METRICS
from kb.evaluation.report import Comparison, Figures, Report


def report_tables(report: Report) -> list[Table]:
    knobs = ", ".join(f"{name} {value}" for name, value in report.config.items() if name != "settings")
    found = _slices(f"{report.set}: {knobs}", report.slices, signed=False)
    counts = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in report.counts.items())
    found.caption = f"{counts}; 95% intervals over conversations; {report.seconds:g} s"
    times = Table("stage", "p50 ms", "p95 ms", "max ms", title="Latency", box=box.SIMPLE_HEAD)
    for stage, latency in report.latency_ms.items():
        times.add_row(stage, f"{latency.p50:.1f}", f"{latency.p95:.1f}", f"{latency.max:.1f}")
    return [found, times]


def comparison_tables(comparison: Comparison) -> list[Table]:
    table = _slices(f"{comparison.set}: this run minus the other, paired", comparison.slices, signed=True)
    table.caption = "differs in: " + (
        "; ".join(f"{name} {values}" for name, values in comparison.differs.items()) or "nothing"
    )
    return [table]


def _slices(title: str, slices: Mapping[str, Figures], *, signed: bool) -> Table:
    table = Table("turns", "n", *METRICS, title=title, box=box.SIMPLE_HEAD)
    for name, figures in slices.items():
        table.add_row(name, str(figures.n), *(_cell(figures, metric, signed=signed) for metric in METRICS))
    return table


def _cell(figures: Figures, metric: str, *, signed: bool) -> str:
    value = figures.of(metric)
    if value is None:
        return "-"
    low, high = figures.ci95[metric]
    sign = "+" if signed else ""
    return f"{value:{sign}.3f}\n{low:{sign}.3f} {high:{sign}.3f}"
