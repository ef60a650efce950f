"""`footnote eval decline`: asks what the pages answer and what they do
not; fits or measures the threshold for quoting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

from bot.cli.as_json import write_json
from bot.cli.evaluation.conversations import ConversationsRequest, open_evaluation, versions
from bot.cli.evaluation.decline_tables import tables
from kb.config.model_settings import RerankSettings
from kb.config.settings import Settings
from kb.errors import SettingsError
from kb.evaluation.conversations import Memory
from kb.evaluation.datasets import DataSet, read_data_set
from kb.evaluation.decline import (
    SEED,
    Observation,
    Stranger,
    drawn,
    observe,
    strangers_from,
    strangers_from_pages,
)
from kb.evaluation.decline_report import (
    DeclineFigures,
    Table,
    by_conversation,
    by_data_set,
    fitted,
    in_sample,
    weights_of,
)
from kb.pipeline import Pipeline
from kb.retrieval.confidence import RelevanceModel, Scorer
from kb.retrieval.rerank import Reranker
from kb.retrieval.weights import Weights, model_key, weights_text

SECTIONS = {"embed", "rerank", "search", "anchors", "rewrite", "answer"}


@dataclass(frozen=True, kw_only=True, slots=True)
class DeclineRequest:
    """`strangers`: how many over all `folders`; `others`: data sets or Markdown folders that lend theirs.

    `out` takes everything, `weights_out` the fitted weights alone; it needs `fit`.
    """

    folders: Sequence[Path]
    others: Sequence[Path] = ()
    strangers: int = 200
    fit: bool = False
    out: Path | None = None
    weights_out: Path | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Observed:
    """`reranked` is empty where there is no cross-encoder."""

    plain: list[Observation]
    reranked: list[Observation]
    model: RelevanceModel
    """What the settings answer with, without this run's fit."""


async def decline(settings: Settings, request: DeclineRequest) -> int:
    """Returns 1 where a target is missed, with `fit` on conversations that were left out of it."""
    if request.weights_out is not None and not request.fit:
        raise SettingsError("--weights needs --fit: there is nothing fitted to write")
    data_sets = [read_data_set(folder) for folder in request.folders]
    observed = await _observed(settings, request, data_sets)
    rankings = {"plain": observed.plain, "reranked": observed.reranked}
    measured: dict[str, dict[str, DeclineFigures]] = {}
    fits = {}
    for name, observations in rankings.items():
        if not observations:
            continue
        table = Table(observations)
        if request.fit:
            scorer = fitted(table, np.ones(len(table.seen), dtype=bool))
            fits[name] = weights_of(scorer, reranked=name == "reranked")
            measured[name] = {
                "in sample": in_sample(table, scorer),
                "by conversation": by_conversation(table),
                **{f"without {one}": of for one, of in by_data_set(table).items()},
            }
        elif (configured := getattr(observed.model, name)) is not None:
            measured[name] = {"as configured": in_sample(table, _configured(configured, settings))}
    weights = _weights(settings, data_sets, fits) if request.fit else None
    _write(request, settings, data_sets, rankings, measured, weights)
    for name, ways in measured.items():
        for table_ in tables(name, ways, rankings[name]):
            Console().print(table_)
    headline = "by conversation" if request.fit else "as configured"
    return 0 if all(ways[headline].reached for ways in measured.values()) else 1


def _configured(scorer: Scorer, settings: Settings) -> Scorer:
    chosen = settings.answer.min_confidence
    return scorer if chosen is None else replace(scorer, threshold=chosen)


async def _observed(settings: Settings, request: DeclineRequest, data_sets: Sequence[DataSet]) -> Observed:
    memory = Memory(keep=settings.search.keep)
    off = Reranker(RerankSettings(model="off"))
    plain: list[Observation] = []
    reranked: list[Observation] = []
    model: RelevanceModel | None = None
    with Progress(console=Console(stderr=True)) as progress:
        for at, data in enumerate(data_sets):
            strangers = _strangers(request, data_sets, at)
            asked = ConversationsRequest(folder=request.folders[at])
            async with open_evaluation(settings, data, asked, progress) as pipeline:
                model = pipeline.evidence.relevance
                without = replace(pipeline, retriever=replace(pipeline.retriever, ranker=off))
                plain += await _asked(without, data, strangers, memory, progress, "without a reranker")
                if pipeline.retriever.ranker.available:
                    reranked += await _asked(pipeline, data, strangers, memory, progress, "with the reranker")
    off.close()
    if model is None:
        raise SettingsError("name at least one data set")
    return Observed(plain=plain, reranked=reranked, model=model)


async def _asked(
    pipeline: Pipeline,
    data: DataSet,
    strangers: Sequence[Stranger],
    memory: Memory,
    progress: Progress,
    how: str,
) -> list[Observation]:
    total = sum(len(talk.turns) for talk in data.conversations) + len(strangers)
    task = progress.add_task(f"Asking {data.name} {how}", total=total)
    found = []
    async for one in observe(pipeline, data, strangers, memory):
        found.append(one)
        progress.advance(task)
    progress.remove_task(task)
    return found


def _strangers(request: DeclineRequest, data_sets: Sequence[DataSet], at: int) -> list[Stranger]:
    """This data set's share of all strangers, from the other data sets and from `others`."""
    pools = [strangers_from(other) for other in data_sets if other is not data_sets[at]]
    for folder in request.others:
        is_data_set = (folder / "conversations.jsonl").exists()
        pools.append(strangers_from(read_data_set(folder)) if is_data_set else strangers_from_pages(folder))
    if not any(pools):
        raise SettingsError("there is nobody to ask out of place: name a second data set, or --strangers DIR")
    share = request.strangers * (at + 1) // len(data_sets) - request.strangers * at // len(data_sets)
    return drawn(pools, share)


def _weights(settings: Settings, data_sets: Sequence[DataSet], fits: dict[str, Any]) -> Weights:
    return Weights(
        embedder=model_key(settings.embed.model),
        reranker=model_key(settings.rerank.model) if "reranked" in fits else None,
        fitted_on=tuple(data.name for data in data_sets),
        plain=fits["plain"],
        reranked=fits.get("reranked"),
    )


def _write(
    request: DeclineRequest,
    settings: Settings,
    data_sets: Sequence[DataSet],
    rankings: dict[str, list[Observation]],
    measured: dict[str, dict[str, DeclineFigures]],
    weights: Weights | None,
) -> None:
    if request.weights_out is not None and weights is not None:
        request.weights_out.write_text(weights_text(weights), encoding="utf-8")
    if request.out is None:
        return
    report = {
        "data_sets": {
            data.name: {"corpus_hash": data.corpus_hash, "questions_hash": data.questions_hash}
            for data in data_sets
        },
        "seed": SEED,
        "settings": settings.model_dump(mode="json", include=SECTIONS),
        "versions": versions(),
        "measured": {
            name: {way: of.model_dump(mode="json") for way, of in ways.items()}
            for name, ways in measured.items()
        },
        "weights": weights.model_dump(mode="json") if weights else None,
        "questions": {
            name: [
                {
                    "id": observation.id,
                    "data_set": observation.data_set,
                    "kind": observation.kind,
                    "source": observation.source,
                    "in_thread": observation.in_thread,
                    "asked_back": observation.asked_back,
                    "signals": observation.signals,
                    "shares_words": observation.shares_words,
                }
                for observation in observations
            ]
            for name, observations in rankings.items()
        },
    }  # fmt: skip
    write_json(request.out, report)
