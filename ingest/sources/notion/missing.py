"""Collects what Notion did not return of a page, for the report of the sync: the page is read without it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(kw_only=True, slots=True)
class Missing:
    """`blocks`: (why, kind of block) -> how many. `pages`: those named by id whose title is unknown. `formats`: whether
    the number formats of its columns are unknown. `cut`: whether it is longer or deeper than is read. `passing`:
    whether Notion may return more at the next sync.
    """

    blocks: Counter[tuple[str, str]] = field(default_factory=Counter)
    pages: int = 0
    columns: set[str] = field(default_factory=set)
    formats: bool = False
    cut: bool = False
    passing: bool = False

    def block(self, kind: str, status: int | None = None) -> None:
        """Counts a block. `status`: what Notion answered about its content; None: it hides the kind from all."""
        why = (
            "are not shared with the integration"
            if status in (403, 404)
            else "cannot be read through Notion's API"
        )
        self.blocks[why, kind] += 1

    def notes(self) -> tuple[str, ...]:
        notes = [
            f"parts of it are missing, since they {why}: "
            + ", ".join(f"{count} × {kind}" for (reason, kind), count in sorted(self.blocks.items()) if reason == why)
            for why in sorted({why for why, _ in self.blocks})
        ]  # fmt: skip
        if self.cut:
            notes.append("it is longer, or nested deeper, than is read: split it into pages")
        if self.pages:
            notes.append(
                f"{self.pages} pages that it links by their id are not named: share them with the integration"
            )
        if self.columns:
            notes.append(f"not all of these columns could be read: {', '.join(sorted(self.columns))}")
        if self.formats:
            notes.append(
                "its numbers are as Notion stores them (0.075 for 7.5%): how they are shown is not told"
            )
        return tuple(notes)
