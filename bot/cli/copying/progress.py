"""The progress bar of `backup`, `restore` and `migrate`."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from kb.index.copies import Step

_PHASES = {"copying": "Copying passages", "checking": "Comparing passages"}


class CopyBar:
    """A progress bar on stderr, so that `--json` stays clean."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=Console(stderr=True))
        self._task = self._progress.add_task("Copying passages", total=None)

    def show(self, step: Step) -> None:
        description = f"{_PHASES[step.phase]} ({step.generation})"
        self._progress.update(self._task, description=description, completed=step.done, total=step.total)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()
