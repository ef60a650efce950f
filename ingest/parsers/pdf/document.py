"""Parses PDF by liteparse (Rust over pdfium): headings, lists and tables page by page, without running heads and feet.

Every section links to its page (`#page=3`), which browsers open.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import compress
from typing import Any

from ingest.errors import PageError
from ingest.front_matter.front_matter import FrontMatter
from ingest.page import ParsedPage
from ingest.parsers.outline import Outline, Part, parsed_page
from ingest.parsers.pdf.page import page_markdown, with_headers_of_pages_before
from ingest.parsers.text import cleaned, title_from

_MOST_DROPPED = 0.25
"""Maximum share of a file's words that may be dropped. The converter drops .21 of the worst of 59 public PDFs."""
_WORD = re.compile(r"[^\W_]+")
_GAP = re.compile(r"\s+")
_SIGNATURE_WITHIN = 1024
"""Bytes before `%PDF-` that readers tolerate."""
_PICTURE = re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)")
_LINE_AS_CODE = re.compile(r"^```\w*\n(?P<line>[^\n]*)\n```$", re.MULTILINE)
"""A fence around one line or none: a word in a monospaced font, not code."""
_LOST_FF = re.compile(r"↵(?=[a-z-])")
"""The ligature ff of TeX's old fonts, which others map to this arrow: "o↵-the-shelf"."""
_DAY = re.compile(r"D:(\d{4})(\d{2})(\d{2})")
_AT_FIRST = 1_000
"""Pages that are read together at first, so that running heads are recognized."""
_AT_A_TIME = 500
_SECONDS = 100.0
"""Time after which no more pages are begun. The reader of files gives a PDF twice that."""
_NAMED = 5
"""Maximum number of pages that a note names."""


def parse_pdf(content: bytes, *, path: str) -> ParsedPage:
    """Parses a document.

    Raises:
        PageError: it is protected, broken, or only pictures of pages.
    """
    document = _read(content)
    pages = [
        (_corrected(cleaned(page.laid_out)), _corrected(cleaned(page.markdown))) for page in document.pages
    ]
    numbers = [page.number for page in document.pages]
    texts = with_headers_of_pages_before(list(zip(numbers, _with_dropped_lines(pages), strict=True)))
    blank = [number for number, text in texts if not text]
    if texts and len(blank) == len(texts):
        raise PageError("it has no text, only pictures of pages (a scan?): run text recognition over it")
    outline = Outline(*(Part(text=text, place=f"page={number}") for number, text in texts if text))
    front = FrontMatter(written=_day(document.metadata), notes=tuple(_notes(document, blank)))
    return parsed_page(outline.document_title or title_from(path), outline, front)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Page:
    """A page's text as it is laid out, and its Markdown. `is_torn`: a table on it cannot be read."""

    number: int
    laid_out: str
    markdown: str
    is_torn: bool


@dataclass(kw_only=True, slots=True)
class _Document:
    """The pages that were read. `total`: the number of pages of the file. `errors`: pages that cannot be read."""

    total: int
    metadata: Any
    pages: list[_Page] = field(default_factory=list)
    errors: list[int] = field(default_factory=list)
    next_page: int = 1


def _read(content: bytes) -> _Document:
    """Reads some pages at a time, and drops their layout before the next: that of 5,000 pages takes gigabytes."""
    if b"%PDF-" not in content[:_SIGNATURE_WITHIN]:
        raise PageError("it is broken, or no PDF at all" if content else "it is empty")
    began = time.monotonic()
    result = _read_pages(content, 1, _AT_FIRST)
    document = _Document(total=result.total_pages, metadata=result.doc_meta)
    count = _AT_FIRST
    while True:
        for page in result.pages:
            markdown, is_torn = page_markdown(page)
            document.pages.append(
                _Page(number=page.page_num, laid_out=page.text, markdown=markdown, is_torn=is_torn)
            )
        document.errors += [error.page_num for error in result.page_errors]
        document.next_page += count
        if document.next_page > document.total or time.monotonic() - began > _SECONDS:
            return document
        count = _AT_A_TIME
        del result
        result = _read_pages(content, document.next_page, count)


def _read_pages(content: bytes, first: int, number: int) -> Any:
    import liteparse

    reader = liteparse.LiteParse(
        max_pages=number,
        target_pages=f"{first}-{first + number - 1}",
        ocr_enabled=False,
        output_format="markdown",
        image_mode="off",
        quiet=True,
        continue_on_page_error=True,
        extract_document_metadata=True,
        extract_blocks=True,
        extract_vector_graphics=True,
    )
    try:
        return reader.parse(content)
    except liteparse.ParseError as error:
        if "password" in str(error).lower():
            raise PageError("it is protected with a password: save it without one") from error
        raise PageError("it is broken or cut off: no PDF reader could open it") from error


def _with_dropped_lines(pages: Sequence[tuple[str, str]]) -> list[str]:
    """Puts back lines that the converter drops as running heads and feet although they are text; returns Markdown.

    Where pages are alike but for a number ("The value of page 7 is 49."), it drops what is at the same place on each.
    Running heads are a few words of a page; where a quarter of a file is dropped, it is put back at the head or the
    foot of its page.

    `pages`: each page's text as it is laid out, and its Markdown as converted.
    """
    words = [(Counter(_WORD.findall(laid_out)), Counter(_WORD.findall(text))) for laid_out, text in pages]
    left_out = sum((whole - kept).total() for whole, kept in words)
    if left_out <= _MOST_DROPPED * sum(whole.total() for whole, _ in words):
        return [text for _, text in pages]
    return [
        "\n\n".join(_put_back(laid_out, text, frozenset(kept)))
        for (laid_out, text), (_, kept) in zip(pages, words, strict=True)
    ]


def _put_back(laid_out: str, text: str, kept: frozenset[str]) -> Iterator[str]:
    lines = [_GAP.sub(" ", line).strip() for line in laid_out.splitlines()]
    missing = [line and not kept.issuperset(_WORD.findall(line)) for line in lines]
    first = next((index for index, line in enumerate(lines) if line and not missing[index]), len(lines))
    yield from compress(lines[:first], missing)
    if text:
        yield text
    yield from compress(lines[first:], missing[first:])


def _corrected(markdown: str) -> str:
    without = _LOST_FF.sub("ff", _PICTURE.sub("", markdown))
    return _LINE_AS_CODE.sub(lambda found: found["line"], without).strip()


def _notes(document: _Document, blank: Sequence[int]) -> Iterator[str]:
    if blank:
        yield f"{len(blank)} of its pages have no text (empty or scanned): {_named(blank)}"
    if torn := [page.number for page in document.pages if page.is_torn]:
        yield f"tables on {len(torn)} of its pages cannot be read, their lines are kept: {_named(torn)}"
    if document.errors:
        yield f"{len(document.errors)} of its pages cannot be read: {_named(document.errors)}"
    if document.next_page <= document.total:
        yield (
            f"only the first {document.next_page - 1} of its {document.total} pages were read, which took "
            f"{_SECONDS:.0f} s: split it"
        )


def _named(pages: Sequence[int]) -> str:
    return ", ".join(map(str, pages[:_NAMED])) + (" and more" if len(pages) > _NAMED else "")


def _day(metadata: Any) -> date | None:
    """Returns when the file was last changed, else made, by its own account. The source knows better."""
    for written in (metadata and metadata.mod_date, metadata and metadata.creation_date):
        found = _DAY.match(written or "")
        if found:
            try:
                return date(int(found[1]), int(found[2]), int(found[3]))
            except ValueError:
                continue
    return None
