"""What an evaluation hands back, and how every one of them is shown: as tables and lines, or as JSON."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from rich import box, progress
from rich.console import Console
from rich.table import Table

from bot.cli.output import progress_bar, say

_Item = TypeVar("_Item")


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """`figures`: everything, for programs. `shown`: what a terminal shows of it, tables and lines in their order."""

    figures: Any
    shown: Sequence[Table | str]
    code: int = 0
    """The exit code: 1 where a case fails or a target is missed."""

    def show(self) -> None:
        for part in self.shown:
            if isinstance(part, Table):
                Console().print(part)
            else:
                say(part)


def table(*columns: str, title: str | None = None, caption: str | None = None) -> Table:
    return Table(*columns, title=title, caption=caption, box=box.SIMPLE_HEAD)


def track(items: Sequence[_Item], text: str) -> Iterable[_Item]:
    """Yields the items and shows on stderr how many there were."""
    return progress.track(items, text, console=Console(stderr=True))


async def tracked(items: AsyncIterable[_Item], text: str, *, total: int) -> AsyncIterator[_Item]:
    """Yields the items, of which there will be `total`, and shows on stderr how many there were."""
    with progress_bar() as bar:
        task = bar.add_task(text, total=total)
        async for item in items:
            yield item
            bar.advance(task)
