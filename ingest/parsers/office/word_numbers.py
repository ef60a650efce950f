"""Writes the numbers that Word shows before headings and clauses, and makes items of paragraphs in a list style.

The converter ignores both. Word's file does not hold the numbers: "4.2" is counted from the paragraphs before.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import lxml.etree
from lxml.etree import _Element as Element

from ingest.parsers.office.word_xml import WORD, insert_text

_HEADING = re.compile(r"heading [1-9]|title", re.IGNORECASE)
_PLACE = re.compile(r"%([1-9])")
_STYLE = re.compile(rb"<w:style\b.*?</w:style>", re.DOTALL)
_ID = re.compile(rb"w:styleId=[\"']([^\"']+)")
_BASED_ON = re.compile(rb"<w:basedOn w:val=[\"']([^\"']+)")
_SEVERAL = re.compile(rb"%[1-9][^<>\"']*%[1-9]")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_LEVELS = 9
_MOST_STYLES = 20
"""Maximum length of a chain of styles that are based on one another: a cycle would never end."""


def may_have_numbers(document: bytes, styles: bytes, numbering: bytes) -> bool:
    """Whether a style in use is numbered, or a list has numbers of several levels. The converter reads other lists.

    Does not parse, which takes longer than reading a short document.
    """
    if not numbering:
        return False
    if b"numPr" in document and _SEVERAL.search(numbering):
        return True
    numbered: set[bytes] = set()
    bases: dict[bytes, bytes] = {}
    for style in _STYLE.findall(styles):
        if name := _ID.search(style):
            if b"numPr" in style:
                numbered.add(name[1])
            if base := _BASED_ON.search(style):
                bases[name[1]] = base[1]
    for _ in range(_MOST_STYLES):
        numbered |= {name for name, base in bases.items() if base in numbered}
    return any(name in document for name in numbered)


def show_numbers(document: Element, styles: Element | None, numbering: Element) -> bool:
    """Writes the numbers of headings and clauses before the words; paragraphs in a list style become items.

    Returns whether there was anything to write.
    """
    has_changed = False
    lists, style_sheet = _Lists(numbering), _Styles(styles)
    for paragraph in document.iter(f"{WORD}p"):
        properties = paragraph.find(f"{WORD}pPr")
        name = _value(properties, "pStyle")
        number, level = _numbered(properties)
        by_style = number is None
        if by_style:
            number, level = style_sheet.numbered(name)
        if number is None or number == "0" or not any(text.text for text in paragraph.iter(f"{WORD}t")):
            continue
        label, is_deep = lists.label(number, level if level is not None else lists.level_of(number, name))
        if label and (style_sheet.is_heading(name) or is_deep):
            insert_text(paragraph, f"{label} ")
            has_changed = True
            if properties is not None and not by_style:
                properties.remove(properties.find(f"{WORD}numPr"))
        elif by_style and properties is not None:
            _make_item(properties, number, level or 0)
            has_changed = True
    return has_changed


@dataclass(kw_only=True, slots=True)
class _Level:
    start: int = 1
    form: str = "decimal"
    text: str = ""
    style: str = ""


@dataclass(kw_only=True, slots=True)
class _Kind:
    """An abstract list, which the document may use several times."""

    levels: dict[int, _Level] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)

    @property
    def is_deep(self) -> bool:
        """Whether a level is numbered with those above it ("4.2"), which no list of Markdown is."""
        return any(len(_PLACE.findall(level.text)) > 1 for level in self.levels.values())


class _Lists:
    def __init__(self, numbering: Element) -> None:
        kinds = {
            kind.get(f"{WORD}abstractNumId", ""): _kind(kind) for kind in numbering.iter(f"{WORD}abstractNum")
        }
        self._kinds: dict[str, _Kind] = defaultdict(_Kind)
        self._restarts: dict[str, dict[int, int]] = {}
        for instance in numbering.iter(f"{WORD}num"):
            number = instance.get(f"{WORD}numId", "")
            self._kinds[number] = kinds.get(_value(instance, "abstractNumId"), _Kind())
            self._restarts[number] = {
                int(override.get(f"{WORD}ilvl", "0")): int(start)
                for override in instance.iter(f"{WORD}lvlOverride")
                if (start := _value(override, "startOverride")).isdigit()
            }

    def level_of(self, number: str, style: str) -> int:
        """Returns the level that belongs to a style."""
        levels = self._kinds[number].levels
        return next((depth for depth, level in levels.items() if style and level.style == style), 0)

    def label(self, number: str, level: int) -> tuple[str, bool]:
        """Counts the next paragraph of a list. Returns its label (empty for a bullet), and whether the list is of
        clauses.
        """
        kind = self._kinds[number]
        own = kind.levels.get(level)
        if own is None:
            return "", False
        restart = self._restarts.get(number, {}).pop(level, None)
        before = kind.counts.get(level, own.start - 1)
        kind.counts[level] = before + 1 if restart is None else restart
        for deeper in range(level + 1, _LEVELS):
            kind.counts.pop(deeper, None)
        if own.form in ("bullet", "none"):
            return "", False

        def shown(found: re.Match[str]) -> str:
            depth = int(found[1]) - 1
            shown_level = kind.levels.get(depth, own)
            return _written(kind.counts.setdefault(depth, shown_level.start), shown_level.form)

        return _PLACE.sub(shown, own.text), kind.is_deep


class _Styles:
    def __init__(self, styles: Element | None) -> None:
        elements = () if styles is None else styles.iter(f"{WORD}style")
        self._styles: Mapping[str, Element] = {style.get(f"{WORD}styleId", ""): style for style in elements}

    def numbered(self, name: str) -> tuple[str | None, int | None]:
        for style in self._chain(name):
            number, level = _numbered(style.find(f"{WORD}pPr"))
            if number is not None:
                return number, level
        return None, None

    def is_heading(self, name: str) -> bool:
        return any(_HEADING.fullmatch(_value(style, "name")) for style in self._chain(name))

    def _chain(self, name: str) -> Iterator[Element]:
        for _ in range(_MOST_STYLES):
            style = self._styles.get(name)
            if style is None:
                return
            yield style
            name = _value(style, "basedOn")


def _kind(element: Element) -> _Kind:
    kind = _Kind()
    for level in element.iter(f"{WORD}lvl"):
        start = _value(level, "start")
        kind.levels[int(level.get(f"{WORD}ilvl", "0"))] = _Level(
            start=int(start) if start.isdigit() else 1,
            form=_value(level, "numFmt") or "decimal",
            text=_value(level, "lvlText"),
            style=_value(level, "pStyle"),
        )
    return kind


def _numbered(properties: Element | None) -> tuple[str | None, int | None]:
    """Returns the list and the level that a paragraph or a style names."""
    named = None if properties is None else properties.find(f"{WORD}numPr")
    level = _value(named, "ilvl")
    return _value(named, "numId") or None, int(level) if level.isdigit() else None


def _written(count: int, form: str) -> str:
    match form:
        case "lowerLetter" | "upperLetter":
            text = chr(97 + (count - 1) % 26) * ((count - 1) // 26 + 1)
        case "lowerRoman" | "upperRoman":
            text, rest = "", count
            for value, letters in _ROMAN:
                text += letters * (rest // value)
                rest %= value
        case "decimalZero":
            text = f"{count:02}"
        case _:
            text = str(count)
    return text.upper() if form.startswith("upper") else text


def _make_item(properties: Element, number: str, level: int) -> None:
    item = lxml.etree.SubElement(properties, f"{WORD}numPr")
    lxml.etree.SubElement(item, f"{WORD}ilvl").set(f"{WORD}val", str(level))
    lxml.etree.SubElement(item, f"{WORD}numId").set(f"{WORD}val", number)


def _value(element: Element | None, name: str) -> str:
    found = None if element is None else element.find(f"{WORD}{name}")
    return "" if found is None else found.get(f"{WORD}val", "")
