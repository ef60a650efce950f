"""What every parser makes of a file: a title and sections of blocks, under their heading paths."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ingest.front_matter.front_matter import FrontMatter

BlockKind = Literal["prose", "list", "table", "code"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A piece of a section that is kept whole while it fits.

    Where it does not fit it may be cut between `parts` (list items, table rows, lines of
    code); each piece then starts with `lead` (a list's intro line, a table's header row,
    a fence's first line) and ends with `tail` (the fence's last). Prose has one part.
    """

    kind: BlockKind
    parts: tuple[str, ...]
    lead: str = ""
    tail: str = ""

    @property
    def text(self) -> str:
        return self.joined(self.parts)

    def joined(self, parts: tuple[str, ...]) -> str:
        """Some of the parts as text that stands alone. Empty lines matter in code alone."""
        body = "\n".join(part for part in parts if part or self.kind == "code").strip("\n")
        return "\n".join(piece for piece in (self.lead, body, self.tail) if piece)


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """`path`: headings from the outermost to this section's own, without the page title. `anchor`: its URL fragment."""

    path: tuple[str, ...]
    anchor: str | None
    blocks: tuple[Block, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedPage:
    title: str
    sections: tuple[Section, ...]
    front: FrontMatter = field(default_factory=FrontMatter)

    def as_markdown(self) -> str:
        """What would be indexed, as one text: each heading once, where its first section stands."""
        lines = [f"# {self.title}"]
        before: tuple[str, ...] = ()
        for section in self.sections:
            shared = 0
            while shared < min(len(before), len(section.path)) and before[shared] == section.path[shared]:
                shared += 1
            lines += [
                f"{'#' * min(depth + 2, 6)} {section.path[depth]}"
                for depth in range(shared, len(section.path))
            ]
            lines += [block.text for block in section.blocks]
            before = section.path
        return "\n\n".join(lines)
