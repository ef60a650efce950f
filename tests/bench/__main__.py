"""`python -m tests.bench [--pages DIR] [--json FILE] [--strict]`: measures, prints, and compares with the targets.

index and start -> first answer -> steady answers against the bare model -> the way over Slack and the queue
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from bot.cli.composition.runtime import open_runtime
from kb.config.configuration import load_settings
from tests.bench.answering import measure, recording
from tests.bench.figures import READY_S, REST_MS, STEADY_RATIO, WORDS_MS, Target, percentile, summary
from tests.bench.questions import questions_about, sample_questions
from tests.bench.report import show
from tests.bench.slack import mentions_ms
from tests.bench.starting import WordsKnown, start, words_known

WIDTH = 130
"""Columns of the tables where nobody says how wide the paper is."""


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="footnote-bench-") as folder:
        told = asyncio.run(_measured(Path(folder) / "data", options))
    show(told, Console(width=None if sys.stdout.isatty() else WIDTH))
    if options.json is not None:
        options.json.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    return 1 if options.strict and not all(target["met"] for target in told["targets"]) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=Path, help="a folder of pages instead of the sample handbook")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a target is missed")
    parser.add_argument("--questions", type=int, default=30, help="how many different questions (30)")
    parser.add_argument("--rounds", type=int, default=2, help="rounds over all of them (2)")
    parser.add_argument("--starts", type=int, default=3, help="starts that are measured (3)")
    return parser.parse_args()


async def _measured(data: Path, options: argparse.Namespace) -> dict[str, Any]:
    pages = options.pages.expanduser().resolve() if options.pages else None
    _progress("indexing, in a first start ...")
    first_time = await start(data, pages, question=None)
    settings = load_settings(environ={}, data=data, rerank={"model": "off"})
    async with open_runtime(settings, "bench", models=False) as runtime:
        runtime, embedder = recording(runtime)
        try:
            words = await words_known(runtime)
            counts = await runtime.index.counts()
            asked = await questions_about(runtime.index, options.questions) if pages else sample_questions()
            asked = asked[: options.questions]
            await runtime.load_models()
            _progress(f"asking {len(asked)} questions, {options.rounds} rounds ...")
            answering = await measure(runtime.pipeline, embedder, asked, rounds=options.rounds)
            _progress("mentions in Slack ...")
            mentions = await mentions_ms(runtime, [f"Hello, {question}?" for question in asked])
            peak_mb = _peak_mb()
        finally:
            embedder.close()
    starts = []
    for number in range(options.starts):
        _progress(f"start {number + 1} of {options.starts} ...")
        starts.append(await start(data, pages, f"{asked[number % len(asked)]}?"))
    kinds = {"unread": summary(answering.unread), "read_before": summary(answering.read_before)}
    return {
        "machine": {"cores": _cores(), "load_1m_at_end": os.getloadavg()[0]},
        "pages": counts.pages,
        "passages": counts.chunks,
        "questions": len(asked),
        "first_answer": asdict(answering.first),
        "steady": kinds,
        "mention_to_answer_p50_ms": percentile(mentions, 50),
        "mention_to_answer_p95_ms": percentile(mentions, 95),
        "words": asdict(words),
        "first_start_with_indexing": asdict(first_time),
        "starts": [asdict(one) for one in starts],
        "peak_mb": peak_mb,
        "targets": _targets(kinds, [one.ready_s for one in starts], words),
    }


def _targets(
    kinds: dict[str, dict[str, float]], ready_s: list[float], words: WordsKnown
) -> list[dict[str, Any]]:
    unread, read = kinds["unread"], kinds["read_before"]
    targets = [
        Target(name="steady p50 / bare calls", limit=STEADY_RATIO, measured=unread["ratio_of_p50"], unit="x"),
        Target(
            name="everything else, p50", limit=REST_MS, measured=unread["everything_else_p50_ms"], unit="ms"
        ),
        Target(
            name="everything else on pages read before, p50",
            limit=REST_MS,
            measured=read["everything_else_p50_ms"],
            unit="ms",
        ),
        Target(name="ready, median", limit=READY_S, measured=median(ready_s), unit="s"),
        Target(name="words of the pages known", limit=WORDS_MS, measured=words.known_ms, unit="ms"),
    ]
    return [{**asdict(target), "met": target.met} for target in targets]


def _peak_mb() -> float:
    """Of this process, which has done all of the answering. Linux counts in kB, macOS in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
