"""How commands print: JSON for programs, lines and a progress bar for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

UNBOUNDED = 10_000
"""Columns where a program reads: nothing is cut off or wrapped."""

_T = TypeVar("_T")


def print_result(result: _T, show: Callable[[_T], None], *, as_json: bool) -> None:
    """Prints a result as JSON, or has `show` print it for a person."""
    if as_json:
        print_json(result)
    else:
        show(result)


def print_json(value: object) -> None:
    """Prints to stdout. What JSON has no form for (a time, a path) is written as text."""
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2, default=str)
    sys.stdout.write("\n")


def write_json(file: Path, value: object) -> None:
    file.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def say(line: str, *, style: str | None = None) -> None:
    """Prints a line as it is: pages and people wrote some of it, so nothing in it is markup."""
    Console().print(line, highlight=False, markup=False, soft_wrap=True, style=style)


def say_rest(number: int, shown: int, *, start: str = "and") -> None:
    """Counts what a list of `number` things left out after the first `shown`."""
    if number > shown:
        say(f"{start} {number - shown} more; --json lists them all")


def print_table(table: Table) -> None:
    """Prints a table whose words are not markup. In a file or a pipe it is as wide as its cells."""
    width = None if sys.stdout.isatty() else UNBOUNDED
    Console(width=width).print(table, highlight=False, markup=False)


def progress_bar() -> Progress:
    """Makes a progress bar on stderr, so that `--json` stays clean."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True))
