"""What of a passage can be quoted on its own: a sentence, or a whole list, table or fence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kb.text.sentences import TextUnit, split_units

LIST_ITEMS = 14
"""A list up to this long is quoted whole: half of a procedure is worse than none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Quotable:
    """A piece of a passage that can be quoted on its own: one sentence, or a whole list, table or fence.

    `parts` are the units it is made of; a list's introducing sentence is one of them. `passage` and `order` say where
    it stands: the index of the passage among the evidence and the position within it.
    """

    passage: int
    order: int
    parts: tuple[TextUnit, ...]
    score: float = 0.0
    part_scores: tuple[float, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts)


def quotables_of(passage: int, text: str) -> list[Quotable]:
    """What of a passage can be quoted: sentences one by one; lists, tables and fences whole while they are short."""
    units = [unit for unit in split_units(text) if unit.kind != "heading"]
    pieces: list[list[TextUnit]] = []
    for unit in units:
        if pieces and _continues(pieces[-1], unit):
            pieces[-1].append(unit)
        else:
            pieces.append([unit])
    return [
        Quotable(passage=passage, order=order, parts=part)
        for order, part in enumerate(short for piece in pieces for short in _shortened(piece))
    ]


def _continues(piece: Sequence[TextUnit], unit: TextUnit) -> bool:
    last = piece[-1]
    if unit.kind == "item":
        return last.kind == "item" or last.text.rstrip().endswith(":")
    if unit.kind == "row":
        return last.kind == "row"
    return unit.kind == "fence" and last.text.rstrip().endswith(":")


def _shortened(piece: Sequence[TextUnit]) -> list[tuple[TextUnit, ...]]:
    """The piece whole, or, where a list is too long to quote whole, its items one by one."""
    items = [unit for unit in piece if unit.kind == "item"]
    if len(items) <= LIST_ITEMS:
        return [tuple(piece)]
    intro = tuple(unit for unit in piece if unit.kind != "item")
    return [*([intro] if intro else []), *((item,) for item in items)]
