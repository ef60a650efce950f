"""Takes out of a Word or Excel file what its reader does not see: hidden and moved-away words, hidden sheets, rows and columns.

The converter knows nothing of them. Rows and columns that are folded or filtered away stay: a reader unfolds them.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Mapping

import lxml.etree
from lxml.etree import _Element as Element

from ingest.errors import PageError

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_OFF = frozenset({"0", "false", "off"})
_WORD_TEXT = re.compile(r"word/(?:document|footnotes|endnotes|header\d*|footer\d*)\.xml")
_WORD_MARKS = (b":vanish", b":moveFrom")
_CELL = re.compile(r"([A-Z]{1,3})(\d+)")
_LAST_COLUMN = 16_384


def without_hidden_parts(content: bytes, kind: str) -> tuple[bytes, tuple[str, ...]]:
    """The file without them, and a note where whole sheets went. `content` has passed `check_archive`.

    Raises:
        PageError: its XML is broken.
    """
    if kind in ("docx", "docm"):
        return _rewritten(content, _hidden_words), ()
    if kind in ("xlsx", "xlsm"):
        names: list[str] = []
        rewritten = _rewritten(content, lambda members: _hidden_sheets(members, names))
        return rewritten, (f"hidden sheets are left out: {', '.join(names)}",) if names else ()
    return content, ()


def _rewritten(content: bytes, rewrite: Callable[[zipfile.ZipFile], Mapping[str, bytes]]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        changed = rewrite(archive)
        if not changed:
            return content
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as copy:
            for member in archive.infolist():
                copy.writestr(member.filename, changed.get(member.filename) or archive.read(member))
    return written.getvalue()


def _hidden_words(archive: zipfile.ZipFile) -> Mapping[str, bytes]:
    changed = {}
    styles = _hiding_styles(archive)
    for name in filter(_WORD_TEXT.fullmatch, archive.namelist()):
        xml = archive.read(name)
        if not styles and not any(mark in xml for mark in _WORD_MARKS):
            continue
        root = _parsed(xml)
        unseen = [run for run in root.iter(f"{_WORD}r") if _is_hidden(run, styles)]
        unseen += [one for one in root.iter(f"{_WORD}p") if _style(one, "pPr", "pStyle") in styles]
        unseen += root.iter(f"{_WORD}moveFrom")
        if unseen:
            _remove(unseen)
            changed[name] = lxml.etree.tostring(root, encoding="UTF-8", xml_declaration=True)
    return changed


def _hiding_styles(archive: zipfile.ZipFile) -> frozenset[str]:
    if "word/styles.xml" not in archive.namelist():
        return frozenset()
    xml = archive.read("word/styles.xml")
    if b":vanish" not in xml:
        return frozenset()
    hiding = filter(_vanishes, _parsed(xml).iter(f"{_WORD}style"))
    return frozenset(style.get(f"{_WORD}styleId", "") for style in hiding) - {""}


def _is_hidden(run: Element, styles: frozenset[str]) -> bool:
    return _vanishes(run) or _style(run, "rPr", "rStyle") in styles


def _vanishes(element: Element) -> bool:
    mark = element.find(f"{_WORD}rPr/{_WORD}vanish")
    return mark is not None and mark.get(f"{_WORD}val", "1") not in _OFF


def _style(element: Element, properties: str, name: str) -> str:
    """The id of its style; empty where it has none."""
    found = element.find(f"{_WORD}{properties}/{_WORD}{name}")
    return "" if found is None else found.get(f"{_WORD}val", "")


def _hidden_sheets(archive: zipfile.ZipFile, names: list[str]) -> Mapping[str, bytes]:
    """Of sheets, from the list of them; of rows and columns, from each sheet. `names` gets the hidden sheets'."""
    changed = {}
    if "xl/workbook.xml" in archive.namelist():
        book = _parsed(archive.read("xl/workbook.xml"))
        hidden = [
            sheet for sheet in book.iter(f"{_SHEET}sheet") if sheet.get("state") in ("hidden", "veryHidden")
        ]
        if hidden:
            names += [sheet.get("name", "") for sheet in hidden]
            _remove(hidden)
            changed["xl/workbook.xml"] = lxml.etree.tostring(book, encoding="UTF-8", xml_declaration=True)
    for name in archive.namelist():
        if name.startswith("xl/worksheets/") and b" hidden=" in (xml := archive.read(name)):
            sheet = _parsed(xml)
            _put_away(sheet)
            changed[name] = lxml.etree.tostring(sheet, encoding="UTF-8", xml_declaration=True)
    return changed


def _put_away(sheet: Element) -> None:
    """Hidden rows go, and those below move up: an empty row would end the table."""
    columns = {
        number
        for span in sheet.iter(f"{_SHEET}col")
        if _is_put_away(span)
        for number in range(int(span.get("min", "1")), min(int(span.get("max", "1")), _LAST_COLUMN) + 1)
    }
    filtered = sheet.find(f".//{_SHEET}autoFilter") is not None
    gone = 0
    for row in list(sheet.iter(f"{_SHEET}row")):
        if _is_put_away(row) and not filtered:
            _remove([row])
            gone += 1
            continue
        for cell in list(row):
            place = _CELL.fullmatch(cell.get("r", ""))
            if place is None:
                continue
            if _number(place[1]) in columns:
                _remove([cell])
            elif gone:
                cell.set("r", f"{place[1]}{int(place[2]) - gone}")
        if gone and row.get("r", "").isdigit():
            row.set("r", str(int(row.get("r", "")) - gone))


def _is_put_away(element: Element) -> bool:
    folded = element.get("outlineLevel", "0") != "0"
    return element.get("hidden", "0") not in _OFF and not folded


def _number(letters: str) -> int:
    """Of a column: A is 1, AA is 27."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


def _remove(elements: list[Element]) -> None:
    for element in elements:
        parent = element.getparent()
        if parent is not None:
            parent.remove(element)


def _parsed(xml: bytes) -> Element:
    parser = lxml.etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    try:
        return lxml.etree.fromstring(xml, parser=parser)
    except lxml.etree.XMLSyntaxError as error:
        raise PageError("it is broken: save it again") from error
