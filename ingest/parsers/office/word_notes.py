"""Footnotes of Word behind the paragraph that they belong to: what a note limits is quoted with it.

The converter collects them at the end, under other numbers than it sets in the text, and forgets one that has the id 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy

import lxml.etree
from lxml.etree import _Element as Element

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"


def show_notes(document: Element, notes: Mapping[str, Element]) -> bool:
    """Numbers them as Word does, in the order in which they are named. `notes`: by their ids.

    "[note 1]", since "[1]" is what an answer's citations look like.
    """
    last: dict[Element, Element] = {}
    """What the next note of a paragraph is put behind."""
    number = 0
    for mark in list(document.iter(f"{_WORD}footnoteReference")):
        note = notes.get(mark.get(f"{_WORD}id", ""))
        host = _outermost(mark)
        if note is None or host is None:
            continue
        number += 1
        mark.getparent().replace(mark, _text(f"[note {number}]"))
        for at, paragraph in enumerate(note.iter(f"{_WORD}p")):
            shown = _copied(paragraph, f"[note {number}] " if at == 0 else "")
            last.get(host, host).addnext(shown)
            last[host] = shown
    return number > 0


def _outermost(mark: Element) -> Element | None:
    """The paragraph, or the table around it: a note is no part of a cell."""
    around = list(mark.iterancestors(f"{_WORD}p", f"{_WORD}tbl"))
    return around[-1] if around else None


def _copied(paragraph: Element, label: str) -> Element:
    """Its links are those of another part of the file, so only their words are kept."""
    copy = deepcopy(paragraph)
    for link in copy.iter(f"{_WORD}hyperlink"):
        link.attrib.pop(_LINK, None)
    if label:
        run = lxml.etree.Element(f"{_WORD}r")
        run.append(_text(label))
        copy.insert(1 if copy.find(f"{_WORD}pPr") is not None else 0, run)
    return copy


def _text(words: str) -> Element:
    text = lxml.etree.Element(f"{_WORD}t")
    text.text = words
    text.set(_SPACE, "preserve")
    return text
