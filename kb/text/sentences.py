"""Splits text and Markdown into what can be cited on its own: sentences, list items, table rows, fences, headings.

Every unit is a slice of the text: `text[unit.start:unit.end] == unit.text`. Rules, no model: they know the
abbreviations of the language files, and the full stops of other scripts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from kb.text.lexicon import Lexicon, union
from kb.text.word_lists import forms_of

UnitKind = Literal["sentence", "item", "row", "fence", "heading", "quote"]


def _months(lexicon: Lexicon) -> Iterator[str]:
    for forms in (*lexicon.sequence.months, *lexicon.figures.months):
        yield from forms_of(forms)


_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s|\s*(\*\*|__)[^*_]+\1:?\s*$")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,9}[.)])\s+\S")
_ROW = re.compile(r"\s*\|.*\|\s*$")
_SEPARATOR_ROW = re.compile(r"\s*+\|?\s*+:?-{2,}+:?\s*+(?:\|\s*+:?-{2,}+:?\s*+)*+\|?\s*+$")
_RULE = re.compile(r"\s{0,3}([-*_])(\s*\1){2,}\s*$")
_QUOTE = re.compile(r"\s{0,3}>")

# No alternative may run over what the next match could begin with: a text of nothing but "[a](" takes linear time.
_MASKED = re.compile(r"`++[^`\n]+`+|\[[^\[\]\n]*+\]\((?:[^()\s]|\([^()\s]*+\))*+\)|<[^<>\s]++>|https?://\S+")
"""Where a full stop ends nothing: inline code, links, addresses."""
_STOP = re.compile(
    r"(?:(?<![.!?…؟۔।])[.!?…؟۔।]++[\"'”’»)\]*_`]*+(?=\s|$))|[。！？]++[」』”）]*+|(?:(?<! ) {2,}+|\\)(?=\n)"
)


_NEVER_LAST = union(lambda lexicon: lexicon.sentences.abbreviations)
_BEFORE_NUMBER = union(lambda lexicon: lexicon.sentences.before_number)
_NAMED_BY_LETTER = union(lambda lexicon: lexicon.sentences.named_by_letter)
_MONTHS = union(lambda lexicon: _months(lexicon) if lexicon.sentences.days_with_stop else ())
_WORD_BEFORE = re.compile(r"(?<![\w./])[\w./]+$")
_WORD = re.compile(r"\w")
_LOOK = 200
"""Characters beside a full stop that tell whether it ends a sentence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TextUnit:
    """`start` and `end` (exclusive) are character offsets. Items and rows keep their indentation and marker."""

    text: str
    start: int
    end: int
    kind: UnitKind


def split_units(text: str) -> list[TextUnit]:
    """Returns the units in the order of the text. Blank lines and rules between them belong to none."""
    return list(_units(text))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Line:
    text: str
    start: int

    @property
    def blank(self) -> bool:
        return not self.text.strip()

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())


def _units(text: str) -> Iterator[TextUnit]:
    lines = _lines(text)
    index = 0
    while index < len(lines):
        line = lines[index]
        if line.blank or _RULE.match(line.text):
            index += 1
            continue
        kind = _kind(line.text)
        end = _block_end(lines, index, kind)
        if kind == "sentence":
            yield from _sentences(text, line.start, lines[end - 1])
        else:
            yield _unit(text, line.start, _end(lines[end - 1]), kind)
        index = end


def _lines(text: str) -> list[_Line]:
    lines, start = [], 0
    for line in text.split("\n"):
        lines.append(_Line(text=line, start=start))
        start += len(line) + 1
    return lines


def _kind(line: str) -> UnitKind:
    if _FENCE.match(line):
        return "fence"
    if _HEADING.match(line):
        return "heading"
    if _ITEM.match(line):
        return "item"
    if _ROW.match(line):
        return "row"
    return "quote" if _QUOTE.match(line) else "sentence"


def _block_end(lines: list[_Line], index: int, kind: UnitKind) -> int:
    """Returns the index after the last line of the block that begins at line `at`."""
    end = index + 1
    if kind == "fence":
        return _fence_end(lines, index)
    if kind == "row":  # a header row keeps the line of dashes that makes it one
        return end + (end < len(lines) and _SEPARATOR_ROW.match(lines[end].text) is not None)
    if kind == "heading":
        return end
    while end < len(lines) and not lines[end].blank and not _RULE.match(lines[end].text):
        next_kind = _kind(lines[end].text)
        if kind == "item":
            if next_kind == "item" or (next_kind != "sentence" and lines[end].indent <= lines[index].indent):
                break
        elif next_kind != kind:
            break
        end += 1
    return end


def _fence_end(lines: list[_Line], index: int) -> int:
    opened = _FENCE.match(lines[index].text)
    mark = opened.group(1) if opened else "```"
    for end in range(index + 1, len(lines)):
        if lines[end].text.strip().startswith(mark):
            return end + 1
    return len(lines)


def _end(line: _Line) -> int:
    return line.start + len(line.text)


def _unit(text: str, start: int, end: int, kind: UnitKind) -> TextUnit:
    raw = text[start:end]
    end = start + len(raw.rstrip())
    if kind != "item":  # the indentation of a nested item is its meaning
        start += len(raw) - len(raw.lstrip())
    return TextUnit(text=text[start:end], start=start, end=end, kind=kind)


def _sentences(text: str, start: int, last: _Line) -> Iterator[TextUnit]:
    end = _end(last)
    last_word = start + len(text[start:end].rstrip())
    masked = [match.span() for match in _MASKED.finditer(text, start, end)]
    index = 0
    for stop in _STOP.finditer(text, start, end):
        while index < len(masked) and masked[index][1] <= stop.start():
            index += 1
        inside = index < len(masked) and masked[index][0] <= stop.start() and stop.end() < masked[index][1]
        if inside or not _ends_sentence(text, start, stop, last_word):
            continue
        if text[start : stop.end()].strip():
            yield _unit(text, start, stop.end(), "sentence")
        start = stop.end()
    if text[start:end].strip():
        yield _unit(text, start, end, "sentence")


def _ends_sentence(text: str, start: int, stop: re.Match[str], end: int) -> bool:
    mark = stop.group()
    if mark[0] in "。！？؟۔।\\ ":
        return True
    if stop.end() >= end:
        return True
    following = text[stop.end() : min(end, stop.end() + _LOOK)].lstrip()
    first = _WORD.search(following)
    if first is None or first.group().islower():
        return False
    before = text[max(start, stop.start() - _LOOK) : stop.start()]
    return mark[0] != "." or not _is_abbreviation(before, following)


def _is_abbreviation(before: str, following: str) -> bool:
    match = _WORD_BEFORE.search(before)
    if match is None:
        return False
    word = match.group().strip("._/").lower()
    if word in _NEVER_LAST:
        return True
    if word in _BEFORE_NUMBER:
        return following[0].isdigit()
    if len(word) == 1 and word.isalpha():  # an initial, unless it names something: "Phase B."
        named = _WORD_BEFORE.search(before[: match.start()].rstrip())
        return named is None or named.group().lower() not in _NAMED_BY_LETTER
    if word.isdigit() and len(word) <= 2:  # a German ordinal: "am 3. März"
        return re.split(r"\W", following, maxsplit=1)[0].lower() in _MONTHS
    return False
