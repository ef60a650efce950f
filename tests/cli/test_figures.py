from __future__ import annotations

import io

from rich.console import Console
from rich.table import Table

from bot.cli.evaluation.conversations import comparison_tables, report_tables
from kb.evaluation.report import Comparison, Figures, Latency, Report


def printed(tables: list[Table]) -> str:
    console = Console(file=io.StringIO(), width=80)
    for table in tables:
        console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def some_figures(value: float) -> Figures:
    metrics = ("recall@5", "ndcg@5", "recall@20", "mrr")
    ends = dict.fromkeys(metrics, (value - 0.1, value + 0.1))
    return Figures.model_validate({"n": 7, **dict.fromkeys(metrics, value), "ci95": ends})


def test_a_result_shows_each_slice_with_its_interval_and_the_times():
    report = Report(
        set="tiny",
        corpus_hash="",
        questions_hash="",
        config={"rewriter": "gold", "settings": {"search": {}}},
        versions={},
        bootstrap={},
        slices={"all": some_figures(0.5), "returns": Figures(n=0)},
        counts={"asked_back": 2},
        latency_ms={"rewrite": Latency(p50=1.25, p95=2.0, max=3.0)},
        seconds=4.5,
        turns=(),
    )
    text = printed(report_tables(report))
    assert "tiny: rewriter gold" in text
    assert "0.400 0.600" in text
    assert "2 asked back" in text
    assert "1.2" in text
    assert text.count("0.500") == 4


def test_a_comparison_shows_signs_and_what_differs():
    comparison = Comparison(
        set="tiny", differs={"config.rewriter": "gold / off"}, slices={"all": some_figures(0.02)}
    )
    text = printed(comparison_tables(comparison))
    assert "+0.020" in text
    assert "-0.080 +0.120" in text
    assert "config.rewriter gold / off" in text
