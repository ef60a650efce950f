"""`footnote eval citations`: the check of citations on labelled sentences, with and without a model of meaning."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bot.cli.as_json import write_json
from kb.citations import Similarity
from kb.embed import Embedder
from kb.errors import SettingsError
from kb.evaluation.citations import (
    CAUGHT_TARGET,
    REMOVED_LIMIT,
    CitationFigures,
    Counted,
    Kind,
    LabelledPassage,
    PairResult,
    Split,
    check_pairs,
    figures,
    read_labelled,
)
from kb.rerank import Reranker
from kb.settings import Settings
from kb.similarity import CrossEncoderSimilarity, EmbeddingSimilarity

Judge = Literal["embedder", "cross-encoder", "none"]
OURS = Path(__file__).parents[2] / "tests" / "golden" / "citations.jsonl"


@dataclass(frozen=True, kw_only=True, slots=True)
class CitationsRequest:
    """`judge`: who is asked about meaning; answers ask the embedder, quotes of the pages nobody.

    `misses`: name the sentences that were judged wrongly. `split`: None for both.
    """

    file: Path | None
    judge: Judge
    split: Split | None
    misses: bool
    out: Path | None


async def citations(settings: Settings, request: CitationsRequest) -> int:
    """Returns 1 below the target in any split that the file has."""
    if request.file is None and not OURS.exists():
        raise SettingsError("name a file of labelled sentences: Footnote's own are in its repository only")
    passages = read_labelled(request.file or OURS)
    held = {passage.split for passage in passages}
    splits = [split for split in get_args(Split) if split in held and request.split in (None, split)]
    measured: dict[Split, CitationFigures] = {}
    wrong: list[PairResult] = []
    async with _similarity(settings, request.judge) as similarity:
        for split in splits:
            results = await _checked([one for one in passages if one.split == split], similarity, split)
            measured[split] = figures(results)
            wrong += [one for one in results if not one.right]
    console = Console()
    for split, found in measured.items():
        console.print(_table(split, found, request.judge))
    if request.misses:
        for one in wrong:
            told = f"{one.passage.id} {one.languages} {one.sentence.kind}: {one.reason or 'kept'}: {one.sentence.text}"
            console.print(told, markup=False, highlight=False)
    _write(request.out, settings, request.judge, measured, wrong)
    return 0 if all(found.reached for found in measured.values()) else 1


@asynccontextmanager
async def _similarity(settings: Settings, judge: Judge) -> AsyncIterator[Similarity | None]:
    if judge == "none":
        yield None
        return
    if judge == "cross-encoder":
        reranker = Reranker(settings.rerank)
        try:
            await reranker.ready()
            if not reranker.available:
                raise SettingsError(f"there is no cross-encoder to ask: {reranker.reason}")
            yield CrossEncoderSimilarity(reranker)
        finally:
            reranker.close()
        return
    embedder = Embedder(settings.embed)
    try:
        await embedder.ready()
        yield EmbeddingSimilarity(embedder)
    finally:
        embedder.close()


async def _checked(
    passages: Sequence[LabelledPassage], similarity: Similarity | None, split: Split
) -> list[PairResult]:
    shown = track(passages, f"Checking {split}", console=Console(stderr=True))
    return [result for passage in shown async for result in check_pairs([passage], similarity)]


def _table(split: Split, found: CitationFigures, judge: Judge) -> Table:
    kinds: tuple[Kind, ...] = get_args(Kind)
    table = Table("languages", *kinds, title=f"{split}, judge of meaning: {judge}", box=box.SIMPLE_HEAD)
    for language, counts in found.languages.items():
        table.add_row(language, *(_cell(counts[kind]) for kind in kinds))
    table.add_section()
    table.add_row("all", *(_cell(found.kinds[kind]) for kind in kinds))
    removed = 1 - (found.kept.share or 0.0)
    table.caption = (
        f"true sentences kept, others removed. Of number to swap {found.caught.share or 0:.1%} caught "
        f"(target {CAUGHT_TARGET:.0%}), of the true {removed:.1%} removed (at most {REMOVED_LIMIT:.0%})"
    )
    return table


def _cell(counted: Counted) -> str:
    return f"{counted.right}/{counted.of}" if counted.of else "-"


def _write(
    out: Path | None,
    settings: Settings,
    judge: Judge,
    measured: dict[Split, CitationFigures],
    wrong: Sequence[PairResult],
) -> None:
    if out is None:
        return
    told: dict[str, Any] = {
        "config": {"judge": judge, "embedder": settings.embed.model, "reranker": settings.rerank.model},
        "splits": {
            split: {**found.model_dump(), "caught_share": found.caught.share, "kept_share": found.kept.share}
            for split, found in measured.items()
        },
        "wrong": [
            {
                "passage": one.passage.id,
                "split": one.passage.split,
                "languages": one.languages,
                "kind": one.sentence.kind,
                "reason": one.reason,
                "text": one.sentence.text,
            }
            for one in wrong
        ],
    }
    write_json(out, told)
