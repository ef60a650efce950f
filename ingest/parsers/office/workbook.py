"""Reads workbooks of Excel since 2007 (.xlsx, .xlsm): every cell as Excel shows it, without hidden parts.

A reader of our own for their XML, since the converters give the numbers that the file holds (0.075 for 7.5%, 1900-01-01
13:30 for 37:30 hours). Folded or filtered rows and columns are read: a reader unfolds them.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from string import digits

import lxml.etree
from lxml.etree import _Element as Element

from ingest.errors import PageError
from ingest.parsers.office.format_codes import BUILT_IN, GENERAL
from ingest.parsers.office.number_formats import shown_number, shown_text
from ingest.parsers.office.sheets import Sheet, Span
from ingest.parsers.text import own_date

NOT_CALCULATED = "(not calculated)"
"""Replaces a formula whose value the file does not hold: only Excel can calculate it."""
_HIDDEN = ("hidden", "veryHidden")
_ON = ("1", "true", "on")
_PLACE = re.compile(r"([A-Z]{1,3})(\d+)")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_NAMED = 5
"""Maximum number of cells that a note names."""
_LAST_COLUMN = 16_384


@dataclass(frozen=True, kw_only=True, slots=True)
class Workbook:
    sheets: Sequence[Sheet]
    notes: Sequence[str]
    written: date | None
    """When it was last saved, by its own account."""


def read_workbook(content: bytes) -> Workbook:
    """Reads a workbook. `content` has passed `check_archive`.

    Raises:
        PageError: it is broken.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _Reading(archive).workbook()
    except (LookupError, ValueError, ArithmeticError, lxml.etree.XMLSyntaxError) as error:
        raise PageError("it is broken, or no .xlsx file at all: save it again") from error


@dataclass(kw_only=True, slots=True)
class Omissions:
    """Formulas without a value, and hidden sheets. `program`: calculates the formulas."""

    program: str = "Excel"
    cells: list[str] = field(default_factory=list)
    sheets: list[str] = field(default_factory=list)

    def notes(self) -> Iterator[str]:
        if self.sheets:
            yield f"hidden sheets are left out: {', '.join(self.sheets)}"
        if self.cells:
            cells = list(dict.fromkeys(self.cells))
            named = ", ".join(cells[:_NAMED]) + (" and more" if len(cells) > _NAMED else "")
            yield f"{len(self.cells)} formulas have no saved value ({named}): open it in {self.program} and save it"


