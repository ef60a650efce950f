"""`python -m tests.bench.indexing [--pages DIR] [--large N] [--json FILE] [--strict]`: what a sync costs, and whom.

a first sync against the bare embedder -> one with nothing to do -> searches while the index is rebuilt
-> ONNX Runtime against torch, and two models against one -> with --large: memory of a sync of N pages
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from bot.cli.composition.runtime import Runtime, open_runtime
from bot.cli.session.local import LocalSession
from bot.cli.session.requests import IngestRequest
from kb.config.configuration import load_settings
from kb.inference.onnx.opening import multiplies_int8_fast
from kb.jobs import SyncReport
from kb.models import Audience
from kb.retrieval.queries import WeightedQuery
from tests.bench.figures import Target, percentile
from tests.bench.large import peak_of
from tests.bench.pages import copy_sample
from tests.bench.questions import WORDINGS, questions_about, sample_questions
from tests.bench.report import show_targets
from tests.bench.runtimes import ALONE, JOINED, Speeds, compare

BARE_SHARE = 0.9
"""Passages a second of a first sync, over those of the embedder alone."""
UNCHANGED = 200.0
"""A first sync's time over that of one that finds nothing changed."""
WHILE_REINDEXING = 1.5
"""p95 of a search while the index is rebuilt, over that of an idle bot."""
JOINED_TIME = 2.0
"""Embedding passages with both packaged models, over all-MiniLM-L6-v2 alone."""
JOINED_QUERY_MS = 25.0
"""What a question may wait longer with both."""
LARGE_MB = 1500.0
PAUSE_S = 0.05
"""Between two searches: the bot is asked all the time, but has time for other things."""
IDLE_SEARCHES = 100
"""Before the rebuild, and again after it: whatever else the machine does hits both."""
UNCHANGED_SYNCS = 5
COPIES = 5
"""Of the sample handbook: what a start costs once (a reading process,
the files of an index) is not what a page costs.
"""


