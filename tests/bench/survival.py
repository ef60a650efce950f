"""How much of a document survives its conversion: words, headings and table rows, against an expected Markdown.

Both sides are Markdown. Words are compared as multisets, so their order does not count; mark-up, placeholders of
pictures and escapes count on neither side. The expected texts lie as docling's and markitdown's own tests lay them out.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PICTURE = re.compile(r"<!--.*?-->|!\[([^\]]*)\]\([^)]*\)|data:[\w/+.-]+;base64,[\w+/=]+", re.DOTALL)
_LINK = re.compile(r"\[([^\[\]]*)\]\((?:<[^>]*>|[^()\s]*(?:\([^()]*\)[^()\s]*)*)[^)]*\)")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_WORD = re.compile(r"\w+")
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_RULE = re.compile(r"[\s|:-]+")
_CELL_END = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, kw_only=True, slots=True)
class Survival:
    """Counts of what the expected text holds and of what is found again; shares are None where nothing was expected.

    `extra`: words of the result that the expected text does not have.
    """

    words: int
    words_found: int
    extra: int
    headings: int
    headings_found: int
    rows: int
    rows_found: int

    @property
    def recall(self) -> float | None:
        return self.words_found / self.words if self.words else None

    @property
    def noise(self) -> float | None:
        """Share of the result's words that are not expected."""
        given = self.words_found + self.extra
        return self.extra / given if given else None

    @property
    def headings_kept(self) -> float | None:
        return self.headings_found / self.headings if self.headings else None

    @property
    def rows_kept(self) -> float | None:
        return self.rows_found / self.rows if self.rows else None

    def __add__(self, other: Survival) -> Survival:
        return Survival(
            words=self.words + other.words,
            words_found=self.words_found + other.words_found,
            extra=self.extra + other.extra,
            headings=self.headings + other.headings,
            headings_found=self.headings_found + other.headings_found,
            rows=self.rows + other.rows,
            rows_found=self.rows_found + other.rows_found,
        )


NOTHING = Survival(words=0, words_found=0, extra=0, headings=0, headings_found=0, rows=0, rows_found=0)


def survival(expected: str, result: str) -> Survival:
    """How much of `expected` the `result` still says.

    A heading survives as a heading with the same words. A table row survives when
    one row of one table in the result holds every cell of it that is not empty: a
    row whose cells ended up on lines of their own is lost, however complete.
    """
    wanted, given = Counter(_words(expected)), Counter(_words(result))
    headings, headings_given = Counter(_headings(expected)), Counter(_headings(result))
    rows, rows_given = list(_rows(expected)), list(_rows(result))
    return Survival(
        words=wanted.total(),
        words_found=(wanted & given).total(),
        extra=(given - wanted).total(),
        headings=headings.total(),
        headings_found=(headings & headings_given).total(),
        rows=len(rows),
        rows_found=sum(any(row <= other for other in rows_given) for row in rows),
    )


def _plain(markdown: str) -> str:
    text = _PICTURE.sub(lambda found: found[1] or " ", markdown)
    text = _LINK.sub(r"\1", text)
    return html.unescape(_TAG.sub(" ", _ESCAPE.sub(r"\1", html.unescape(text)))).casefold()


def _words(markdown: str) -> Iterator[str]:
    for word in _WORD.findall(_plain(markdown)):
        yield from (part for part in word.split("_") if part)


def _headings(markdown: str) -> Iterator[str]:
    for heading in _HEADING.findall(markdown):
        words = " ".join(_words(heading))
        if words:
            yield words


def _rows(markdown: str) -> Iterator[frozenset[str]]:
    """Each table row's cells as sets of their words. Rows with fewer than
    two filled cells say nothing about a table.
    """
    for line in markdown.splitlines():
        line = line.strip()
        if not line.startswith("|") or _RULE.fullmatch(line):
            continue
        cells = frozenset(" ".join(_words(cell)) for cell in _CELL_END.split(line)) - {""}
        if len(cells) >= 2:
            yield cells


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
