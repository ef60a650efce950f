"""A parsed page: a title and sections of blocks, under their heading paths."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal

from ingest.front_matter.front_matter import FrontMatter

BlockKind = Literal["prose", "list", "table", "code"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A piece of a section that is kept whole while it fits.

    Where it does not fit it may be cut between `parts` (list items, table rows, lines of code). Each piece then starts
    with `lead` (a list's intro line, a table's header row, a fence's first line) and ends with `tail` (the fence's
    last line). Prose has one part.
    """

    kind: BlockKind
    parts: tuple[str, ...]
    lead: str = ""
    tail: str = ""

    @property
    def text(self) -> str:
        return self.joined(self.parts)

    def joined(self, parts: tuple[str, ...]) -> str:
        """Joins some of the parts to a text that stands alone. Empty lines matter in code only."""
        body = "\n".join(part for part in parts if part or self.kind == "code").strip("\n")
        return "\n".join(piece for piece in (self.lead, body, self.tail) if piece)


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A section's text.

    `path`: headings from the outermost to this section's own, without the page title. `anchor`: its URL fragment.
    """

    path: tuple[str, ...]
    anchor: str | None
    blocks: tuple[Block, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedPage:
    title: str
    sections: tuple[Section, ...]
    front: FrontMatter = field(default_factory=FrontMatter)

    def as_markdown(self) -> str:
        """Writes the text that is indexed: each heading once, above its first section."""
        lines = [f"# {self.title}"]
        before: tuple[str, ...] = ()
        for section in self.sections:
            pairs = zip(before, section.path, strict=False)
            shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            headings = section.path[shared:]
            lines += [
                f"{'#' * min(depth, 6)} {heading}" for depth, heading in enumerate(headings, shared + 2)
            ]
            lines += [block.text for block in section.blocks]
            before = section.path
        return "\n\n".join(lines)
