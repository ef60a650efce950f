"""How a function becomes a command of `footnote eval`, with the options that every evaluation takes."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from bot.cli.evaluation.report import Report
from bot.cli.options import Common, command
from bot.cli.output import print_json, write_json

Language = Annotated[
    str | None,
    typer.Option(
        metavar="CODE",
        help="nl, de, ...: of the questions in --translations. en: the same cases as they are written.",
        show_default=False,
    ),
]
Translations = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Only the cases that have a question here in the --language, asked in it."
    ),
]
Record = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Send nothing; write the requests that have no reply, as a Message Batch."
    ),
]
Replay = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Send nothing; take the model's replies from here. Repeatable."),
]
Strangers = Annotated[
    list[Path] | None,
    typer.Option(
        help="A data set or a folder of Markdown that lends questions without an answer. Repeatable."
    ),
]
InThread = Annotated[
    Literal["reference", "own"],
    typer.Option(help="Whose answers stand in the thread: the data set's, or Footnote's with its citations."),
]


Evaluation = Callable[..., Coroutine[Any, Any, Report]]


def evaluation(
    app: typer.Typer, *, json: Literal["file", "printed"], data: bool = True, changes: bool = False
) -> Callable[[Evaluation], Evaluation]:
    """Makes a command of a function that returns a report, and shows the report; otherwise as `command`.

    Args:
        json: --json names a file that takes the figures, or prints them in the place of tables.
        data: the command works on a data folder.
        changes: it takes --set.
    """

    def register(function: Evaluation) -> Evaluation:
        @wraps(function)
        async def reported(common: Common, **given: Any) -> int:
            report = await function(common=common, **given)
            if common.as_json:
                print_json(report.figures)
            else:
                report.show()
            if common.out is not None:
                write_json(common.out, report.figures)
            return report.code

        command(app, json=json, data=data, changes=changes)(reported)
        return function

    return register