class _Reading:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._members = frozenset(archive.namelist())
        self._omissions = Omissions()
        book_path = next(iter(self._linked("", "officeDocument")), "xl/workbook.xml")
        self._book = self._xml(book_path)
        self._links = self._relations(book_path)
        self._folder = posixpath.dirname(book_path)
        properties = next(_all(self._book, "workbookPr"), None)
        self._since_1904 = properties is not None and properties.get("date1904", "0") in _ON
        self._texts = [
            _rich_text(item) for path in self._linked(book_path, "sharedStrings") for item in self._xml(path)
        ]
        self._formats = [
            code for path in self._linked(book_path, "styles") for code in _formats(self._xml(path))
        ]

    def workbook(self) -> Workbook:
        sheets = []
        for sheet in _all(self._book, "sheet"):
            name = sheet.get("name", "")
            link = next((value for key, value in sheet.items() if key.endswith("}id")), "")
            kind, path = self._links.get(link, ("", ""))
            if sheet.get("state") in _HIDDEN:
                self._omissions.sheets.append(name)
            elif kind == "worksheet" and path in self._members:
                sheets.append(self._sheet(name, path))
        return Workbook(sheets=sheets, notes=tuple(self._omissions.notes()), written=self._written())

    def _sheet(self, name: str, path: str) -> Sheet:
        sheet = Sheet(name=name)
        filters = [
            span
            for table in self._linked(path, "table")
            for element in _all(self._xml(table), "autoFilter")
            for span in _filtered(element)
        ]
        hidden: list[int] = []
        row = 0
        with self._archive.open(path) as stream:
            for _, element in lxml.etree.iterparse(
                stream,
                tag=("{*}row", "{*}col", "{*}mergeCell", "{*}autoFilter"),
                resolve_entities=False,
                huge_tree=True,
            ):
                match element.tag.rpartition("}")[2]:
                    case "row":
                        row = int(element.get("r") or row + 1)
                        if _is_hidden(element):
                            hidden.append(row)
                        if cells := self._cells(element, f"{name}!"):
                            sheet.rows[row] = cells
                        element.clear()
                    case "col" if _is_hidden(element):
                        first, last = int(element.get("min", "1")), int(element.get("max", "1"))
                        sheet.hidden_columns.update(range(first, min(last, _LAST_COLUMN) + 1))
                    case "mergeCell":
                        sheet.merged += _spans(element)
                    case "autoFilter":
                        filters += _filtered(element)
        sheet.hidden_rows.update(
            row for row in hidden if not any(span.top <= row <= span.bottom for span in filters)
        )
        sheet.beside = list(self._text_boxes(path))
        return sheet

    def _cells(self, row: Element, sheet: str) -> dict[int, str]:
        cells: dict[int, str] = {}
        column = 0
        for cell in row:
            place = cell.get("r")
            column = _column(place.rstrip(digits)) if place else column + 1
            text = self._shown(cell)
            if text is None:
                self._omissions.cells.append(f"{sheet}{cell.get('r', '')}")
                text = NOT_CALCULATED
            if text:
                cells[column] = text
        return cells

    def _shown(self, cell: Element) -> str | None:
        """Returns a cell's text; None for a formula whose value the file does not hold."""
        value, has_formula = None, False
        for part in cell:
            match part.tag.rpartition("}")[2]:
                case "v":
                    value = part.text or ""
                case "f":
                    has_formula = True
                case "is":
                    value = _rich_text(part)
        kind = cell.get("t", "n")
        if not value:
            return None if has_formula and kind != "str" else ""
        match kind:
            case "s":
                return shown_text(self._texts[int(value)], self._format(cell))
            case "str" | "inlineStr":
                return shown_text(_unescaped(value), self._format(cell))
            case "b":
                return "TRUE" if value in _ON else "FALSE"
            case "e":
                return value
            case "d":
                return value.removesuffix("T00:00:00")
            case _:
                return shown_number(float(value), self._format(cell), since_1904=self._since_1904)

    def _format(self, cell: Element) -> str:
        style = int(cell.get("s") or 0)
        return self._formats[style] if style < len(self._formats) else GENERAL

    def _text_boxes(self, path: str) -> Iterator[str]:
        for drawing in self._linked(path, "drawing"):
            for box in _all(self._xml(drawing), "txBody"):
                lines = ("".join(piece.text or "" for piece in _all(line, "t")) for line in _all(box, "p"))
                yield "\n\n".join(filter(None, lines))

    def _written(self) -> date | None:
        for path in self._linked("", "core-properties"):
            modified = next((element.text for element in _all(self._xml(path), "modified")), None)
            return own_date((modified or "").strip().partition("T")[0])
        return None

    def _linked(self, path: str, kind: str) -> list[str]:
        """Returns the members of a kind to which another one leads; the archive as a whole is ""."""
        return [
            target
            for named, target in self._relations(path).values()
            if named == kind and target in self._members
        ]

    def _relations(self, path: str) -> Mapping[str, tuple[str, str]]:
        """Returns the kinds and members to which one leads, by their ids."""
        folder, name = posixpath.split(path)
        listed = posixpath.join(folder, "_rels", f"{name}.rels")
        if listed not in self._members:
            return {}
        return {
            link.get("Id", ""): (
                posixpath.basename(link.get("Type", "")),
                posixpath.normpath(posixpath.join("/", folder, link.get("Target", ""))).lstrip("/"),
            )
            for link in self._xml(listed)
            if link.get("TargetMode") != "External"
        }

    def _xml(self, path: str) -> Element:
        parser = lxml.etree.XMLParser(
            resolve_entities=False, no_network=True, huge_tree=True, remove_comments=True
        )
        return lxml.etree.fromstring(self._archive.read(path), parser=parser)


def _formats(styles: Element) -> list[str]:
    """Returns the format code of every style that a cell may have."""
    own = {int(code.get("numFmtId", "0")): code.get("formatCode", "") for code in _all(styles, "numFmt")}
    ids = [int(style.get("numFmtId", "0")) for style in next(_all(styles, "cellXfs"), ())]
    return [own.get(number) or BUILT_IN.get(number, GENERAL) for number in ids]


def _rich_text(item: Element) -> str:
    """Joins the pieces of a text, without their pronunciation."""
    pieces = []
    for part in item:
        match part.tag.rpartition("}")[2]:
            case "t":
                pieces.append(part.text or "")
            case "r":
                pieces += [piece.text or "" for piece in _all(part, "t")]
    return _unescaped("".join(pieces))


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _is_hidden(element: Element) -> bool:
    """Whether a row or column is hidden, and not only folded into an outline."""
    return element.get("hidden", "0") in _ON and element.get("outlineLevel", "0") == "0"


def _filtered(element: Element) -> Iterator[Span]:
    """Yields the range whose rows a filter may hide, unless the filter's buttons are there, but none is set."""
    if next(_all(element, "filterColumn"), None) is not None:
        yield from _spans(element)


def _spans(element: Element) -> Iterator[Span]:
    places = [_PLACE.fullmatch(place) for place in element.get("ref", "").replace("$", "").split(":")]
    if places[0] and places[-1]:
        (first, top), (last, bottom) = places[0].groups(), places[-1].groups()
        yield Span(int(top), _column(first), int(bottom), _column(last))


@lru_cache(maxsize=_LAST_COLUMN)
def _column(letters: str) -> int:
    """Returns a column's number: A is 1, AA is 27."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


def _all(element: Element, name: str) -> Iterator[Element]:
    """Finds elements by local name: strict files have other namespaces."""
    found: Iterator[Element] = element.iter(f"{{*}}{name}")
    return found
