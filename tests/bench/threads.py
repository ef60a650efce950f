"""`python -m tests.bench.threads [--strict]`: what a question costs late in a thread of 200 turns, against one of 5.

Also what a follow-up costs, which is searched by several queries, against a question that stands alone and is searched
by one: as a whole, and its embedding and search.

Real store (Valkey), real embedder and index, the sample handbook; the model path asks a Messages server on loopback
that replies at once, so that only our own work is measured. The sides of each comparison alternate, so that whatever
else the machine does hits both. With --strict it exits with 1 when tokens or time of the long thread exceed 1.2 times the short one's,
or a follow-up's CPU time 2.5 times that of a question that stands alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from bot.cli.composition.runtime import Runtime, open_runtime
from bot.cli.session.local import LocalSession
from bot.cli.session.requests import IngestRequest
from kb.config.configuration import load_settings
from kb.config.settings import Settings
from kb.models import Audience, Chunk, Question, Retrieved, ThreadKey, Turn
from tests.bench.questions import sample_questions
from tests.fakes.messages_server import MessagesServer, say_json

TURNS = (5, 200)
ROUNDS = 20
WARM_UP = 2
"""Rounds that are not counted: the first questions about a page read its sentences."""
MOST = 1.2
MOST_FOLLOW_UP = 2.5
"""CPU time of a follow-up beside that of a question that stands alone, end to end. Its three queries have four times
the tokens to embed; without the one of the thread's words 3 of 100 answers leave the first five passages."""
SUBJECTS = 6
NAMES = {"wall": "whole question", "cpu": "whole question, CPU", "found": "rewriting, embedding, search"}
CHARACTERS_A_TOKEN = 4
"""Rule of thumb for Claude's tokenizer on English and JSON; the ratio does not depend on it."""
FOLLOW_UP = "and how long does it take, number {}?"


@dataclass(kw_only=True)
class Cost:
    """Of the questions asked in one thread."""

    milliseconds: list[float] = field(default_factory=list)
    characters: list[int] = field(default_factory=list)
    stored_bytes: int = 0

    @property
    def tokens(self) -> float:
        return median(self.characters) / CHARACTERS_A_TOKEN if self.characters else 0.0


def a_thread(turns: int, chunks: Sequence[Chunk]) -> list[Turn]:
    """Every turn is about another passage of the pages; the last five are the same in every thread."""
    return [a_turn(turns - n, chunks[(turns - n) % len(chunks)]) for n in range(turns)]


def a_turn(number: int, chunk: Chunk) -> Turn:
    topic = (chunk.section or (chunk.page.title,))[-1]
    return Turn(
        question=f"What do the pages say about {topic} in {chunk.page.title}?",
        answer=f"**{topic}**\n{chunk.text[:1000]}",
        rewritten=f"What does the handbook say about {topic} in {chunk.page.title}?",
        topics=(topic,),
        retrieved=(Retrieved(page_id=chunk.page.id, chunk_id=chunk.id, title=chunk.page.title, cited=True),),
        question_ts=f"{-number}.0",
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.threads")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a ratio is above its target")
    strict = parser.parse_args().strict
    with tempfile.TemporaryDirectory(prefix="footnote-threads-") as folder:
        ratios = asyncio.run(_measured(Path(folder)))
    return 1 if strict and any(ratio > most for ratio, most in ratios) else 0


async def _measured(folder: Path) -> list[tuple[float, float]]:
    """Each ratio with the most that it may be."""
    ratios: list[tuple[float, float]] = []
    async with MessagesServer() as server:
        for path in ("heuristic", "model"):
            costs = await _costs(folder / path, path, server)
            short, long = (costs[turns] for turns in TURNS)
            times = median(long.milliseconds) / median(short.milliseconds)
            tokens = long.tokens / short.tokens if short.tokens else None
            _show(path, costs, times, tokens)
            ratios += [(ratio, MOST) for ratio in (times, tokens) if ratio is not None]
    ratios.append((await _follow_up_ratio(folder / "follow-ups"), MOST_FOLLOW_UP))
    return ratios


