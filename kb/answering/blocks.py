"""Splits a passage into blocks that can be quoted by themselves.

A paragraph, a list with the line that leads it in, a table with its
caption, code with the sentence before it, a question with its answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kb.text.phrases import talk_languages
from kb.text.sentences import TextUnit, split_units

BlockKind = Literal["prose", "list", "table", "code", "image"]

TALK_CHARACTERS = 80
"""Longest sentence that counts as small talk; a longer one says something."""

_LEADS_IN = re.compile(r"[:：][\s*_]*$")
_ASKS = re.compile(r"[?？؟][\s*_\"'”’)]*$")
_QUESTION_MARK = re.compile(
    r"\s*(?:[*_]{1,2})?(?:Q|Question|Vraag|Frage|Pregunta)(?:[*_]{1,2})?\s*[:.]", re.IGNORECASE
)
_SPEAKER = re.compile(r"\s*(?:[*_]{1,2})?[^\n:*_]{1,40}(?:[*_]{1,2})?:\s+")
"""The speaker in a thread or an interview: "**Person 1**: thanks!"."""
_IMAGE = re.compile(r"(?:!\[[^\]]*\]\([^()\s]*(?:\s+\"[^\"]*\")?\)\s*)+")
_BLANK = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, kw_only=True, slots=True)
class PassageBlock:
    """A block and the units that it is made of, in order. `kind` is that of its body, not of its lead-in.

    `says_nothing`: it only asks, thanks, greets, shows an image or leads in what does not follow, which answers nobody.
    """

    text: str
    kind: BlockKind
    units: tuple[TextUnit, ...]
    says_nothing: bool


def blocks_of(text: str) -> list[PassageBlock]:
    """Returns the blocks of a passage in its order. Headings within it lead in what follows them."""
    blocks: list[PassageBlock] = []
    held: list[list[TextUnit]] = []
    for group in _groups(text):
        if held and not _leads_into(held[-1], group):
            blocks.append(_block(text, held))
            held = []
        held.append(group)
    if held:
        blocks.append(_block(text, held))
    return blocks


def _groups(text: str) -> list[list[TextUnit]]:
    """Groups the units that stand together: sentences of a paragraph, items of a list, rows of a table, a fence."""
    groups: list[list[TextUnit]] = []
    for unit in split_units(text):
        if groups and _continues(text, groups[-1][-1], unit):
            groups[-1].append(unit)
        else:
            groups.append([unit])
    return groups


def _continues(text: str, last: TextUnit, unit: TextUnit) -> bool:
    if last.kind != unit.kind or unit.kind in ("fence", "heading"):
        return False
    apart = _BLANK.search(text[last.end : unit.start]) is not None
    return unit.kind == "item" or not apart


def _leads_into(group: Sequence[TextUnit], following: Sequence[TextUnit]) -> bool:
    """Tells whether a group introduces the one that follows it."""
    last = group[-1]
    if last.kind == "heading" or _LEADS_IN.search(last.text) or _is_question(last):
        return True
    if following[0].kind == "fence":
        return last.kind == "sentence"
    return following[0].kind == "row" and last.kind == "sentence" and len(group) == 1


def _is_question(unit: TextUnit) -> bool:
    return _ASKS.search(unit.text) is not None or _QUESTION_MARK.match(unit.text) is not None


def _says_nothing(unit: TextUnit) -> bool:
    return (
        unit.kind == "heading"
        or _is_question(unit)
        or _is_talk(unit)
        or _IMAGE.fullmatch(unit.text) is not None
        or (unit.kind == "sentence" and _LEADS_IN.search(unit.text) is not None)
    )


def _is_talk(unit: TextUnit) -> bool:
    short = unit.kind == "sentence" and len(unit.text) <= TALK_CHARACTERS
    return short and bool(talk_languages(_SPEAKER.sub("", unit.text)))


def _block(text: str, groups: Sequence[Sequence[TextUnit]]) -> PassageBlock:
    units = tuple(unit for group in groups for unit in group)
    kinds = {unit.kind for unit in groups[-1]}
    kind: BlockKind = "prose"
    if "row" in kinds:
        kind = "table"
    elif "item" in kinds:
        kind = "list"
    elif "fence" in kinds:
        kind = "code"
    elif all(_IMAGE.fullmatch(unit.text) for unit in units):
        kind = "image"
    return PassageBlock(
        text=text[units[0].start : units[-1].end],
        kind=kind,
        units=units,
        says_nothing=all(_says_nothing(unit) for unit in units),
    )
