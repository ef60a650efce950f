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
    """Returns the slides' shapes and tables in the order of the slides, each in the order of its XML."""
    return "".join(part for slide in _slides(content) for part in _shapes(slide))


def open_document_as_html(content: bytes) -> str:
    """Returns an OpenDocument's paragraphs, without its notes."""
    root = _parsed(content, "content.xml")
    return "".join(
        f"<p>{escape(''.join(_pieces(paragraph)))}</p>"
        for paragraph in root.iter("{*}p", "{*}h")
        if next(paragraph.iterancestors("{*}notes"), None) is None
    )


def _pieces(element: _Element) -> Iterator[str]:
    """Yields text with OpenDocument's spaces, tabs and line breaks, which are elements."""
    for part in element.iter():
        if _name(part) in ("s", "tab", "line-break"):
            yield " "
        if part is not element and _name(part) == "p":
            yield "\n"
        yield part.text or ""
        if part is not element:
            yield part.tail or ""


def text_boxes(content: bytes) -> str:
    """Returns the paragraphs in text boxes of a `.docx` as HTML: pandoc reads none of them."""
    root = _parsed(content, "word/document.xml")
    return "".join(
        f"<p>{escape(_text(paragraph))}</p>"
        for box in root.iter("{*}txbxContent")
        if next(box.iterancestors("{*}Fallback"), None) is None
        for paragraph in box.iter("{*}p")
    )


def hidden_words(content: bytes) -> str:
    """Returns the words that Word does not show, of a `.docx`."""
    try:
        root = _parsed(content, "word/document.xml")
    except UncheckedError:  # some programs name its parts differently
        return ""
    hidden = (run for run in root.iter("{*}r") if next(run.iter("{*}vanish"), None) is not None)
    return " ".join(" ".join(run.itertext()) for run in hidden)


def _slides(content: bytes) -> Iterator[_Element]:
    with _archive(content) as archive:
        names = sorted(
            (int(number[1]), name)
            for name in archive.namelist()
            if name.startswith("ppt/slides/") and (number := _NUMBER.search(name))
        )
    if not names:
        raise UncheckedError("it has no slides that can be found")
    for _, name in names:
        yield _parsed(content, name)


def _shapes(slide: _Element) -> Iterator[str]:
    for element in slide.iter():
        if next(element.iterancestors("{*}tbl", "{*}Fallback"), None) is not None:
            continue
        if _name(element) == "tbl":
            yield f"<table>{''.join(_row(row) for row in element if _name(row) == 'tr')}</table>"
        elif _name(element) == "p" and (text := _text(element)).strip():
            yield f"<p>{escape(text)}</p>"


def _row(row: _Element) -> str:
    cells = "".join(
        f'<td colspan="{cell.get("gridSpan", "1")}" rowspan="{cell.get("rowSpan", "1")}">'
        f"{escape(' '.join(_text(paragraph) for paragraph in cell.iter('{*}p')))}</td>"
        for cell in row
        if _name(cell) == "tc" and not (cell.get("hMerge") or cell.get("vMerge"))
    )
    return f"<tr>{cells}</tr>"


def _text(paragraph: _Element) -> str:
    """Returns the text without the numbers of slides, which are a field."""
    return "".join(
        part.text or "" if _name(part) == "t" else " "
        for part in paragraph.iter("{*}t", "{*}br", "{*}tab")
        if _name(part.getparent()) != "fld"
    )


def _name(element: _Element) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def _parsed(content: bytes, name: str) -> _Element:
    with _archive(content) as archive:
        if name not in archive.namelist():
            raise UncheckedError(f"it has no {name}")
        parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
        root = etree.fromstring(archive.read(name), parser)
    if root is None:
        raise UncheckedError(f"its {name} is no XML")
    return root


def _archive(content: bytes) -> ZipFile:
    try:
        return ZipFile(io.BytesIO(content))
    except BadZipFile as error:
        raise UncheckedError("it is no archive") from error
