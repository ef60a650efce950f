"""Pages to sync: the sample handbook as a larger company has it, or as many short ones as asked for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

from bot.cli.composition.sources import sample_folder

PARAGRAPHS = 2
SHORTEST, LONGEST = 80, 500
"""Characters of a paragraph that goes into a page."""


def copy_sample(copies: int, target: Path) -> Path:
    """Each copy in a folder of its own: 39 pages, some 190 passages for MiniLM. `target`."""
    sample = sample_folder()
    for copy in range(copies):
        for page in sample.rglob("*.md"):
            to = target / str(copy) / page.relative_to(sample)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(page.read_bytes())
    return target


def write_pages(count: int, source: Path, target: Path) -> None:
    """Each page is a title and paragraphs of the pages in `source`; no two are the same."""
    paragraphs = itertools.cycle(list(_paragraphs(source)))
    for number in range(count):
        page = target / str(number // 500) / f"{number}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        body = "\n\n".join(next(paragraphs) for _ in range(PARAGRAPHS))
        page.write_text(f"# Page {number}\n\nNumber {number} of the handbook.\n\n{body}\n", encoding="utf-8")


def _paragraphs(source: Path) -> Iterator[str]:
    for file in sorted(source.rglob("*.md")):
        for block in file.read_text(encoding="utf-8", errors="replace").split("\n\n"):
            if SHORTEST < len(block) < LONGEST and block[0].isalpha():
                yield block
