"""Reads the text of a .pptx from its XML, for decks that the converter rejects."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from defusedxml.ElementTree import ParseError, fromstring

from ingest.errors import PageError
from ingest.parsers.grids import table

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_SLIDE = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_NAME = re.compile(r"ppt/slides/slide(\d+)\.xml")
_TITLES = frozenset({"title", "ctrTitle"})


def read_slides(content: bytes) -> str:
    """Writes Markdown: a heading for each slide with a title, then its texts and tables in the order of the file.

    `content` has passed `check_archive`.

    Raises:
        PageError: it is no such file.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = {int(found[1]): found[0] for found in map(_NAME.fullmatch, archive.namelist()) if found}
            slides = [fromstring(archive.read(names[number])) for number in sorted(names)]
    except (zipfile.BadZipFile, ParseError, ValueError) as error:
        raise PageError("it is broken, or no .pptx file at all: save it again") from error
    return "\n\n".join(text for slide in slides for text in _texts(slide))


def _texts(slide: Element) -> Iterator[str]:
    for item in slide.iter():
        if item.tag == f"{_SLIDE}sp":
            if text := "\n\n".join(filter(None, map(_words, item.iter(f"{_DRAWING}p")))):
                yield f"## {' '.join(text.split())}" if _is_title(item) else text
        elif item.tag == f"{_DRAWING}tbl":
            rows = [
                [" ".join(map(_words, cell.iter(f"{_DRAWING}p"))) for cell in row.iter(f"{_DRAWING}tc")]
                for row in item.iter(f"{_DRAWING}tr")
            ]
            if any(map(any, rows)):
                yield table(rows)


def _is_title(shape: Element) -> bool:
    return any(mark.get("type") in _TITLES for mark in shape.iter(f"{_SLIDE}ph"))


def _words(paragraph: Element) -> str:
    return " ".join("".join(run.text or "" for run in paragraph.iter(f"{_DRAWING}t")).split())