@dataclass(kw_only=True)
class Round:
    """Seconds, and milliseconds of searches."""

    first_s: float
    bare_s: float
    unchanged_s: list[float] = field(default_factory=list)
    idle_ms: list[float] = field(default_factory=list)
    rebuilding_ms: list[float] = field(default_factory=list)
    rebuild_s: float = 0.0
    pages: int = 0
    passages: int = 0


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="footnote-bench-") as folder:
        told = asyncio.run(_measured(Path(folder), options))
    _show(told, Console(width=None if sys.stdout.isatty() else 130))
    if options.json is not None:
        options.json.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    return 1 if options.strict and not all(target["met"] for target in told["targets"]) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.indexing", description=__doc__.partition("\n")[0]
    )
    parser.add_argument(
        "--pages", type=Path, help="a folder of pages instead of copies of the sample handbook"
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a target is missed")
    parser.add_argument("--rounds", type=int, default=2, help="first syncs, each on an empty index (2)")
    parser.add_argument(
        "--large", type=int, default=0, metavar="N", help="also sync N short pages (10000: some 10 minutes)"
    )
    return parser.parse_args()


async def _measured(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    rounds, texts = [], []
    pages = options.pages or copy_sample(COPIES, folder / "pages")
    for number in range(options.rounds):
        _progress(f"round {number + 1} of {options.rounds} ...")
        settings = load_settings(
            environ={}, data=folder / str(number), rerank={"model": "off"}, model={"provider": "none"}
        )
        async with open_runtime(settings, "bench", models=True) as runtime:
            one, texts = await _round(runtime, pages, questions_of_sample=options.pages is None)
            rounds.append(one)
    _progress("ONNX Runtime and torch, one model and two, in turns ...")
    speeds = await compare(texts)
    large = peak_of(options.large, options.pages, folder / "large") if options.large else None
    return {
        "machine": {
            "cores": len(os.sched_getaffinity(0)),
            "load_1m_at_end": os.getloadavg()[0],
            "multiplies_int8_fast": multiplies_int8_fast(),
        },
        "rounds": [asdict(one) for one in rounds],
        "speeds": asdict(speeds),
        "large": asdict(large) if large else None,
        "targets": [
            {**asdict(target), "met": target.met}
            for target in _targets(rounds, speeds, large.peak_mb if large else None)
        ],
    }


async def _round(runtime: Runtime, pages: Path, *, questions_of_sample: bool) -> tuple[Round, list[str]]:
    request = IngestRequest(paths=(pages.expanduser().resolve(),))
    started = time.perf_counter()
    report = await _sync(runtime, request)
    first_s = time.perf_counter() - started
    texts = [
        chunk.embedded_text async for batch in runtime.index.passages(audience=Audience()) for chunk in batch
    ]
    started = time.perf_counter()
    await runtime.embedder.background.embed_documents(texts)
    one = Round(first_s=first_s, bare_s=time.perf_counter() - started)
    one.pages, one.passages = len(report.added), len(texts)
    for _ in range(UNCHANGED_SYNCS):
        started = time.perf_counter()
        await _sync(runtime, IngestRequest())
        one.unchanged_s.append(time.perf_counter() - started)
    questions = iter(await _questions(runtime, of_sample=questions_of_sample))
    one.idle_ms += await _searches_ms(runtime, itertools.islice(questions, IDLE_SEARCHES))
    rebuild = asyncio.create_task(_timed_rebuild(runtime))
    await asyncio.sleep(0.5)  # it has listed its sources and is at work
    while not rebuild.done():
        one.rebuilding_ms += await _searches_ms(runtime, [next(questions)])
    one.rebuild_s = await rebuild
    one.idle_ms += await _searches_ms(runtime, itertools.islice(questions, IDLE_SEARCHES))
    return one, texts


async def _sync(runtime: Runtime, request: IngestRequest) -> SyncReport:
    async for step in LocalSession(runtime).ingest(request):
        if step.phase == "failed":
            raise RuntimeError(f"the sync failed: {step.error}")
        if step.report is not None:
            report = step.report
    return report


async def _timed_rebuild(runtime: Runtime) -> float:
    started = time.perf_counter()
    await _sync(runtime, IngestRequest(full=True))
    return time.perf_counter() - started


async def _questions(runtime: Runtime, *, of_sample: bool) -> Iterator[str]:
    """Without end, each another wording, so that no cache has its vector."""
    asked = sample_questions() if of_sample else await questions_about(runtime.index, 50)
    return (
        f"{wording.format(question)} ({number})"
        for number in itertools.count()
        for question in asked
        for wording in WORDINGS
    )


async def _searches_ms(runtime: Runtime, questions: Iterable[str]) -> list[float]:
    taken = []
    for question in questions:
        await asyncio.sleep(PAUSE_S)
        started = time.perf_counter()
        await runtime.pipeline.retriever.searcher.search(
            [WeightedQuery(text=question, weight=1.0)], audience=Audience(), language="en"
        )
        taken.append((time.perf_counter() - started) * 1000)
    return taken


def _targets(rounds: Sequence[Round], speeds: Speeds, peak_mb: float | None) -> list[Target]:
    targets = [
        Target(
            name="a first sync's speed / the bare embedder's",
            limit=BARE_SHARE,
            measured=sum(one.bare_s for one in rounds) / sum(one.first_s for one in rounds),
            unit="x",
            least=True,
        ),
        Target(
            name="a first sync's time / one with nothing changed",
            limit=UNCHANGED,
            measured=median(one.first_s for one in rounds)
            / median(seconds for one in rounds for seconds in one.unchanged_s),
            unit="x",
            least=True,
        ),
        Target(
            name="search p95 while rebuilding / idle",
            limit=WHILE_REINDEXING,
            measured=percentile([ms for one in rounds for ms in one.rebuilding_ms], 95)
            / percentile([ms for one in rounds for ms in one.idle_ms], 95),
            unit="x",
        ),
    ]
    if multiplies_int8_fast():
        int8 = speeds.ratio("onnx int8")
        targets.append(Target(name="ONNX int8 / torch fp32", limit=4.0, measured=int8, unit="x", least=True))
    if JOINED in speeds.of:
        longer = speeds.of[JOINED].query_ms - speeds.of[ALONE].query_ms
        targets += [
            Target(
                name="embedding time: multilingual / all-MiniLM-L6-v2",
                limit=JOINED_TIME,
                measured=speeds.ratio(ALONE, JOINED),
                unit="x",
            ),
            Target(
                name="a question: multilingual - all-MiniLM-L6-v2",
                limit=JOINED_QUERY_MS,
                measured=longer,
                unit="ms",
            ),
        ]
    if peak_mb is not None:
        targets.append(Target(name="peak memory", limit=LARGE_MB, measured=peak_mb, unit="MB"))
    return targets


def _show(told: dict[str, Any], console: Console) -> None:
    machine, first = told["machine"], told["rounds"][0]
    fast = "fast" if machine["multiplies_int8_fast"] else "no fast"
    console.print(
        f"{first['pages']} pages, {first['passages']} passages; {machine['cores']} cores with {fast} 8-bit arithmetic, "
        f"load {machine['load_1m_at_end']:.1f}",
        highlight=False,
    )
    table = Table(
        *("sync", "first (s)", "bare (s)", "nothing changed (ms)", "rebuild (s)", "idle p50/p95 (ms)"),
        "rebuilding p50/p95 (ms)",
        box=None,
    )
    for number, one in enumerate(told["rounds"], 1):
        idle, rebuilding = one["idle_ms"], one["rebuilding_ms"]
        table.add_row(
            f"round {number}",
            f"{one['first_s']:.1f}",
            f"{one['bare_s']:.1f}",
            f"{median(one['unchanged_s']) * 1000:.0f}",
            f"{one['rebuild_s']:.1f}",
            f"{percentile(idle, 50):.1f} / {percentile(idle, 95):.1f}",
            f"{percentile(rebuilding, 50):.1f} / {percentile(rebuilding, 95):.1f} of {len(rebuilding)}",
        )
    console.print(table, highlight=False)
    table = Table("embedder", "passages/s", "x torch fp32", "cosine to exact", "query (ms)", box=None)
    for name, speed in told["speeds"]["of"].items():
        table.add_row(
            name,
            f"{speed['passages_per_s']:.1f}",
            f"{speed['passages_per_s'] / told['speeds']['of']['torch fp32']['passages_per_s']:.2f}",
            "" if speed["cosine"] is None else f"{speed['cosine']:.4f}",
            f"{speed['query_ms']:.1f}",
        )
    console.print(table, highlight=False)
    if told["large"]:
        large = told["large"]
        console.print(
            f"{large['pages']} pages, {large['passages']} passages: {large['seconds']:.0f} s, peak {large['peak_mb']:.0f} MB "
            f"(readers {large['readers_mb']:.0f} MB)",
            highlight=False,
        )
    show_targets(told["targets"], console)


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
