"""The tables of `footnote eval decline`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table

from bot.cli.evaluation.report import table
from kb.evaluation.decline import Observation
from kb.evaluation.decline_report import ByKind, DeclineFigures, Endings, Share


def decline_tables(
    ranking: str, ways: Mapping[str, DeclineFigures], observations: Sequence[Observation]
) -> list[Table]:
    """Makes tables of how questions end in every way measured; by source and with other thresholds for the main one."""
    way = "by conversation" if "by conversation" in ways else next(iter(ways))
    return [
        _decisions(ranking, ways, observations),
        _sources(ranking, way, ways[way]),
        _curve(ranking, way, ways[way]),
    ]


def _decisions(
    ranking: str, ways: Mapping[str, DeclineFigures], observations: Sequence[Observation]
) -> Table:
    asked_back = sum(observation.asked_back for observation in observations)
    title = f"{ranking}: how questions end; asked back: {asked_back} of {len(observations)}"
    rows = table("measured", "questions", "n", "quoted", "closest", "declined", "AUC", title=title)
    for way, measured in ways.items():
        areas = {"near misses": measured.area_near_misses, "strangers": measured.area_strangers}
        for kind, endings in _kinds(measured.decided).items():
            area = areas.get(kind)
            rows.add_row(way, kind, *_cells(endings), "" if area is None else f"{area:.3f}")
    return rows


def _sources(ranking: str, way: str, measured: DeclineFigures) -> Table:
    title = f"{ranking}: by where from, {way}"
    rows = table("unanswerable questions of", "n", "quoted", "closest", "declined", title=title)
    for source, endings in measured.by_source.items():
        rows.add_row(source, *_cells(endings))
    return rows


def _curve(ranking: str, way: str, measured: DeclineFigures) -> Table:
    """Makes a table of quoted / declined of each kind; what is left is called the closest."""
    title = f"{ranking}: quoted / declined with another answer.min_confidence, {way}"
    rows = table("threshold", *_kinds(measured.decided), title=title)
    for point in measured.curve:
        cell = (
            f"{endings.quoted.share:.1%} / {endings.declined.share:.1%}" for endings in _kinds(point).values()
        )
        rows.add_row(f"{point.threshold:.2f}", *cell)
    return rows


def _kinds(measured: ByKind) -> dict[str, Endings]:
    kinds = {
        "answerable": measured.answerable,
        "near misses": measured.near_misses,
        "strangers": measured.strangers,
    }
    return {kind: endings for kind, endings in kinds.items() if endings.n}


def _cells(endings: Endings) -> tuple[str, ...]:
    return str(endings.n), _share(endings.quoted), _share(endings.closest), _share(endings.declined)


def _share(share: Share) -> str:
    return f"{share.share:.1%} [{share.ci95[0]:.0%}, {share.ci95[1]:.0%}]"
