"""The progress bar of `backup`, `restore` and `migrate`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bot.cli.output import progress_bar
from kb.index.copies import OnStep, Step

_PHASES = {"copying": "Copying passages", "checking": "Comparing passages"}


@contextmanager
def copy_bar() -> Iterator[OnStep]:
    """Yields what shows a step on the bar."""
    with progress_bar() as bar:
        task = bar.add_task("Copying passages", total=None)

        def show(step: Step) -> None:
            description = f"{_PHASES[step.phase]} ({step.generation})"
            bar.update(task, description=description, completed=step.done, total=step.total)

        yield show
