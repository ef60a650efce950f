"""Office files that no program here reads well: the text in their own XML, as simple HTML."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from html import escape
from zipfile import BadZipFile, ZipFile

from lxml import etree
from lxml.etree import _Element

from kb.evaluation.fidelity.tools import UncheckedError

_NUMBER = re.compile(r"slide(\d+)\.xml$")


def slides_as_html(content: bytes) -> str:
    """The slides' shapes and tables in the order of the slides, each in the order of its XML."""
    return "".join(part for slide in _slides(content) for part in _shapes(slide))


def open_document_as_html(content: bytes) -> str:
    """An OpenDocument's paragraphs, without its notes."""
    root = _parsed(content, "content.xml")
    paragraphs = (one for one in root.iter() if _name(one) in ("p", "h"))
    return "".join(
        f"<p>{escape(''.join(_pieces(one)))}</p>"
        for one in paragraphs
        if not any(_name(above) == "notes" for above in one.iterancestors())
    )


def _pieces(element: _Element) -> Iterator[str]:
    """Text with OpenDocument's spaces, tabs and line breaks, which are elements."""
    for one in element.iter():
        if _name(one) in ("s", "tab", "line-break"):
            yield " "
        if one is not element and _name(one) == "p":
            yield "\n"
        yield one.text or ""
        if one is not element:
            yield one.tail or ""


def text_boxes(content: bytes) -> str:
    """The paragraphs in text boxes of a `.docx` as HTML: pandoc reads none of them."""
    root = _parsed(content, "word/document.xml")
    paragraphs = (
        one
        for box in root.iter("{*}txbxContent")
        if not any(_name(above) == "Fallback" for above in box.iterancestors())
        for one in box.iter("{*}p")
    )
    return "".join(f"<p>{escape(_text(one))}</p>" for one in paragraphs)


def hidden_words(content: bytes) -> str:
    """Words that Word does not show, of a `.docx`."""
    try:
        root = _parsed(content, "word/document.xml")
    except UncheckedError:  # some programs name its parts differently
        return ""
    runs = (
        run for run in root.iter() if _name(run) == "r" and any(_name(one) == "vanish" for one in run.iter())
    )
    return " ".join(" ".join(run.itertext()) for run in runs)


def _slides(content: bytes) -> Iterator[_Element]:
    names = sorted(
        (int(found[1]), name)
        for name in _names(content)
        if name.startswith("ppt/slides/") and (found := _NUMBER.search(name))
    )
    if not names:
        raise UncheckedError("it has no slides that can be found")
    for _, name in names:
        yield _parsed(content, name)


def _shapes(slide: _Element) -> Iterator[str]:
    for element in slide.iter():
        if any(_name(above) in ("tbl", "Fallback") for above in element.iterancestors()):
            continue
        if _name(element) == "tbl":
            yield f"<table>{''.join(_row(row) for row in element if _name(row) == 'tr')}</table>"
        elif _name(element) == "p" and (text := _text(element)).strip():
            yield f"<p>{escape(text)}</p>"


def _row(row: _Element) -> str:
    cells = [cell for cell in row if _name(cell) == "tc"]
    covered = [cell for cell in cells if not (cell.get("hMerge") or cell.get("vMerge"))]
    return (
        "<tr>"
        + "".join(
            f'<td colspan="{cell.get("gridSpan", "1")}" rowspan="{cell.get("rowSpan", "1")}">'
            f"{escape(' '.join(_text(one) for one in cell.iter() if _name(one) == 'p'))}</td>"
            for cell in covered
        )
        + "</tr>"
    )


def _text(paragraph: _Element) -> str:
    """Returns the text without the numbers of slides, which are a field."""
    return "".join(
        " " if _name(one) in ("br", "tab") else one.text or ""
        for one in paragraph.iter()
        if _name(one) in ("t", "br", "tab") and _name(one.getparent()) != "fld"
    )


def _name(element: _Element) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def _names(content: bytes) -> list[str]:
    try:
        with ZipFile(io.BytesIO(content)) as archive:
            return archive.namelist()
    except BadZipFile as error:
        raise UncheckedError("it is no archive") from error


def _parsed(content: bytes, name: str) -> _Element:
    if name not in _names(content):
        raise UncheckedError(f"it has no {name}")
    with ZipFile(io.BytesIO(content)) as archive:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
        root = etree.fromstring(archive.read(name), parser)
    if root is None:
        raise UncheckedError(f"its {name} is no XML")
    return root
