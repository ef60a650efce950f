"""Options of `footnote eval`: those that every evaluation takes, and those of single ones that need some words."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from bot.cli.options import Changes, Config, Data, Json, Out, Verbose, pairs_of, run, settings_of
from kb.config.settings import Settings

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Common:
    """The shared options as they were given. --json is `out`, a file, for some evaluations and `as_json` for others."""

    changes: list[str] | None
    data: Path | None
    config: Path | None
    verbose: bool
    out: Path | None = None
    as_json: bool = False

    def settings(self, more: Iterable[tuple[str, str]] = ()) -> Settings:
        """Reads the settings; --set and then `more`, names with values, override them."""
        return settings_of(self.data, self.config, self.verbose, changes=[*pairs_of(self.changes), *more])


Evaluation = Callable[..., Coroutine[Any, Any, int]]


def evaluation(
    app: typer.Typer, *, json: Literal["file", "printed"], data: bool = True, changes: bool = False
) -> Callable[[Evaluation], Evaluation]:
    """Makes a command of a function. The function's parameters, `common` apart, are the command's own options.

    `data`: the command works on a data folder. `changes`: it takes --set.
    """
    shared: dict[str, tuple[Any, Any]] = {
        "changes": (Changes, None),
        "json": (Out, None) if json == "file" else (Json, False),
        "data": (Data, None),
        "config": (Config, None),
        "verbose": (Verbose, False),
    }
    left_out = {name for name, wanted in (("data", data), ("changes", changes)) if not wanted}

    def register(function: Evaluation) -> Evaluation:
        own = inspect.signature(function, eval_str=True).parameters.values()
        parameters = [
            *(one for one in own if one.name != "common"),
            *(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
                for name, (kind, default) in shared.items()
                if name not in left_out
            ),
        ]

        def command(**given: Any) -> None:
            wanted = given.pop("json")
            common = Common(
                changes=given.pop("changes", None),
                data=given.pop("data", None),
                config=given.pop("config"),
                verbose=given.pop("verbose"),
                out=wanted if json == "file" else None,
                as_json=wanted is True,
            )
            run(function(common=common, **given))

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # what typer reads
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        app.command()(command)
        return function

    return register
