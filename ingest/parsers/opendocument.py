"""Texts and slides of LibreOffice (.odt, .odp), from their XML: the converter loses every word that is set in bold there."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from datetime import date
from xml.etree.ElementTree import Element

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from ingest.dates import UnreadableDateError, parse_date
from ingest.errors import PageError
from ingest.front_matter import FrontMatter
from ingest.parsers.archives import check_archive
from ingest.parsers.grids import table
from ingest.parsers.outline import Outline, Part, block_parser, parsed_page
from ingest.parsers.page import ParsedPage
from ingest.parsers.text import cleaned, title_from

_NAMES = "urn:oasis:names:tc:opendocument:xmlns:"
_TEXT, _TABLE, _DRAW, _OFFICE = (f"{{{_NAMES}{name}:1.0}}" for name in ("text", "table", "drawing", "office"))
_PRESENTATION = f"{{{_NAMES}presentation:1.0}}"
_DUBLIN_DATE = "{http://purl.org/dc/elements/1.1/}date"
_UNSEEN = frozenset({
    f"{_OFFICE}annotation", f"{_TEXT}tracked-changes", f"{_TEXT}sequence-decls", f"{_TEXT}table-of-content",
    f"{_PRESENTATION}notes", f"{_OFFICE}forms", f"{_TEXT}note-citation",
})  # fmt: skip
_MAX_REPEATED = 50
"""Equal cells that a row may hold: a row is filled up to a sheet's width with empty ones."""


def parse_opendocument(content: bytes, *, path: str) -> ParsedPage:
    """
    Raises:
        PageError: with the reason.
    """
    check_archive(content)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if "encryption-data" in archive.read("META-INF/manifest.xml").decode(errors="replace"):
                raise PageError("it is protected with a password: save it without one")
            body = fromstring(archive.read("content.xml")).find(f"{_OFFICE}body")
            written = _written(archive)
    except (KeyError, ParseError, DefusedXmlException, zipfile.BadZipFile) as error:
        raise PageError("it is broken, or no document of LibreOffice: save it again") from error
    markdown = cleaned("\n\n".join(_blocks(body))) if body is not None else ""
    outline = Outline([Part(text=markdown)], block_parser())
    title = outline.document_title if outline.has_text else None
    return parsed_page(title or title_from(path), outline, FrontMatter(written=written))


def _blocks(parent: Element) -> Iterator[str]:
    for item in parent:
        if item.tag in _UNSEEN:
            continue
        if item.tag == f"{_TEXT}h":
            level = item.get(f"{_TEXT}outline-level", "1")
            yield f"{'#' * min(int(level), 6) if level.isdecimal() else '#'} {_words(item)}"
        elif item.tag == f"{_TEXT}p":
            yield _words(item)
        elif item.tag == f"{_TEXT}list":
            yield "\n".join(_items(item, 0))
        elif item.tag == f"{_TABLE}table":
            rows = [_cells(row) for row in item.iter(f"{_TABLE}table-row")]
            if any(map(any, rows)):
                yield table(rows)
        elif item.get(f"{_PRESENTATION}class") == "title":
            yield f"## {_words(item)}"
        else:
            yield from _blocks(item)


def _items(list_: Element, depth: int) -> Iterator[str]:
    for item in list_:
        for part in item:
            if part.tag == f"{_TEXT}list":
                yield from _items(part, depth + 1)
            elif words := _words(part):
                yield f"{'  ' * depth}- {words}"


def _cells(row: Element) -> list[str]:
    cells: list[str] = []
    for cell in row:
        if cell.tag in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            repeated = cell.get(f"{_TABLE}number-columns-repeated", "1")
            times = min(int(repeated), _MAX_REPEATED) if repeated.isdecimal() else 1
            cells += [_words(cell).replace("|", "\\|")] * times
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _words(item: Element) -> str:
    return " ".join("".join(_pieces(item)).split())


def _pieces(item: Element) -> Iterator[str]:
    yield item.text or ""
    for part in item:
        if part.tag not in _UNSEEN:
            if part.tag in (f"{_TEXT}s", f"{_TEXT}tab", f"{_TEXT}line-break", f"{_TEXT}p", f"{_TEXT}note"):
                yield " "
            yield from _pieces(part)
            if part.tag in (f"{_TEXT}p", f"{_TEXT}note"):
                yield " "
        yield part.tail or ""


def _written(archive: zipfile.ZipFile) -> date | None:
    if "meta.xml" not in archive.namelist():
        return None
    found = next(fromstring(archive.read("meta.xml")).iter(_DUBLIN_DATE), None)
    try:
        return parse_date((found is not None and found.text) or "")
    except UnreadableDateError:
        return None
