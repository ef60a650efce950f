"""Numbers that Word shows before headings and clauses, and lists that a style makes: the converter sees neither.

Word writes none of them into the text: "4.2" is counted from the paragraphs before.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import lxml.etree
from lxml.etree import _Element as Element

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
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
"""How far one style is followed to the one that it is based on: a ring would never end."""


def may_have_numbers(document: bytes, styles: bytes, numbering: bytes) -> bool:
    """Whether a style in use is numbered, or a list has numbers of several levels. Other lists the converter sees.

    Told without parsing: that takes longer than reading a short document.
    """
    if not numbering:
        return False
    if b"numPr" in document and _SEVERAL.search(numbering):
        return True
    made = [
        (_ID.search(style), _BASED_ON.search(style), b"numPr" in style) for style in _STYLE.findall(styles)
    ]
    numbered = {name[1] for name, _, has_number in made if name and has_number}
    for _ in range(_MOST_STYLES):
        heirs = {name[1] for name, above, _ in made if name and above and above[1] in numbered} - numbered
        if not heirs:
            break
        numbered |= heirs
    return any(name in document for name in numbered)


def show_numbers(document: Element, styles: Element | None, numbering: Element) -> bool:
    """Writes the numbers of headings and clauses before the words; lists that a style makes become lists.

    False: there was nothing to write.
    """
    has_changed = False
    lists, known = _Lists(numbering), _Styles(styles)
    for paragraph in document.iter(f"{WORD}p"):
        properties = paragraph.find(f"{WORD}pPr")
        name = _value(properties, "pStyle")
        number, level = _numbered(properties)
        by_style = number is None
        if by_style:
            number, level = known.numbered(name)
        if number is None or number == "0" or not _has_words(paragraph):
            continue
        label, is_deep = lists.label(number, level if level is not None else lists.level_of(number, name))
        if label and (known.is_heading(name) or is_deep):
            has_changed |= _write(paragraph, label)
            if properties is not None and not by_style:
                _drop(properties.find(f"{WORD}numPr"))
        elif by_style:
            has_changed |= _make_item(paragraph, number, level or 0)
    return has_changed


@dataclass(kw_only=True, slots=True)
class _Level:
    start: int = 1
    form: str = "decimal"
    text: str = ""
    style: str = ""


@dataclass(kw_only=True, slots=True)
class _Kind:
    """A list as it is defined once, of which the document may have several."""

    levels: dict[int, _Level] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)

    @property
    def is_deep(self) -> bool:
        """Whether a level is numbered with those above it ("4.2"), which no list of Markdown is."""
        return any(len(_PLACE.findall(level.text)) > 1 for level in self.levels.values())


class _Lists:
    def __init__(self, numbering: Element) -> None:
        kinds = {
            one.get(f"{WORD}abstractNumId", ""): _kind(one) for one in numbering.iter(f"{WORD}abstractNum")
        }
        self._kinds: dict[str, _Kind] = defaultdict(_Kind)
        self._restarts: dict[str, dict[int, int]] = {}
        for one in numbering.iter(f"{WORD}num"):
            number = one.get(f"{WORD}numId", "")
            self._kinds[number] = kinds.get(_value(one, "abstractNumId"), _Kind())
            self._restarts[number] = {
                int(change.get(f"{WORD}ilvl", "0")): int(start)
                for change in one.iter(f"{WORD}lvlOverride")
                if (start := _value(change, "startOverride")).isdigit()
            }

    def level_of(self, number: str, style: str) -> int:
        """The level that belongs to a style."""
        levels = self._kinds[number].levels
        return next((at for at, one in levels.items() if style and one.style == style), 0)

    def label(self, number: str, level: int) -> tuple[str, bool]:
        """What stands before the next paragraph of a list; empty for a bullet. And whether it is a list of clauses."""
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
            at = int(found[1]) - 1
            of = kind.levels.get(at, own)
            return _written(kind.counts.setdefault(at, of.start), of.form)

        return _PLACE.sub(shown, own.text), kind.is_deep


class _Styles:
    def __init__(self, styles: Element | None) -> None:
        found = () if styles is None else styles.iter(f"{WORD}style")
        self._styles: Mapping[str, Element] = {one.get(f"{WORD}styleId", ""): one for one in found}

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
    """The list and the level that a paragraph or a style names."""
    found = None if properties is None else properties.find(f"{WORD}numPr")
    if found is None:
        return None, None
    level = _value(found, "ilvl")
    return _value(found, "numId") or None, int(level) if level.isdigit() else None


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


def _write(paragraph: Element, label: str) -> bool:
    if not label:
        return False
    run = lxml.etree.Element(f"{WORD}r")
    text = lxml.etree.SubElement(run, f"{WORD}t")
    text.text = f"{label} "
    text.set(_SPACE, "preserve")
    paragraph.insert(1 if paragraph.find(f"{WORD}pPr") is not None else 0, run)
    return True


def _make_item(paragraph: Element, number: str, level: int) -> bool:
    properties = paragraph.find(f"{WORD}pPr")
    if properties is None:
        return False
    item = lxml.etree.SubElement(properties, f"{WORD}numPr")
    lxml.etree.SubElement(item, f"{WORD}ilvl").set(f"{WORD}val", str(level))
    lxml.etree.SubElement(item, f"{WORD}numId").set(f"{WORD}val", number)
    return True


def _has_words(paragraph: Element) -> bool:
    return any(one.text for one in paragraph.iter(f"{WORD}t"))


def _value(element: Element | None, name: str) -> str:
    found = None if element is None else element.find(f"{WORD}{name}")
    return "" if found is None else found.get(f"{WORD}val", "")


def _drop(element: Element | None) -> None:
    parent = None if element is None else element.getparent()
    if parent is not None and element is not None:
        parent.remove(element)
