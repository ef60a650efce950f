"""Changes a Word file to what its reader sees: without hidden and moved words, with numbers of headings, footnotes and
text boxes.

The converter ignores what hides or numbers words, and drops the words of a paragraph with a text box.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping

import lxml.etree
from lxml.etree import _Element as Element

from ingest.errors import PageError
from ingest.parsers.archives import with_members
from ingest.parsers.office.word_notes import show_notes
from ingest.parsers.office.word_numbers import may_have_numbers, show_numbers
from ingest.parsers.office.word_xml import SPACE, WORD

_ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_TABS = frozenset({f"{WORD}tab", f"{WORD}ptab"})
_OFF = frozenset({"0", "false", "off"})
_WORD_TEXT = re.compile(r"word/(?:document|footnotes|endnotes|header\d*|footer\d*)\.xml")
_HIDING = (b":vanish", b":moveFrom")
MOST_GAPS = 63
"""Columns of a Word table, at most."""
_DOCUMENT, _FOOTNOTES = "word/document.xml", "word/footnotes.xml"


def as_word_shows(content: bytes) -> bytes:
    """Changes a file. `content` has passed `check_archive`.

    Raises:
        PageError: its XML is broken.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        changed = _changed(archive)
        return with_members(archive, changed, compression=zipfile.ZIP_STORED) if changed else content


def _changed(archive: zipfile.ZipFile) -> Mapping[str, bytes]:
    changed = {}
    styles = _member(archive, "word/styles.xml")
    numbering = _member(archive, "word/numbering.xml")
    notes = _notes(archive)
    hiding = _hiding_styles(styles)
    for name in filter(_WORD_TEXT.fullmatch, archive.namelist()):
        xml = archive.read(name)
        has_numbers = name == _DOCUMENT and may_have_numbers(xml, styles, numbering)
        has_notes = bool(notes) and (name == _FOOTNOTES or b"footnoteReference" in xml)
        has_tabs = any(mark in xml for mark in (b":tab/", b":tab ", b":ptab"))
        has_boxes, may_hide = b"txbxContent" in xml, _may_hide(xml, hiding)
        has_gaps = b":gridBefore" in xml
        if not (has_numbers or has_notes or has_tabs or has_boxes or may_hide or has_gaps):
            continue
        root = _parsed(xml)
        if (
            (may_hide and _hide(root, hiding))
            | (has_gaps and _fill_gaps(root))
            | (has_tabs and _space_tabs(root))
            | (has_boxes and _show_text_boxes(root))
            | (has_notes and (_forget_notes(root) if name == _FOOTNOTES else show_notes(root, notes)))
            | (has_numbers and show_numbers(root, _parsed(styles) if styles else None, _parsed(numbering)))
        ):
            changed[name] = lxml.etree.tostring(root, encoding="UTF-8", xml_declaration=True)
    return changed


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Reads a member; empty where there is none."""
    return archive.read(name) if name in archive.namelist() else b""


def _may_hide(xml: bytes, styles: frozenset[str]) -> bool:
    return any(mark in xml for mark in (*_HIDING, *(style.encode() for style in styles)))


def _hide(root: Element, styles: frozenset[str]) -> bool:
    hidden = [run for run in root.iter(f"{WORD}r") if _is_hidden(run, styles)]
    hidden += [
        paragraph for paragraph in root.iter(f"{WORD}p") if _style(paragraph, "pPr", "pStyle") in styles
    ]
    hidden += root.iter(f"{WORD}moveFrom")
    _remove(hidden)
    return bool(hidden)


def _space_tabs(root: Element) -> bool:
    """Replaces each tab by a space: the converter joins the words around it."""
    tabs = [tab for run in root.iter(f"{WORD}r") for tab in run if tab.tag in _TABS]
    for tab in tabs:
        tab.tag = f"{WORD}t"
        tab.text = " "
        tab.set(SPACE, "preserve")
    return bool(tabs)


def _fill_gaps(root: Element) -> bool:
    """Puts empty cells where a row begins further to the right than its table: the converter moves it to the left."""
    gaps = list(root.iter(f"{WORD}gridBefore"))
    for gap in gaps:
        row = next(gap.iterancestors(f"{WORD}tr"), None)
        first = None if row is None else row.find(f"{WORD}tc")
        count = gap.get(f"{WORD}val", "")
        if first is None or not count.isdecimal():
            continue
        for _ in range(min(int(count), MOST_GAPS)):
            cell = lxml.etree.Element(f"{WORD}tc")
            lxml.etree.SubElement(cell, f"{WORD}p")
            first.addprevious(cell)
    return bool(gaps)


def _notes(archive: zipfile.ZipFile) -> Mapping[str, Element]:
    """Returns the footnotes by their ids, without the lines that separate them from the text."""
    xml = _member(archive, _FOOTNOTES)
    notes = _parsed(xml).iter(f"{WORD}footnote") if b"footnoteRef" in xml or b"<w:t" in xml else ()
    return {note.get(f"{WORD}id", ""): note for note in notes if note.get(f"{WORD}type") is None}


def _forget_notes(root: Element) -> bool:
    """Drops the footnotes, which are in the text now."""
    _remove(list(root.iter(f"{WORD}footnote")))
    return True


def _show_text_boxes(root: Element) -> bool:
    """Puts the paragraphs of each text box behind its host. A file holds a box in both its old and its new form."""
    for choice in root.iter(f"{_ALTERNATIVES}Choice"):
        if next(choice.iter(f"{WORD}txbxContent"), None) is not None:
            _remove(list(choice.itersiblings(f"{_ALTERNATIVES}Fallback")))
    boxes = list(root.iter(f"{WORD}txbxContent"))
    for box in boxes:
        host = next(box.iterancestors(f"{WORD}p"), None)
        if host is not None:
            for block in reversed(list(box)):
                host.addnext(block)
            _remove([box])
    return bool(boxes)


def _hiding_styles(styles: bytes) -> frozenset[str]:
    if b":vanish" not in styles:
        return frozenset()
    hiding = filter(_vanishes, _parsed(styles).iter(f"{WORD}style"))
    return frozenset(style.get(f"{WORD}styleId", "") for style in hiding) - {""}


def _is_hidden(run: Element, styles: frozenset[str]) -> bool:
    return _vanishes(run) or _style(run, "rPr", "rStyle") in styles


def _vanishes(element: Element) -> bool:
    mark = element.find(f"{WORD}rPr/{WORD}vanish")
    return mark is not None and mark.get(f"{WORD}val", "1") not in _OFF


def _style(element: Element, properties: str, name: str) -> str:
    """Returns the id of an element's style; empty where it has none."""
    found = element.find(f"{WORD}{properties}/{WORD}{name}")
    return "" if found is None else found.get(f"{WORD}val", "")


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
