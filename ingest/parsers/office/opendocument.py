"""Parses texts and slides of LibreOffice (.odt, .odp) from their XML: the converter loses every word in bold."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from datetime import date
from xml.etree.ElementTree import Element

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from ingest.errors import PageError
from ingest.front_matter.front_matter import FrontMatter
from ingest.page import ParsedPage
from ingest.parsers.archives import check_archive
from ingest.parsers.grids import table
from ingest.parsers.outline import Outline, Part, parsed_page
from ingest.parsers.text import cleaned, own_date, title_from

_NAMES = "urn:oasis:names:tc:opendocument:xmlns:"
TEXT, TABLE, DRAW, OFFICE = (f"{{{_NAMES}{name}:1.0}}" for name in ("text", "table", "drawing", "office"))
_PRESENTATION = f"{{{_NAMES}presentation:1.0}}"
_DUBLIN_DATE = "{http://purl.org/dc/elements/1.1/}date"
_UNSEEN = frozenset({
    f"{OFFICE}annotation", f"{TEXT}tracked-changes", f"{TEXT}sequence-decls", f"{TEXT}table-of-content",
    f"{_PRESENTATION}notes", f"{OFFICE}forms", f"{TEXT}note-citation",
})  # fmt: skip
_MAX_REPEATED = 50
"""Maximum number of equal cells in a row: rows are filled up to the sheet's width with empty ones."""


def read_opendocument(content: bytes) -> tuple[Element, date | None]:
    """Reads the document's content, and when it was last saved. `content` has passed `check_archive`.

    Raises:
        PageError: it is protected or broken.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if "encryption-data" in archive.read("META-INF/manifest.xml").decode(errors="replace"):
                raise PageError("it is protected with a password: save it without one")
            return fromstring(archive.read("content.xml")), _last_saved(archive)
    except (KeyError, ParseError, DefusedXmlException, zipfile.BadZipFile) as error:
        raise PageError("it is broken, or no document of LibreOffice: save it again") from error


def parse_opendocument(content: bytes, *, path: str) -> ParsedPage:
    """Parses a text or slides.

    Raises:
        PageError: with the reason.
    """
    check_archive(content)
    root, written = read_opendocument(content)
    body = root.find(f"{OFFICE}body")
    markdown = cleaned("\n\n".join(_blocks(body))) if body is not None else ""
    outline = Outline(Part(text=markdown))
    title = outline.document_title if outline.has_text else None
    return parsed_page(title or title_from(path), outline, FrontMatter(written=written))


def _blocks(parent: Element) -> Iterator[str]:
    for item in parent:
        if item.tag in _UNSEEN:
            continue
        if item.tag == f"{TEXT}h":
            level = item.get(f"{TEXT}outline-level", "1")
            yield f"{'#' * min(int(level), 6) if level.isdecimal() else '#'} {words(item)}"
        elif item.tag == f"{TEXT}p":
            yield words(item)
        elif item.tag == f"{TEXT}list":
            yield "\n".join(_items(item, 0))
        elif item.tag == f"{TABLE}table":
            rows = [_cells(row) for row in item.iter(f"{TABLE}table-row")]
            if any(map(any, rows)):
                yield table(rows)
        elif item.get(f"{_PRESENTATION}class") == "title":
            yield f"## {words(item)}"
        else:
            yield from _blocks(item)


def _items(list_: Element, depth: int) -> Iterator[str]:
    for item in list_:
        for part in item:
            if part.tag == f"{TEXT}list":
                yield from _items(part, depth + 1)
            elif text := words(part):
                yield f"{'  ' * depth}- {text}"


def _cells(row: Element) -> list[str]:
    cells: list[str] = []
    for cell in row:
        if cell.tag in (f"{TABLE}table-cell", f"{TABLE}covered-table-cell"):
            repeated = cell.get(f"{TABLE}number-columns-repeated", "1")
            times = min(int(repeated), _MAX_REPEATED) if repeated.isdecimal() else 1
            cells += [words(cell).replace("|", "\\|")] * times
    while cells and not cells[-1]:
        cells.pop()
    return cells


def words(item: Element) -> str:
    """Returns an element's visible text, in one line."""
    return " ".join("".join(_pieces(item)).split())


def _pieces(item: Element) -> Iterator[str]:
    yield item.text or ""
    for part in item:
        if part.tag not in _UNSEEN:
            if part.tag in (f"{TEXT}s", f"{TEXT}tab", f"{TEXT}line-break", f"{TEXT}p", f"{TEXT}note"):
                yield " "
            yield from _pieces(part)
            if part.tag in (f"{TEXT}p", f"{TEXT}note"):
                yield " "
        yield part.tail or ""


def _last_saved(archive: zipfile.ZipFile) -> date | None:
    if "meta.xml" not in archive.namelist():
        return None
    saved = next(fromstring(archive.read("meta.xml")).iter(_DUBLIN_DATE), None)
    return own_date((saved.text or "").partition("T")[0]) if saved is not None else None