@dataclass(kw_only=True)
class Timing:
    """Of questions of one kind, in milliseconds: whole questions by the clock and of CPU, embedding and search."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    found: list[float] = field(default_factory=list)


async def _follow_up_ratio(folder: Path) -> float:
    """CPU time of a follow-up after one turn, beside that of a question that stands alone: medians, end to end."""
    settings = load_settings(environ={}, data=folder, rerank={"model": "off"}, model={"provider": "none"})
    alone, follow_up = Timing(), Timing()
    async with _runtime(settings) as runtime:
        await runtime.warm()
        subjects = sample_questions()[:SUBJECTS]
        turns = [await _turn(runtime, subject) for subject in subjects]
        for number in range(WARM_UP + ROUNDS // 2):
            counts = number >= WARM_UP
            for subject, turn in zip(subjects, turns, strict=True):
                sides = [
                    (alone, f"{subject}, number {number}?", ()),
                    (follow_up, FOLLOW_UP.format(f"{subject.split()[-1]}-{number}"), (turn,)),
                ]
                for timing, text, thread in sides if number % 2 else reversed(sides):
                    await _time(runtime, timing if counts else Timing(), text, thread)
    return _show_follow_ups(alone, follow_up)


async def _turn(runtime: Runtime, subject: str) -> Turn:
    return runtime.pipeline.turn(await runtime.pipeline.answer(Question(id="first", text=f"{subject}?")))


async def _time(runtime: Runtime, timing: Timing, text: str, thread: Sequence[Turn]) -> None:
    started, cpu = time.perf_counter(), time.process_time()
    answer = await runtime.pipeline.answer(Question(id=text, text=text), thread)
    timing.cpu.append((time.process_time() - cpu) * 1000)
    timing.wall.append((time.perf_counter() - started) * 1000)
    timing.found.append(sum(answer.timings_ms[stage] for stage in ("rewrite", "embed", "search")))


def _show_follow_ups(alone: Timing, follow_up: Timing) -> float:
    table = Table("p50 ms", "alone", "follow-up", "ratio", title="one query, several", box=box.SIMPLE_HEAD)
    ratios = []
    for name in ("wall", "cpu", "found"):
        one, several = median(getattr(alone, name)), median(getattr(follow_up, name))
        ratios.append(several / one)
        table.add_row(NAMES[name], f"{one:.1f}", f"{several:.1f}", f"{several / one:.2f}")
    Console(width=80).print(table)
    print(f"load {os.getloadavg()[0]:.1f}")
    return ratios[1]


async def _costs(folder: Path, path: str, server: MessagesServer) -> dict[int, Cost]:
    model: dict[str, Any] = {"provider": "none"}
    if path == "model":
        model = {
            "provider": "anthropic",
            "api_key": server.key,
            "base_url": server.url,
            "rewrite_deadline_s": 20,
        }
    settings = load_settings(
        environ={},
        data=folder,
        rerank={"model": "off"},
        model=model,
        rewrite={"mode": path, "keep_replies_s": 0},
    )
    costs = {turns: Cost() for turns in TURNS}
    async with _runtime(settings) as runtime:
        for number in range(WARM_UP + ROUNDS):
            for turns in TURNS if number % 2 else reversed(TURNS):
                cost = costs[turns] if number >= WARM_UP else Cost()
                await _ask(runtime, server, cost, turns, number)
    return costs


@asynccontextmanager
async def _runtime(settings: Settings) -> AsyncIterator[Runtime]:
    async with open_runtime(settings, "bench", models=True) as runtime:
        async for step in LocalSession(runtime).ingest(IngestRequest(sample=True)):
            assert step.phase != "failed", step.error
        chunks = [chunk async for batch in runtime.index.passages(audience=Audience()) for chunk in batch]
        for turns in TURNS:
            for turn in a_thread(turns, chunks):
                await runtime.conversations.append(_key(turns), turn)
        yield runtime


async def _ask(runtime: Runtime, server: MessagesServer, cost: Cost, turns: int, number: int) -> None:
    """One question from reading its thread to remembering its answer, in a thread that stays as long as it was."""
    text = FOLLOW_UP.format(f"{turns}-{number}")  # a wording that no cache of the embedder has
    server.unscript()
    server.script(say_json(_rewrite(text)))
    asked = len(server.requests)
    started = time.perf_counter()
    history = await runtime.conversations.load(_key(turns))
    answer = await runtime.pipeline.answer(Question(id=f"{turns}-{number}", text=text), history)
    turn = replace(runtime.pipeline.turn(answer), question_ts="new")
    await runtime.conversations.append(_key(turns), turn)
    cost.milliseconds.append((time.perf_counter() - started) * 1000)
    await runtime.conversations.forget(_key(turns), "new")
    cost.characters += _sent(server.requests[asked:])
    cost.stored_bytes = len(
        await runtime.redis.get(f"{runtime.settings.store.namespace}:turns:{_key(turns)}")
    )


def _sent(requests: Sequence[dict[str, Any]]) -> list[int]:
    """Characters of everything that one question sent to the model; none where no model was asked."""
    return [sum(len(json.dumps(request, ensure_ascii=False)) for request in requests)] if requests else []


def _rewrite(question: str) -> dict[str, Any]:
    return {
        "needs_rewrite": True,
        "is_follow_up": True,
        "query": question,
        "topics": ["time"],
        "reasoning": "as asked",
        "confidence": 0.9,
    }


def _key(turns: int) -> ThreadKey:
    return ThreadKey(team="bench", channel="bench", thread=str(turns))


def _show(path: str, costs: dict[int, Cost], times: float, tokens: float | None) -> None:
    table = Table("turns", "context tokens", "p50 ms", "stored kB", title=f"{path} path", box=box.SIMPLE_HEAD)
    for turns, cost in costs.items():
        table.add_row(
            str(turns),
            f"{cost.tokens:.0f}" if cost.characters else "-",
            f"{median(cost.milliseconds):.1f}",
            f"{cost.stored_bytes / 1000:.1f}",
        )
    table.add_row("ratio", f"{tokens:.2f}" if tokens else "-", f"{times:.2f}", "")
    Console(width=80).print(table)


if __name__ == "__main__":
    sys.exit(main())
