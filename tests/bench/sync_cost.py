"""`python -m tests.bench.sync_cost [--pages DIR] [--passages N] [--json
FILE] [--strict]`: what a first sync costs beside embedding.

copies of the pages -> a first sync into an empty index, by vectors of noise -> processor time of all its processes

Everything but the model is what a bot runs: its readers' processes, the model's own tokenizer, the engine on a disk.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

import numpy as np
import psutil
from numpy.typing import NDArray

from bot.cli.composition.sources import sample_folder
from ingest.parsers.pool import ReaderPool
from ingest.sources.folder import FolderSource
from ingest.sync.sync import Sync
from kb.config.model_settings import EmbedSettings
from kb.config.sources import FolderSettings
from kb.index.embedded.index import EdgeIndex
from kb.inference.embedder import Embedder
from kb.retrieval.lexical import LexicalEncoder
from kb.text.language import warm_up
from tests.bench.figures import Target

PASSAGES = 15_650
SECONDS = 8.0
"""Of a processor, for so many passages."""
SUFFIXES = frozenset({".md", ".mdx", ".erb"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """Seconds of a processor: of the sync's own process and of its readers. `wall_s`: how long it took."""

    pages: int
    failed: int
    passages: int
    own_s: float
    parsing_s: float
    cutting_s: float
    wall_s: float
    load_1m: float

    @property
    def total_s(self) -> float:
        return self.own_s + self.parsing_s + self.cutting_s

    @property
    def scaled_s(self) -> float:
        """For `PASSAGES`."""
        return self.total_s / self.passages * PASSAGES


class NoiseEmbedder(Embedder):
    """The embedder's tokenizer and its shapes, and no model."""

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        noise = np.random.default_rng(len(texts)).standard_normal(
            (len(texts), self.dimension), dtype=np.float32
        )
        return noise / np.linalg.norm(noise, axis=1, keepdims=True)


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="footnote-bench-") as folder:
        cost = asyncio.run(_measured(Path(folder), options.pages or sample_folder(), options.passages))
    target = Target(name=f"CPU s for {PASSAGES:,} passages", limit=SECONDS, measured=cost.scaled_s, unit="s")
    print(
        f"{cost.pages} pages ({cost.failed} failed), {cost.passages} passages: {cost.total_s:.1f} s CPU "
        f"(own {cost.own_s:.1f}, parsing {cost.parsing_s:.1f}, cutting {cost.cutting_s:.1f}), {cost.wall_s:.1f} s wall, "
        f"load {cost.load_1m:.1f}; for {PASSAGES:,}: {cost.scaled_s:.1f} s of {SECONDS:.0f}"
    )
    if options.json is not None:
        told = {**asdict(cost), "total_s": cost.total_s, "scaled_s": cost.scaled_s}
        options.json.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    return 1 if options.strict and not target.met else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.sync_cost", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--pages", type=Path, help="a folder of Markdown instead of the sample handbook")
    parser.add_argument(
        "--passages", type=int, default=PASSAGES, help=f"at least so many, by copies ({PASSAGES})"
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when the target is missed")
    return parser.parse_args()


async def _measured(folder: Path, pages: Path, passages: int) -> Cost:
    warm_up()
    model = NoiseEmbedder(EmbedSettings())
    await model.ready()
    try:
        one = await _synced(folder / "one", _copied(pages, 1, folder / "once"), model)
        copies = -(-passages // one.passages)
        return await _synced(folder / "all", _copied(pages, copies, folder / "pages"), model)
    finally:
        model.close()


def _copied(pages: Path, copies: int, target: Path) -> Path:
    """No page is another's twin: each paragraph of the copies has a word more."""
    for page in pages.expanduser().resolve().rglob("*"):
        if page.is_file() and page.suffix in SUFFIXES:
            text = page.read_text(encoding="utf-8", errors="surrogateescape")
            for copy in range(copies):
                to = target / str(copy) / page.relative_to(pages.expanduser().resolve())
                to.parent.mkdir(parents=True, exist_ok=True)
                altered = text.replace(".\n", f", c{copy}.\n") if copy else text
                to.write_text(altered, encoding="utf-8", errors="surrogateescape")
    return target


async def _synced(folder: Path, pages: Path, model: Embedder) -> Cost:
    folder.mkdir()
    reader, index = ReaderPool(), EdgeIndex(folder / "index")
    sync = Sync(
        index=index,
        embedder=model,
        lexical=LexicalEncoder(),
        sources=lambda: [FolderSource(FolderSettings(name="pages", path=pages))],
        clock=lambda: datetime.now(UTC),
        reader=reader,
    )
    started, own, ended = time.perf_counter(), _seconds(RUSAGE_SELF), _seconds(RUSAGE_CHILDREN)
    report = await sync.run()
    own = _seconds(RUSAGE_SELF) - own
    wall = time.perf_counter() - started
    cutting = _running_s("cutter")
    counts = await index.counts()
    await index.close()
    await reader.close()
    return Cost(
        pages=counts.pages,
        failed=len(report.failed),
        passages=counts.chunks,
        own_s=own,
        parsing_s=_seconds(RUSAGE_CHILDREN) - ended - cutting,
        cutting_s=cutting,
        wall_s=wall,
        load_1m=os.getloadavg()[0],
    )


def _seconds(whose: int) -> float:
    used = getrusage(whose)
    return used.ru_utime + used.ru_stime


def _running_s(named: str) -> float:
    """Of the processes that this one started and that run a module of that name."""
    times = [
        one.cpu_times() for one in psutil.Process().children() if any(named in part for part in one.cmdline())
    ]
    return sum(one.user + one.system for one in times)


if __name__ == "__main__":
    sys.exit(main())
