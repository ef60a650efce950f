"""One large index in a process of its own, for `tests.bench.large_index`: prints its figures as JSON.

python -m tests.bench.large_measured WORK/N FORM MODEL [--data-set DIR] [--questions N]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from bot.cli.composition.pipeline import build_pipeline, freshness_policy
from bot.cli.composition.runtime import utc_now
from kb.evaluation.conversations import Memory, walk
from kb.evaluation.datasets import read_data_set
from kb.index.embedded.index import EdgeIndex
from kb.index.port import QueryVectors, SparseVector
from kb.inference.embedder import Embedder
from kb.models import Audience
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.queries import WeightedQuery
from kb.retrieval.rerank import Reranker
from kb.retrieval.search import Search
from kb.retrieval.vocabulary import Vocabulary
from kb.text.language import warm_up
from tests.bench.large_forms import anonymous_mb
from tests.bench.large_sets import CHANNEL, settings_of

RECALLED = 20
MB = 2**20
EVERYONE = Audience()
FEW = Audience(channels=frozenset({CHANNEL}), everyone=False)


def asked(headings: Sequence[str]) -> list[dict[str, list[WeightedQuery]]]:
    """Each heading alone, and in a thread: by itself, after a rewrite, and among the words of the heading before it."""
    found = []
    for before, heading in zip([headings[-1], *headings], headings, strict=False):
        alone = WeightedQuery(text=heading, weight=1.0)
        rewritten = WeightedQuery(text=f"what do the pages say about {heading}", weight=0.7)
        among = WeightedQuery(text=f"{heading} {before}", weight=1.0, context=True)
        found.append(
            {"alone": [alone], "thread": [WeightedQuery(text=heading, weight=0.3), rewritten, among]}
        )
    return found


async def measured(
    folder: Path, form: str, model: str, *, questions: int, data_set: Path | None
) -> dict[str, Any]:
    me = psutil.Process()
    settings = settings_of(folder, model)
    embedder = Embedder(settings.embed)
    await embedder.ready()
    warm_up()
    await embedder.embed_queries(["warm"])
    told: dict[str, Any] = {
        "form": form,
        "load_1m": os.getloadavg()[0],
        "before_mb": me.memory_info().rss / MB,
        "before_anon_mb": anonymous_mb("self"),
    }
    index = EdgeIndex(folder / form)
    started, cpu = time.perf_counter(), time.process_time()
    await index.manifest()
    told["open_s"], told["open_cpu_s"] = time.perf_counter() - started, time.process_time() - cpu
    vocabulary = Vocabulary(index)
    await vocabulary.start()
    told["words_s"] = time.perf_counter() - started
    told["opened_mb"] = me.memory_info().rss / MB
    search = Search(index, embedder, LexicalEncoder(), settings.search)
    queries = asked(json.loads((folder / "questions.json").read_text(encoding="utf-8"))[:questions])
    await search.search(queries[0]["alone"], audience=EVERYONE, language="en")
    told["first_search_s"] = time.perf_counter() - started
    rankings: dict[str, list[list[str]]] = {}
    for name, kind, audience in (
        ("alone", "alone", EVERYONE),
        ("thread", "thread", EVERYONE),
        ("few", "alone", FEW),
        ("few_thread", "thread", FEW),
    ):
        for query in queries:
            await search.search(query[kind], audience=audience, language="en")
        times, cpus, rankings[name] = [], [], []
        for query in queries:
            cpu = time.process_time()
            result = await search.search(query[kind], audience=audience, language="en")
            cpus.append((time.process_time() - cpu) * 1000)
            times.append(result.search_ms)
            rankings[name].append([hit.chunk.id for hit in result.hits[:RECALLED]])
        told[name] = {
            **percentiles(times),
            **{f"cpu_{key}": value for key, value in percentiles(cpus).items()},
        }
    told["rankings"] = rankings
    told["recall"] = await recall(index, folder, embedder, [query["alone"][0].text for query in queries])
    told["rss_mb"], told["anon_mb"] = me.memory_info().rss / MB, anonymous_mb("self")
    if data_set is not None:
        data = read_data_set(data_set)
        pipeline = build_pipeline(
            settings, index=index, embedder=embedder, ranker=Reranker(settings.rerank), model=None,
            lexical=LexicalEncoder(), vocabulary=vocabulary, freshness=freshness_policy(settings, utc_now), clock=utc_now,
        )  # fmt: skip
        figures = [
            turn.figures
            for talk in data.conversations
            async for turn in walk(pipeline, data, talk, Memory())
            if turn.figures
        ]
        told["turns"], told["figures"] = len(figures), np.mean(figures, axis=0).tolist()
    told["load_1m_end"] = os.getloadavg()[0]
    await index.close()
    embedder.close()
    return told


async def recall(index: EdgeIndex, folder: Path, embedder: Embedder, texts: Sequence[str]) -> float:
    """Of the 20 passages that are nearest by all vectors, how many the dense leg brings."""
    vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    ids = np.array((folder / "ids.txt").read_text(encoding="utf-8").split("\n"))
    shares = []
    for text in texts:
        (vector,) = await embedder.embed_queries([text])
        exact = vectors @ vector
        best = set(ids[np.argpartition(-exact, RECALLED)[:RECALLED]])
        query = QueryVectors(dense=vector.tolist(), lexical=SparseVector(indices=(), values=()))
        found = await index.search([query], audience=Audience(channels=FEW.channels), limit=50)
        found.sort(key=lambda one: -one.dense[0])
        shares.append(len(best & {one.chunk.id for one in found[:RECALLED]}) / RECALLED)
    return float(np.mean(shares))


def percentiles(times: Sequence[float]) -> dict[str, float]:
    return {"p50": float(np.percentile(times, 50)), "p95": float(np.percentile(times, 95))}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("form")
    parser.add_argument("model")
    parser.add_argument("--data-set", type=Path)
    parser.add_argument("--questions", type=int, default=60)
    given = parser.parse_args()
    print(
        json.dumps(
            asyncio.run(
                measured(
                    given.folder, given.form, given.model, questions=given.questions, data_set=given.data_set
                )
            )
        )
    )
