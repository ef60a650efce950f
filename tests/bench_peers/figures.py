"""What was measured as figures and as a table of Markdown. Quality is
measured as `footnote eval conversations` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np
from numpy.typing import NDArray

from kb.evaluation import metrics
from kb.evaluation.corpus import corpus_chunks
from kb.evaluation.datasets import DataSet
from tests.bench.figures import percentile
from tests.bench_peers.driver import Passage
from tests.bench_peers.running import Asked, Measured

RECALL, NDCG = metrics.METRICS.index("recall@5"), metrics.METRICS.index("ndcg@5")


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """A question that can be asked alone, and what answers it."""

    asked: Asked
    conversation: str
    relevant: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """One peer's. `*_rest_*` is without embedding; `difference` is nDCG@5
    over the first peer's, with its 95% interval.
    """

    name: str
    about: dict[str, str]
    index_s: float
    index_cpu_s: float
    index_rest_cpu_s: float
    p50_ms: float
    p95_ms: float
    rest_p50_ms: float
    cpu_ms: float
    rest_cpu_ms: float
    memory_mb: float
    first_s: float
    first_cpu_s: float
    ndcg: float
    recall: float
    difference: tuple[float, float, float]
    loads: tuple[float, float]


def judged(data: DataSet) -> list[Judged]:
    """Every labelled turn by its gold rewrite: no peer is given the thread, so none has to understand it."""
    return [
        Judged(
            asked=Asked(id=f"{talk.id}:{turn.number}", text=turn.gold_rewrite),
            conversation=talk.id,
            relevant=turn.relevant,
        )
        for talk in data.conversations
        for turn in talk.turns
        if turn.relevant
    ]


def passages(data: DataSet) -> list[Passage]:
    texts = {
        chunk.id: (chunk.text, chunk.embedded_text) for _, chunks in corpus_chunks(data) for chunk in chunks
    }
    return [
        Passage(
            id=one.id,
            page=one.page,
            title=one.title,
            text=one.text,
            url=one.url,
            content=texts[one.id][1],
        )
        for one in data.passages
        if texts[one.id][1].strip()
    ]


def cut(data: DataSet, most: int | None) -> DataSet:
    """A smaller pool: all that is judged relevant, with its twins, and so many
    others, in the corpus's order, that there are `most`. Easier than the whole.
    """
    if most is None or len(data.passages) <= most:
        return data
    wanted = {one for judgement in judged(data) for one in judgement.relevant}
    groups = {data.twins.get(one, one) for one in wanted}
    kept = {one.id for one in data.passages if data.twins.get(one.id, one.id) in groups}
    for one in data.passages:
        if len(kept) >= most:
            break
        kept.add(one.id)
    return replace(data, passages=tuple(one for one in data.passages if one.id in kept))


def quality(answers: Sequence[Sequence[str]], asked: Sequence[Judged], data: DataSet) -> NDArray[np.float64]:
    """Shape (questions, `metrics.METRICS`)."""
    return np.array(
        [
            metrics.measure(ranking, one.relevant, data.twins)
            for ranking, one in zip(answers, asked, strict=True)
        ]
    )


def figures(measured: Sequence[Measured], asked: Sequence[Judged], data: DataSet) -> list[Figures]:
    """In the order of `measured`; the first is what the others are compared with."""
    qualities = [quality([answer.ranking for answer in one.answers], asked, data) for one in measured]
    return [
        _figures(one, found, _difference(found - qualities[0], asked))
        for one, found in zip(measured, qualities, strict=True)
    ]


def _figures(one: Measured, found: NDArray[np.float64], difference: tuple[float, float, float]) -> Figures:
    steady = one.answers[1:] or one.answers  # the first is told apart
    means = metrics.mean(found)
    return Figures(
        name=one.name,
        about=one.indexed.about,
        index_s=one.indexed.seconds,
        index_cpu_s=one.indexed.cpu_s,
        index_rest_cpu_s=one.indexed.cpu_s - one.indexed.embedding_cpu_s,
        p50_ms=percentile([answer.seconds * 1000 for answer in steady], 50),
        p95_ms=percentile([answer.seconds * 1000 for answer in steady], 95),
        rest_p50_ms=percentile([(answer.seconds - answer.embedding_s) * 1000 for answer in steady], 50),
        cpu_ms=median(answer.cpu_s * 1000 for answer in steady),
        rest_cpu_ms=median((answer.cpu_s - answer.embedding_cpu_s) * 1000 for answer in steady),
        memory_mb=one.memory_mb,
        first_s=median(one.first_s),
        first_cpu_s=median(one.first_cpu_s),
        ndcg=means[NDCG],
        recall=means[RECALL],
        difference=difference,
        loads=one.loads,
    )


def _difference(rows: NDArray[np.float64], asked: Sequence[Judged]) -> tuple[float, float, float]:
    interval = metrics.interval(rows, [one.conversation for one in asked])
    return metrics.mean(rows)[NDCG], interval.low[NDCG], interval.high[NDCG]


def table(rows: Sequence[Figures]) -> str:
    """Markdown: a row a peer, then how each was set up."""
    head = (
        "", "index, s (CPU)", "of it not embedding, CPU s", "question, ms p50 / p95", "of it not embedding, p50",
        "CPU ms a question (not embedding)", "first passages of a process, s (CPU)", "memory, MB", "nDCG@5", "recall@5",
        "nDCG@5 over the first row's, 95%", "load",
    )  # fmt: skip
    lines = [_row(head), "|---" * len(head) + "|", *(_row(_cells(one)) for one in rows), ""]
    about = ("version", "store", "search", "encoder", "kept")
    lines += [_row(("", *about)), "|---" * (len(about) + 1) + "|"]
    lines += [_row((one.name, *(one.about.get(key, "") for key in about))) for one in rows]
    return "\n".join(lines)


def _cells(one: Figures) -> tuple[str, ...]:
    mean, low, high = one.difference
    return (
        one.name,
        f"{one.index_s:.1f} ({one.index_cpu_s:.1f})",
        f"{one.index_rest_cpu_s:.2f}",
        f"{one.p50_ms:.1f} / {one.p95_ms:.1f}",
        f"{one.rest_p50_ms:.1f}",
        f"{one.cpu_ms:.1f} ({one.rest_cpu_ms:.1f})",
        f"{one.first_s:.1f} ({one.first_cpu_s:.1f})",
        f"{one.memory_mb:.0f}",
        f"{one.ndcg:.3f}",
        f"{one.recall:.3f}",
        f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]" if one.difference != (0, 0, 0) else "",
        f"{one.loads[0]:.1f} to {one.loads[1]:.1f}",
    )


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
