"""What single commands of `footnote eval` take, where telling it needs some words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

AnswerFile = Annotated[Path | None, typer.Argument(help="The answer set; the sample handbook's without it.")]
Category = Annotated[str | None, typer.Option(metavar="LABEL", help="Only cases of this category.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only so many cases.", show_default=False)]
Translations = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Only the cases that have a question here in the --language, asked in it."
    ),
]
Language = Annotated[
    str | None,
    typer.Option(
        metavar="CODE",
        help="nl, de, ...: of the questions in --translations. en: the same cases as they are written.",
        show_default=False,
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
Least = Annotated[
    list[str] | None,
    typer.Option(metavar="FIGURE=SHARE", help="Exit with 1 below it: noticed=0.95. Repeatable."),
]
WeightsOut = Annotated[
    Path | None, typer.Option(metavar="OUT", help="With --fit: write the weights alone to this file.")
]
InThread = Annotated[
    Literal["reference", "own"],
    typer.Option(help="Whose answers stand in the thread: the data set's, or Footnote's with its citations."),
]
Compare = Annotated[
    Path | None, typer.Option(metavar="OTHER.json", help="Paired differences to an earlier --json.")
]
