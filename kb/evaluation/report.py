"""The result of a run over conversations, as it is printed, kept as JSON and compared with another.

A difference between two runs is paired: the same turns, this run's figure minus the other's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from kb.errors import SettingsError
from kb.evaluation.case_files import read_json
from kb.evaluation.conversations import TurnResult
from kb.evaluation.datasets import DataSet
from kb.evaluation.metrics import METRICS, SAMPLES, SEED, interval, mean
from kb.evaluation.slices import SLICES
from kb.runtime.stopwatch import STAGES

FIND_STAGES = (*STAGES[: STAGES.index("answer")], "total")
"""The stages that finding goes through."""


class Figures(BaseModel):
    """The means of a slice. `ci95`: metric -> the ends of its 95% interval. Without turns all is None."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    n: int
    recall_5: float | None = Field(default=None, alias="recall@5")
    ndcg_5: float | None = Field(default=None, alias="ndcg@5")
    recall_20: float | None = Field(default=None, alias="recall@20")
    mrr: float | None = None
    ci95: dict[str, tuple[float, float]] = {}

    def of(self, metric: str) -> float | None:
        value: float | None = self.model_dump(by_alias=True)[metric]
        return value


class TurnFigures(BaseModel):
    """One turn, for pairing and for reading failures by eye. `figures` is in the order of `METRICS`."""

    model_config = ConfigDict(frozen=True)

    id: str
    conversation: str
    slices: tuple[str, ...]
    figures: tuple[float, ...] | None
    question: str
    query: str
    gold_rewrite: str
    needs_rewrite: bool
    is_follow_up: bool
    reasoning: str
    anchors: tuple[str, ...]
    anchor_reason: str
    ranking: tuple[str, ...]


class Latency(BaseModel):
    """Milliseconds of one stage over all turns."""

    model_config = ConfigDict(frozen=True)

    p50: float
    p95: float
    max: float


class Report(BaseModel):
    """`config` holds every knob, `versions` every part that can change a figure."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    set: str
    corpus_hash: str
    questions_hash: str
    config: dict[str, Any]
    versions: dict[str, str]
    bootstrap: dict[str, Any]
    slices: dict[str, Figures]
    counts: dict[str, int]
    latency_ms: dict[str, Latency]
    seconds: float
    turns: tuple[TurnFigures, ...]


class Comparison(BaseModel):
    """This run minus another. `differs`: knobs and versions that are not the same, "this / other"."""

    model_config = ConfigDict(frozen=True)

    set: str
    differs: dict[str, str]
    slices: dict[str, Figures]


def make_report(
    data: DataSet,
    results: Sequence[TurnResult],
    *,
    config: dict[str, Any],
    versions: dict[str, str],
    seconds: float,
) -> Report:
    """Builds the report. `seconds` is the time of the walk, without loading models and indexing."""
    turns = tuple(_turn(result) for result in results)
    return Report(
        set=data.name,
        corpus_hash=data.corpus_hash,
        questions_hash=data.questions_hash,
        config=config,
        versions=versions,
        bootstrap={"samples": SAMPLES, "seed": SEED, "unit": "conversation", "interval": "percentile"},
        slices=_by_slice(turns, lambda turn: turn.figures),
        counts=_counts(results),
        latency_ms={
            stage: _latency([result.timings_ms.get(stage, 0.0) for result in results])
            for stage in FIND_STAGES
        },
        seconds=round(seconds, 1),
        turns=turns,
    )


def read_report(file: Path) -> Report:
    """
    Raises:
        SettingsError: it is no result of `footnote eval conversations --json`.
    """
    return read_json(file, Report, fault="is no result of `footnote eval conversations`")


def compare(report: Report, other: Report) -> Comparison:
    """
    Raises:
        SettingsError: they were measured on different questions or labels.
    """
    if (report.questions_hash, report.corpus_hash) != (other.questions_hash, other.corpus_hash):
        raise SettingsError(
            f"these results cannot be paired: {report.set} and {other.set} are not the same questions and passages"
        )
    before = {turn.id: turn.figures for turn in other.turns}

    def difference(turn: TurnFigures) -> Sequence[float] | None:
        theirs = before.get(turn.id)
        if turn.figures is None or theirs is None:
            return None
        return [mine - their for mine, their in zip(turn.figures, theirs, strict=True)]

    return Comparison(
        set=report.set,
        differs=_differing(report, other),
        slices=_by_slice(report.turns, difference),
    )


def _by_slice(
    turns: Sequence[TurnFigures], figures_of: Callable[[TurnFigures], Sequence[float] | None]
) -> dict[str, Figures]:
    return {name: _figures([turn for turn in turns if name in turn.slices], figures_of) for name in SLICES}


def _figures(
    turns: Collection[TurnFigures], figures_of: Callable[[TurnFigures], Sequence[float] | None]
) -> Figures:
    measured = [(turn.conversation, row) for turn in turns if (row := figures_of(turn)) is not None]
    if not measured:
        return Figures(n=0)
    rows = np.array([row for _, row in measured], dtype=float)
    ends = interval(rows, [conversation for conversation, _ in measured])
    return Figures.model_validate(
        {
            "n": len(measured),
            **dict(zip(METRICS, mean(rows), strict=True)),
            "ci95": dict(zip(METRICS, zip(ends.low, ends.high, strict=True), strict=True)),
        }
    )


def _counts(results: Sequence[TurnResult]) -> dict[str, int]:
    return {
        "turns": len(results),
        "labelled": sum(result.figures is not None for result in results),
        "rewritten": sum(result.rewrite.needs_rewrite for result in results),
        "follow_ups_noticed": sum(result.rewrite.is_follow_up for result in results),
        "anchored": sum(bool(result.anchors) for result in results),
        "asked_back": sum(result.rewrite.clarify for result in results),
    }


def _latency(milliseconds: Sequence[float]) -> Latency:
    p50, p95, top = np.percentile(np.asarray(milliseconds or [0.0]), [50, 95, 100])
    return Latency(p50=round(float(p50), 2), p95=round(float(p95), 2), max=round(float(top), 2))


def _turn(result: TurnResult) -> TurnFigures:
    return TurnFigures(
        id=result.id,
        conversation=result.conversation,
        slices=tuple(name for name in SLICES if name in result.slices),
        figures=result.figures,
        question=result.question,
        query=result.rewrite.query,
        gold_rewrite=result.gold_rewrite,
        needs_rewrite=result.rewrite.needs_rewrite,
        is_follow_up=result.rewrite.is_follow_up,
        reasoning=result.rewrite.reasoning,
        anchors=result.anchors,
        anchor_reason=result.anchor_reason,
        ranking=result.ranking,
    )


def _differing(report: Report, other: Report) -> dict[str, str]:
    mine, theirs = (_leaves(each.model_dump(include={"config", "versions"})) for each in (report, other))
    return {
        name: f"{mine.get(name, '-')} / {theirs.get(name, '-')}"
        for name in sorted(mine.keys() | theirs.keys())
        if mine.get(name) != theirs.get(name)
    }


def _leaves(tree: dict[str, Any], above: str = "") -> dict[str, str]:
    leaves: dict[str, str] = {}
    for name, value in tree.items():
        leaves |= (
            _leaves(value, f"{above}{name}.") if isinstance(value, dict) else {f"{above}{name}": str(value)}
        )
    return leaves
