"""The worst pages that a person may put into a folder: each below the limit of 5 MB, each hard on something else."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Mapping
from pathlib import Path

MB = 1_000_000
_SEED = 7
_SENTENCE = "the backup runs at night and nobody looks at it before the morning when people come in"


def _dashed() -> str:
    return "a-" * (3 * MB // 2)


def _base64() -> str:
    return base64.b64encode(random.Random(_SEED).randbytes(3 * MB * 3 // 4)).decode()


def _minified() -> str:
    chance = random.Random(_SEED)
    parts, size = [], 0
    while size < 3 * MB:
        part = f"function a{chance.randrange(999)}(b,c){{return b.d{chance.randrange(99)}?c[{chance.randrange(999)}]:!1}};"
        parts.append(part)
        size += len(part)
    return "".join(parts)


def _log() -> str:
    chance = random.Random(_SEED)
    lines, size = [], 0
    while size < 4.7 * MB:
        line = (
            f"2026-11-{chance.randrange(1, 29):02} 0{chance.randrange(9)}:{chance.randrange(10, 60)} INFO worker "
            f"{chance.randrange(99)} request {chance.getrandbits(64):x} took {chance.randrange(9999)} ms\n"
        )
        lines.append(line)
        size += len(line)
    return "".join(lines)


def _sentences() -> str:
    chance = random.Random(_SEED)
    words = _SENTENCE.split()
    sentences, size = [], 0
    while size < 4.8 * MB:
        sentence = " ".join(chance.choices(words, k=12)).capitalize() + ". "
        sentences.append(sentence)
        size += len(sentence)
    return "".join(sentences)


def _unspaced() -> str:
    """A paragraph of Chinese characters without a full stop; three bytes each."""
    chance = random.Random(_SEED)
    return "".join(chr(chance.randrange(0x4E00, 0x9FA5)) for _ in range(MB))


def _table() -> str:
    row = "| {0} | person {0} | Ghent | 2026-11-{1:02} | asked for a parking place near the office |\n"
    rows = (row.format(number, number % 28 + 1) for number in range(3 * MB // 80))
    return "| Number | Name | Office | Date | What |\n|---|---|---|---|---|\n" + "".join(rows)


def _nested() -> str:
    lines = (f"{'  ' * (number % 40)}- item {number} of the list\n" for number in range(40_000))
    return "".join(lines)


def _headings() -> str:
    return "".join(f"## Heading {number}\n\nText {number}.\n\n" for number in range(100_000))


WORST: Mapping[str, tuple[str, Callable[[], str]]] = {
    "a-a-a- without spaces": ("dashed.md", _dashed),
    "base64 in one line": ("base64.md", _base64),
    "minified JavaScript": ("minified.md", _minified),
    "a log without blank lines": ("log.txt", _log),
    "sentences in one line": ("sentences.md", _sentences),
    "one Chinese paragraph": ("unspaced.md", _unspaced),
    "a table": ("table.md", _table),
    "lists in lists": ("nested.md", _nested),
    "100,000 headings": ("headings.md", _headings),
}
"""What each is called, its file and its text."""


def write_worst(name: str, folder: Path) -> Path:
    """Writes one of them and returns the file."""
    file, text = WORST[name]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file
    path.write_text(text(), encoding="utf-8")
    return path
