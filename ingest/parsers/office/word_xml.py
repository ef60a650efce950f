"""Names and text elements of Word's XML."""

from __future__ import annotations

import lxml.etree
from lxml.etree import _Element as Element

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
SPACE = "{http://www.w3.org/XML/1998/namespace}space"


def text_element(words: str) -> Element:
    text = lxml.etree.Element(f"{WORD}t")
    text.text = words
    text.set(SPACE, "preserve")
    return text


def insert_text(paragraph: Element, words: str) -> None:
    """Inserts words at the beginning of a paragraph."""
    run = lxml.etree.Element(f"{WORD}r")
    run.append(text_element(words))
    paragraph.insert(1 if paragraph.find(f"{WORD}pPr") is not None else 0, run)
