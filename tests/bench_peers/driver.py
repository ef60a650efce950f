"""What the drivers share. They run in their peers' environments, so this imports the standard library alone.

    python -m tests.bench_peers.drivers.NAME index FOLDER PASSAGES    tells one line when the index is kept in FOLDER
    python -m tests.bench_peers.drivers.NAME ask FOLDER               tells a line for each question that comes in

Lines are JSON. They go out by what was the standard output at the start:
what a library prints later goes to the errors.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, TextIO

KEPT = 20
"""Passages of an answer: the deepest that any measure looks."""
LEG = 50
"""Passages that each leg, by meaning and by words, brings to be fused: Footnote's own default."""
MODEL, ENCODER, VECTORS = "PEERS_MODEL", "PEERS_ENCODER", "PEERS_VECTORS"
"""Variables of the environment: the model's folder, what runs it, and
the file of the vectors that are known, if any.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """`content`: the title, then the text. Every peer is given it whole, embeds it and counts its words."""

    id: str
    page: str
    title: str
    text: str
    url: str
    content: str


class Peer(Protocol):
    @property
    def about(self) -> Mapping[str, str]:
        """How it was set up, for people: `version`, `store`, `search`, `encoder`, `kept` (between processes)."""

    async def load(self) -> None:
        """Loads the model: what a process that indexes does before its first passage."""

    async def index(self, passages: Sequence[Passage]) -> None:
        """Embeds and writes all, and keeps on disk what can be kept."""

    async def open(self) -> None:
        """All that is needed before the first question, the model too, over an index that is kept."""

    async def ask(self, question: str) -> Sequence[str]:
        """The ids of at most `KEPT` passages, best first."""


@dataclass(slots=True)
class Meter:
    """Seconds, and CPU seconds of the whole process, that went by in blocks; blocks within blocks count once."""

    seconds: float = 0.0
    cpu_s: float = 0.0
    depth: int = 0

    @contextmanager
    def counting(self) -> Iterator[None]:
        self.depth += 1
        started, used = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.depth -= 1
            if not self.depth:
                self.seconds += time.perf_counter() - started
                self.cpu_s += time.process_time() - used

    def as_told(self, embedding: Meter) -> dict[str, float]:
        return {
            "seconds": self.seconds,
            "cpu_s": self.cpu_s,
            "embedding_s": embedding.seconds,
            "embedding_cpu_s": embedding.cpu_s,
        }


def main(make: Callable[[Path, Meter], Peer]) -> None:
    """`make` is given the folder of the index and the meter that counts embedding."""
    output = _own_output()
    command, folder, *rest = sys.argv[1:]
    embedding = Meter()
    peer = make(Path(folder), embedding)
    if command == "index":
        asyncio.run(_index(peer, embedding, read_passages(Path(rest[0])), output))
    else:
        asyncio.run(_ask(peer, embedding, output))


def read_passages(file: Path) -> list[Passage]:
    return [Passage(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


def write_passages(passages: Sequence[Passage], file: Path) -> None:
    with file.open("w", encoding="utf-8") as output:
        output.writelines(json.dumps(asdict(passage)) + "\n" for passage in passages)


async def _index(peer: Peer, embedding: Meter, passages: Sequence[Passage], output: TextIO) -> None:
    await peer.load()
    whole = Meter()
    embedding.seconds = embedding.cpu_s = 0.0
    with whole.counting():
        await peer.index(passages)
    _tell(output, {"event": "indexed", "about": dict(peer.about), **whole.as_told(embedding)})


async def _ask(peer: Peer, embedding: Meter, output: TextIO) -> None:
    await peer.open()
    for line in sys.stdin:
        question = json.loads(line)
        whole = Meter()
        embedding.seconds = embedding.cpu_s = 0.0
        with whole.counting():
            ranking = await peer.ask(question["text"])
        told = {"event": "answered", "id": question["id"], "ranking": list(ranking)[:KEPT]}
        _tell(output, {**told, "process_cpu_s": time.process_time(), **whole.as_told(embedding)})


def _tell(output: TextIO, line: dict[str, Any]) -> None:
    output.write(json.dumps(line) + "\n")
    output.flush()


def _own_output() -> TextIO:
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return own
