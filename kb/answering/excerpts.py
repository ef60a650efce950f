"""Cuts an excerpt out of a passage: its nearest block with what fits around it, or the best part of a long block."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kb.answering.blocks import PassageBlock, blocks_of
from kb.models import Chunk
from kb.text.sentences import TextUnit

WHOLE_BLOCKS = 2.2
"""Share of a quote's size up to which a single block is shown whole; a longer one loses rows, items or sentences."""

CLEAR_LEAD = 0.1
"""By how much the nearest unit must lead the others of its block to be called the best. Where a quote has what is asked
for, the nearest unit holds it in 70% of cases; in 83% of those with this lead. See docs/measurements/evaluation.md."""

_SET_APART = frozenset({"sentence", "item", "quote"})
"""Kinds of units that can be set in bold."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Excerpt:
    """Blocks of a passage that are shown. `shown` and `total` as in `kb.answer.Quote`.

    `statement`: the unit that comes nearest; `best`: the same where it can be set apart, "" for a row or for code;
    `is_clear`: it leads the others of its block by `CLEAR_LEAD`.
    """

    chunk: Chunk
    blocks: tuple[str, ...]
    statement: str = ""
    best: str = ""
    is_clear: bool = True
    shown: int = 0
    total: int = 0

    @property
    def text(self) -> str:
        return "\n\n".join(self.blocks)

    @property
    def has_parts(self) -> bool:
        """Whether it holds a list or a table, of which the section may hold more."""
        return any(_parts(block) for block in blocks_of(self.text))


@dataclass(frozen=True, kw_only=True)
class RatedPassage:
    """A passage that may be quoted. `found`: its score in the search; `worth`: how near the question each unit is.

    `lead`: the bonus of a page's lead (`kb.answering.quoting.LEAD_WEIGHT`). `read_as`: the text by which that is told,
    the unit in its context.
    """

    chunk: Chunk
    blocks: Sequence[PassageBlock]
    read_as: dict[TextUnit, str]
    found: float
    lead: float
    worth: dict[TextUnit, float]

    @property
    def score(self) -> float:
        return self.found + self.lead + self._worth_of(self.blocks[self._best])

    @property
    def _best(self) -> int:
        telling = [index for index, block in enumerate(self.blocks) if not block.says_nothing]
        return max(telling, key=lambda index: (self._worth_of(self.blocks[index]), -index))

    def _worth_of(self, block: PassageBlock) -> float:
        return max(self.worth[unit] for unit in block.units)

    def excerpt(self, characters: int) -> Excerpt:
        """Returns the nearest block and whole blocks around it while they fit, those behind it first."""
        best = self._best
        first = last = best
        room = characters - len(self.blocks[best].text)
        while True:
            beside = [
                index
                for index in (last + 1, first - 1)
                if 0 <= index < len(self.blocks) and len(self.blocks[index].text) <= room
            ]
            if not beside:
                break
            room -= len(self.blocks[beside[0]].text)
            first, last = min(first, beside[0]), max(last, beside[0])
        shown = [block for block in self.blocks[first : last + 1] if block.kind != "image"]
        if len(shown) == 1:
            excerpt = _whole_or_cut(self.chunk, shown[0], characters, lambda unit: self.worth[unit])
        else:
            excerpt = Excerpt(chunk=self.chunk, blocks=tuple(block.text for block in shown))
        nearest = self._nearest_unit(self.blocks[best])
        alone = len(shown) == 1 and len(_units_to_set_apart(shown[0])) < 2
        apart = nearest is not None and nearest.kind in _SET_APART and not alone
        return replace(
            excerpt,
            statement=nearest.text if nearest else "",
            best=nearest.text if nearest and apart and nearest.text in excerpt.text else "",
            is_clear=nearest is not None and self._leads_clearly(nearest, self.blocks[best]),
        )

    def _leads_clearly(self, nearest: TextUnit, block: PassageBlock) -> bool:
        others = (self.worth[unit] for unit in block.units if unit is not nearest and unit.kind in _SET_APART)
        return self.worth[nearest] - max(others, default=-math.inf) >= CLEAR_LEAD

    def _nearest_unit(self, block: PassageBlock) -> TextUnit | None:
        units = _units_to_set_apart(block)
        return max(units, key=lambda unit: self.worth[unit], default=None)


def block_excerpt(chunk: Chunk, statement: str, characters: int) -> Excerpt:
    """Cuts out the block of a passage that holds `statement`, cut to `characters` where it is far too long."""
    blocks = blocks_of(chunk.text)
    block = next((block for block in blocks if statement in block.text), blocks[0])
    apart = any(unit.text == statement and unit.kind in _SET_APART for unit in block.units)
    excerpt = _whole_or_cut(chunk, block, characters, lambda unit: unit.text == statement)
    return replace(excerpt, statement=statement, best=statement if apart else "")


def counted(excerpt: Excerpt, section: str) -> Excerpt:
    """Counts the shown rows or items among all of the section's table or list, of which a passage may hold a part."""
    for block in blocks_of(section):
        if excerpt.statement and excerpt.statement in block.text:
            parts, quoted = _parts(block), _flat(excerpt.text)
            shown = sum(_flat(part.text) in quoted for part in parts)
            return replace(excerpt, shown=shown, total=len(parts)) if 0 < shown < len(parts) else excerpt
    return excerpt


