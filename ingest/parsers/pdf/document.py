"""PDF by liteparse (Rust over pdfium): headings, lists and tables page by page, running heads and feet left out.

Every section links to its page (`#page=3`), which browsers open.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from ingest.errors import PageError
from ingest.front_matter.front_matter import FrontMatter
from ingest.page import ParsedPage
from ingest.parsers.outline import Outline, Part, parsed_page
from ingest.parsers.pdf.page import page_markdown, with_headers_of_pages_before
from ingest.parsers.pdf.running_heads import with_lines_put_back
from ingest.parsers.text import cleaned, title_from

_SIGNATURE_WITHIN = 1024
"""Bytes before `%PDF-` that readers put up with."""
_PICTURE = re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)")
_LINE_AS_CODE = re.compile(r"^```\w*\n(?P<line>[^\n]*)\n```$", re.MULTILINE)
"""A fence around one line, or none: a word set in a typewriter face, not code."""
_LOST_FF = re.compile(r"↵(?=[a-z-])")
"""TeX's old fonts have the ligature ff in the place where others have this arrow: "o↵-the-shelf"."""
_DAY = re.compile(r"D:(\d{4})(\d{2})(\d{2})")
_AT_FIRST = 1_000
"""Pages that are read in one go, so that what stands at the head of each is known as such."""
_AT_A_TIME = 500
_SECONDS = 100.0
"""After which no more pages are begun. The reader of files gives a PDF twice that."""
_NAMED = 5
"""Pages that a note names."""


def parse_pdf(content: bytes, *, path: str) -> ParsedPage:
    """
    Raises:
        PageError: it is protected, broken, or only pictures of pages.
    """
    result = _read(content)
    mended = [(_mended(cleaned(laid_out)), _mended(cleaned(text))) for laid_out, text in result.texts]
    numbers = [number for number, _ in result.pages]
    texts = with_headers_of_pages_before(list(zip(numbers, with_lines_put_back(mended), strict=True)))
    unread = [number for number, is_torn in result.pages if is_torn]
    blank = [number for number, text in texts if not text]
    if texts and len(blank) == len(texts):
        raise PageError("it has no text, only pictures of pages (a scan?): run text recognition over it")
    parts = [Part(text=text, place=f"page={number}") for number, text in texts if text]
    outline = Outline(*parts)
    notes = (*_notes(blank, unread, result.errors), *_left_out(result))
    front = FrontMatter(written=_day(result.metadata), notes=notes)
    return parsed_page(outline.document_title or title_from(path), outline, front)


@dataclass(kw_only=True, slots=True)
class _Read:
    """`pages`: number, and whether a table on it is torn. `texts`: of each as it is laid out, and its Markdown.

    `total`: how many pages the file has.
    """

    total: int
    metadata: Any
    pages: list[tuple[int, bool]] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    errors: list[int] = field(default_factory=list)
    following: int = 1


def _read(content: bytes) -> _Read:
    """Some pages at a time, whose layout is let go of before the next: of 5,000 at once it would take gigabytes."""
    if b"%PDF-" not in content[:_SIGNATURE_WITHIN]:
        raise PageError("it is broken, or no PDF at all" if content else "it is empty")
    began = time.monotonic()
    result = _read_some(content, 1, _AT_FIRST)
    read = _Read(total=result.total_pages, metadata=result.doc_meta)
    some = _AT_FIRST
    while True:
        for page in result.pages:
            markdown, is_torn = page_markdown(page)
            read.pages.append((page.page_num, is_torn))
            read.texts.append((page.text, markdown))
        read.errors += [one.page_num for one in result.page_errors]
        read.following += some
        if read.following > read.total or time.monotonic() - began > _SECONDS:
            return read
        some = _AT_A_TIME
        del result
        result = _read_some(content, read.following, some)


def _read_some(content: bytes, first: int, number: int) -> Any:
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


def _mended(markdown: str) -> str:
    without = _LOST_FF.sub("ff", _PICTURE.sub("", markdown))
    return _LINE_AS_CODE.sub(lambda found: found["line"], without).strip()


def _left_out(read: _Read) -> Iterator[str]:
    if read.following <= read.total:
        yield (
            f"only the first {read.following - 1} of its {read.total} pages were read, which took "
            f"{_SECONDS:.0f} s: split it"
        )


def _notes(blank: Sequence[int], unread: Sequence[int], errors: Sequence[int]) -> tuple[str, ...]:
    notes = []
    if blank:
        notes.append(f"{len(blank)} of its pages have no text (empty or scanned): {_named(blank)}")
    if unread:
        notes.append(
            f"tables on {len(unread)} of its pages cannot be read, their lines are kept: {_named(unread)}"
        )
    if errors:
        notes.append(f"{len(errors)} of its pages cannot be read: {_named(errors)}")
    return tuple(notes)


def _named(pages: Sequence[int]) -> str:
    return ", ".join(map(str, pages[:_NAMED])) + (" and more" if len(pages) > _NAMED else "")


def _day(metadata: Any) -> date | None:
    """When the file says that it was last changed, else made; not to be trusted over anything that the source knows."""
    for written in (metadata and metadata.mod_date, metadata and metadata.creation_date):
        found = _DAY.match(written or "")
        if found:
            try:
                return date(int(found[1]), int(found[2]), int(found[3]))
            except ValueError:
                continue
    return None
