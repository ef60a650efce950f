"""Documents with their expected Markdown, as the tests of docling and markitdown lay them out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpectedDocument:
    document: Path
    markdown: str


def expected_pairs(folder: Path) -> list[ExpectedDocument]:
    """Every document below `folder` that has an expected Markdown, in the order of their paths.

    docling: `FORMAT/sources/NAME` with `FORMAT/groundtruth/NAME.md` (PDFs: the stem's); markitdown: `NAME.pdf` beside
    `expected_outputs/NAME.md`.
    """
    return sorted(_pairs(folder), key=lambda pair: pair.document)


def _pairs(folder: Path) -> Iterator[ExpectedDocument]:
    for document in folder.rglob("*"):
        if not document.is_file():
            continue
        for expected in _places(document):
            if expected.is_file():
                yield ExpectedDocument(document=document, markdown=expected.read_text(encoding="utf-8"))
                break


def _places(document: Path) -> Iterator[Path]:
    if document.parent.name == "sources":
        truth = document.parent.parent / "groundtruth"
        yield truth / f"{document.name}.md"
        yield truth / f"{document.stem}.md"
    elif document.suffix == ".pdf":
        yield document.parent / "expected_outputs" / f"{document.stem}.md"
