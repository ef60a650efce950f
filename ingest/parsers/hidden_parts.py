"""Takes out of a Word file what its reader does not see, hidden and moved-away words: the converter knows nothing of them."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Mapping

import lxml.etree
from lxml.etree import _Element as Element

from ingest.errors import PageError

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_OFF = frozenset({"0", "false", "off"})
_WORD_TEXT = re.compile(r"word/(?:document|footnotes|endnotes|header\d*|footer\d*)\.xml")
_WORD_MARKS = (b":vanish", b":moveFrom")


def without_hidden_words(content: bytes) -> bytes:
    """The file without them. `content` has passed `check_archive`.

    Raises:
        PageError: its XML is broken.
    """
    return _rewritten(content, _hidden_words)


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
