"""`footnote eval decline`: asks what the pages answer and what they do not; fits or measures the quoting threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bot.cli.evaluation.conversations import open_evaluation, versions
from bot.cli.evaluation.decline_tables import decline_tables
from bot.cli.evaluation.report import Report, tracked
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
    ObservationTable,
    by_conversation,
    by_data_set,
    fitted,
    in_sample,
    weights_of,
)
from kb.retrieval.confidence import RelevanceModel
from kb.retrieval.rerank import Reranker
from kb.retrieval.weights import ScorerWeights, Weights, model_key, weights_text

SECTIONS = {"embed", "rerank", "search", "anchors", "rewrite", "answer"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Observed:
    """`reranked` is empty where there is no cross-encoder."""

    plain: list[Observation]
    reranked: list[Observation]
    model: RelevanceModel
    """What the settings answer with, without this run's fit."""


async def decline(
    settings: Settings,
    folders: Sequence[Path],
    *,
    lenders: Sequence[Path] = (),
    number: int = 200,
    fit: bool = False,
    weights_out: Path | None = None,
) -> Report:
    """Asks the questions of data sets. The exit code is 1 where a target is missed; with `fit` that is measured on
    conversations that were left out of it.

    Args:
        lenders: data sets or folders of Markdown that lend strangers, beside the other data sets.
        number: how many strangers over all data sets.
        weights_out: takes the fitted weights; needs `fit`.
    """
    if weights_out is not None and not fit:
        raise SettingsError("--weights needs --fit: there is nothing fitted to write")
    data_sets = [read_data_set(folder) for folder in folders]
    observed = await _observed(settings, data_sets, lenders, number)
    rankings = {"plain": observed.plain, "reranked": observed.reranked}
    measured: dict[str, dict[str, DeclineFigures]] = {}
    fits: dict[str, ScorerWeights] = {}
    for name, observations in rankings.items():
        if not observations:
            continue
        questions = ObservationTable(observations)
        if fit:
            scorer = fitted(questions, np.ones(len(questions.seen), dtype=bool))
            fits[name] = weights_of(scorer, reranked=name == "reranked")
            measured[name] = {
                "in sample": in_sample(questions, scorer),
                "by conversation": by_conversation(questions),
                **{f"without {left_out}": figures for left_out, figures in by_data_set(questions).items()},
            }
        elif (configured := getattr(observed.model, name)) is not None:
            chosen = settings.answer.min_confidence
            scorer = configured if chosen is None else replace(configured, threshold=chosen)
            measured[name] = {"as configured": in_sample(questions, scorer)}
    weights = _weights(settings, data_sets, fits) if fit else None
    if weights_out is not None and weights is not None:
        weights_out.write_text(weights_text(weights), encoding="utf-8")
    headline = "by conversation" if fit else "as configured"
    return Report(
        figures={
            "data_sets": {
                data.name: {"corpus_hash": data.corpus_hash, "questions_hash": data.questions_hash}
                for data in data_sets
            },
            "seed": SEED,
            "settings": settings.model_dump(mode="json", include=SECTIONS),
            "versions": versions(),
            "measured": {
                name: {way: figures.model_dump(mode="json") for way, figures in ways.items()}
                for name, ways in measured.items()
            },
            "weights": weights.model_dump(mode="json") if weights else None,
            "questions": {
                name: [_question(question) for question in seen] for name, seen in rankings.items()
            },
        },
        shown=[
            shown for name, ways in measured.items() for shown in decline_tables(name, ways, rankings[name])
        ],
        code=0 if all(ways[headline].reached for ways in measured.values()) else 1,
    )


async def _observed(
    settings: Settings, data_sets: Sequence[DataSet], lenders: Sequence[Path], number: int
) -> Observed:
    memory = Memory(keep=settings.search.keep)
    off = Reranker(RerankSettings(model="off"))
    plain: list[Observation] = []
    reranked: list[Observation] = []
    model: RelevanceModel | None = None
    for position, data in enumerate(data_sets):
        share = number * (position + 1) // len(data_sets) - number * position // len(data_sets)
        strangers = _strangers(data, data_sets, lenders, share)
        total = sum(len(talk.turns) for talk in data.conversations) + share
        async with open_evaluation(settings, data) as pipeline:
            model = pipeline.evidence.relevance
            without = replace(pipeline, retriever=replace(pipeline.retriever, ranker=off))
            asked = observe(without, data, strangers, memory)
            text = f"Asking {data.name} without a reranker"
            plain += [seen async for seen in tracked(asked, text, total=total)]
            if pipeline.retriever.ranker.available:
                asked = observe(pipeline, data, strangers, memory)
                text = f"Asking {data.name} with the reranker"
                reranked += [seen async for seen in tracked(asked, text, total=total)]
    off.close()
    if model is None:
        raise SettingsError("name at least one data set")
    return Observed(plain=plain, reranked=reranked, model=model)


def _strangers(
    data: DataSet, data_sets: Sequence[DataSet], lenders: Sequence[Path], number: int
) -> list[Stranger]:
    """Draws from the other data sets and from those that lend theirs."""
    pools = [strangers_from(other) for other in data_sets if other is not data]
    for folder in lenders:
        is_data_set = (folder / "conversations.jsonl").exists()
        pools.append(strangers_from(read_data_set(folder)) if is_data_set else strangers_from_pages(folder))
    if not any(pools):
        raise SettingsError("there is nobody to ask out of place: name a second data set, or --strangers DIR")
    return drawn(pools, number)


def _weights(settings: Settings, data_sets: Sequence[DataSet], fits: Mapping[str, ScorerWeights]) -> Weights:
    return Weights(
        embedder=model_key(settings.embed.model),
        reranker=model_key(settings.rerank.model) if "reranked" in fits else None,
        fitted_on=tuple(data.name for data in data_sets),
        plain=fits["plain"],
        reranked=fits.get("reranked"),
    )


def _question(seen: Observation) -> dict[str, Any]:
    return {
        "id": seen.id,
        "data_set": seen.data_set,
        "kind": seen.kind,
        "source": seen.source,
        "in_thread": seen.in_thread,
        "asked_back": seen.asked_back,
        "signals": seen.signals,
    }
