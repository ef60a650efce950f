"""Moves Word's footnotes behind the paragraph that they belong to: a sentence is quoted with the note that limits it.

The converter collects them at the end, under other numbers than those in the text, and drops one that has the id 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy

from lxml.etree import _Element as Element

from ingest.parsers.office.word_xml import WORD, insert_text, text_element

_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def show_notes(document: Element, notes: Mapping[str, Element]) -> bool:
    """Numbers notes as Word does, in the order of their references. `notes`: by their ids.

    Writes "[note 1]", since "[1]" looks like an answer's citation.
    """
    last: dict[Element, Element] = {}
    """The elements behind which the next notes go, by paragraph."""
    number = 0
    for mark in list(document.iter(f"{WORD}footnoteReference")):
        note = notes.get(mark.get(f"{WORD}id", ""))
        host = _outermost(mark)
        if note is None or host is None:
            continue
        number += 1
        mark.getparent().replace(mark, text_element(f"[note {number}]"))
        for index, paragraph in enumerate(note.iter(f"{WORD}p")):
            shown = _copied(paragraph, f"[note {number}] " if index == 0 else "")
            last.get(host, host).addnext(shown)
            last[host] = shown
    return number > 0


def _outermost(mark: Element) -> Element | None:
    """Returns the paragraph, or the table around it: a note does not go into a cell."""
    around = list(mark.iterancestors(f"{WORD}p", f"{WORD}tbl"))
    return around[-1] if around else None


def _copied(paragraph: Element, label: str) -> Element:
    """Copies a paragraph, but only the words of its links, which belong to another part of the file."""
    copy = deepcopy(paragraph)
    for link in copy.iter(f"{WORD}hyperlink"):
        link.attrib.pop(_LINK, None)
    if label:
        insert_text(copy, label)
    return copy
