"""Suggestions in a Google Doc, which its Word file has as tracked changes: what is
suggested is not the text until somebody accepts it, so that the file is read without them.
"""

from __future__ import annotations

import io
import re
import zipfile

import lxml.etree
from lxml.etree import _Element as Element

from ingest.errors import PageError
from ingest.parsers.archives import check_archive, with_members

NOTE = "it has suggestions that nobody has accepted: they are left out"

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_TEXTS = re.compile(r"word/(?:document|footnotes|endnotes|header\d*|footer\d*)\.xml")
_TRACKED = re.compile(rb"<\w+:(?:ins|del)[ />]")


def without_suggestions(content: bytes) -> bytes:
    """Returns the Word file with every suggestion rejected; the same bytes where there are none.

    Raises:
        PageError: it is no Word file.
    """
    check_archive(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        texts = {name: archive.read(name) for name in filter(_TEXTS.fullmatch, archive.namelist())}
        changed = {name: _rejected(xml) for name, xml in texts.items() if _TRACKED.search(xml)}
        if not changed:
            return content
        return with_members(archive, changed, compression=zipfile.ZIP_DEFLATED)


def _rejected(xml: bytes) -> bytes:
    parser = lxml.etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    try:
        root = lxml.etree.fromstring(xml, parser=parser)
    except lxml.etree.XMLSyntaxError as error:
        raise PageError("it is broken: save it again") from error
    for mark in list(root.iter(f"{_WORD}ins")):
        parent = mark.getparent()
        if parent is None:
            continue
        if parent.tag == f"{_WORD}trPr":
            _remove(parent.getparent())
        elif parent.tag != f"{_WORD}rPr":  # there it stands for the end of a paragraph, which has no words
            _remove(mark)
    for mark in list(root.iter(f"{_WORD}del")):
        parent = mark.getparent()
        if parent is not None and parent.tag not in (f"{_WORD}rPr", f"{_WORD}trPr"):
            for run in list(mark):
                mark.addprevious(run)
            _remove(mark)
    for text in root.iter(f"{_WORD}delText"):
        text.tag = f"{_WORD}t"
    written: bytes = lxml.etree.tostring(root, encoding="UTF-8", xml_declaration=True)
    return written


def _remove(element: Element | None) -> None:
    parent = element.getparent() if element is not None else None
    if element is not None and parent is not None:
        parent.remove(element)