def _flat(text: str) -> str:
    return " ".join(text.split())


def _parts(block: PassageBlock) -> list[TextUnit]:
    """Returns the rows or items of a block; the header row is no row of the table to a reader."""
    body = {"table": "row", "list": "item"}.get(block.kind)
    parts = [unit for unit in block.units if unit.kind == body]
    return parts[1:] if block.kind == "table" else parts


def _units_to_set_apart(block: PassageBlock) -> list[TextUnit]:
    return [unit for unit in block.units if unit.kind != "heading" and not _leads(unit, block)]


def _leads(unit: TextUnit, block: PassageBlock) -> bool:
    """Tells whether a unit only leads in its block: a line that ends with a colon, a question, a table's header."""
    if unit is block.units[-1]:
        return False
    if unit.kind == "row":
        return unit is next(row for row in block.units if row.kind == "row")
    return unit.text.rstrip("*_ ").endswith((":", "?", "：", "？", "؟"))


def _whole_or_cut(
    chunk: Chunk, block: PassageBlock, limit: int, worth: Callable[[TextUnit], float]
) -> Excerpt:
    """Returns the whole block, or its most relevant part where it is far too long."""
    if len(block.text) <= WHOLE_BLOCKS * limit:
        return Excerpt(chunk=chunk, blocks=(block.text,))
    parts = _parts(block)
    if len(parts) < 2:
        return Excerpt(chunk=chunk, blocks=(_first_lines(block.text, limit),))
    head = block.text[: parts[0].start - block.units[0].start].rstrip()
    kept = (_worthiest if block.kind == "table" else _window)(parts, limit - len(head), worth)
    # An item whose number is not 1 opens no list right below a line of text.
    gap = "\n" if block.kind == "table" else "\n\n"
    text = gap.join([*([head] if head else []), "\n".join(unit.text for unit in kept)])
    return Excerpt(chunk=chunk, blocks=(text,), shown=len(kept), total=len(parts))


def _worthiest(rows: Sequence[TextUnit], room: int, worth: Callable[[TextUnit], float]) -> list[TextUnit]:
    """Returns the most relevant rows, in their order."""
    kept: set[int] = set()
    for index in sorted(range(len(rows)), key=lambda index: (-worth(rows[index]), index)):
        room -= len(rows[index].text) + 1
        if room < 0 and kept:
            break
        kept.add(index)
    return [rows[index] for index in sorted(kept)]


def _window(items: Sequence[TextUnit], room: int, worth: Callable[[TextUnit], float]) -> list[TextUnit]:
    """Returns the items around the most relevant one, since steps only make sense in sequence."""
    first = last = max(range(len(items)), key=lambda index: (worth(items[index]), -index))
    room -= len(items[first].text)
    while room > 0:
        if last + 1 < len(items) and len(items[last + 1].text) < room:
            last += 1
            room -= len(items[last].text) + 1
        elif first > 0 and len(items[first - 1].text) < room:
            first -= 1
            room -= len(items[first].text) + 1
        else:
            break
    return list(items[first : last + 1])


def _first_lines(text: str, limit: int) -> str:
    """Returns the first lines of code or of one long paragraph that fit, with the fence closed and the cut shown."""
    cut = text[:limit]
    fenced = sum(line.lstrip().startswith("```") for line in cut.split("\n")) % 2 == 1
    if fenced:
        return "\n".join((*cut.split("\n")[:-1], "…", "```"))
    return f"{cut.rsplit(maxsplit=1)[0]} …"
