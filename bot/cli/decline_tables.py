"""The tables of `footnote eval decline`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table

from kb.evaluation.decline import Observation
from kb.evaluation.decline_report import DECLINED_TARGET, LOST_TARGET, Measured, Reliability, Share


def tables(ranking: str, ways: Mapping[str, Measured], observations: Sequence[Observation]) -> list[Table]:
    """The decision in every way it was measured; curve and reliability of the way that counts."""
    way = "by conversation" if "by conversation" in ways else next(iter(ways))
    return [
        _decisions(ranking, ways, observations),
        _sources(ranking, way, ways[way]),
        _curve(ranking, way, ways[way]),
        _reliability(f"{ranking}: score of sources that are shown, {way}", ways[way].shown),
        _reliability(f"{ranking}: confidence of questions, {way}", ways[way].answers),
        _calibration(ranking, ways),
    ]


def _decisions(ranking: str, ways: Mapping[str, Measured], observations: Sequence[Observation]) -> Table:
    asked_back = sum(one.asked_back for one in observations)
    title = (
        f"{ranking}: declined (target {DECLINED_TARGET:.0%} of the unanswerable for {LOST_TARGET:.0%} "
        f"of the answerable); asked back: {asked_back} of {len(observations)}"
    )
    table = Table("measured", "unanswerable", "answerable", "strangers", "near misses", "AUC", title=title)
    for way, measured in ways.items():
        table.add_row(
            way,
            _told(measured.unanswerable_declined),
            _told(measured.answerable_declined),
            _told(measured.strangers_declined),
            _told(measured.near_misses_declined),
            f"{measured.ranks:.3f}",
        )
    return table


def _sources(ranking: str, way: str, measured: Measured) -> Table:
    table = Table("unanswerable questions of", "n", "declined", title=f"{ranking}: by where from, {way}")
    for source, share in measured.by_source.items():
        table.add_row(source, str(share.n), _told(share))
    return table


def _curve(ranking: str, way: str, measured: Measured) -> Table:
    title = f"{ranking}: risk and coverage, {way}"
    table = Table("answered", "at risk", "unanswerable declined", "answerable declined", title=title)
    for point in measured.curve:
        table.add_row(
            f"{point.coverage:.0%}",
            f"{point.risk:.1%}",
            f"{point.unanswerable_declined:.1%}",
            f"{point.answerable_declined:.1%}",
        )
    return table


def _reliability(title: str, reliability: Reliability) -> Table:
    table = Table("score", "n", "mean", "right", title=f"{title}: ECE {reliability.error:.3f}")
    for one in reliability.bins:
        table.add_row(f"{one.low:.0%}-{one.low + 0.1:.0%}", str(one.n), f"{one.mean:.1%}", f"{one.share:.1%}")
    return table


def _calibration(ranking: str, ways: Mapping[str, Measured]) -> Table:
    title = f"{ranking}: expected calibration error"
    table = Table("measured", "sources", "sources shown", "answers", "sources AUC", title=title)
    for way, measured in ways.items():
        table.add_row(
            way,
            f"{measured.sources.error:.3f}",
            f"{measured.shown.error:.3f}",
            f"{measured.answers.error:.3f}",
            f"{measured.sources.ranks:.3f}",
        )
    return table


def _told(share: Share) -> str:
    return f"{share.share:.1%} [{share.ci95[0]:.0%}, {share.ci95[1]:.0%}] of {share.n}" if share.n else "-"
