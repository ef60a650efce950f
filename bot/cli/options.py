"""Options that several commands take, and how a command is started and ended."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from bot.cli.logs import start_logging
from kb.config.configuration import PREFIX, load_settings
from kb.config.settings import Settings

Data = Annotated[
    Path | None,
    typer.Option(
        "--data", help="Data folder of the knowledge base.", envvar="FOOTNOTE_DATA", show_default=".footnote"
    ),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", help="Settings file.", envvar="FOOTNOTE_CONFIG", show_default="footnote.toml"),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Log at debug level: shows message texts.")]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="A setting for this run: search.dense_weight=0.6. Repeatable."
    ),
]
Out = Annotated[Path | None, typer.Option("--json", metavar="OUT", help="Write everything to this file.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class Common:
    """The shared options as they were given. --json is `out`, a file, for some commands and `as_json` for others."""

    changes: list[str] | None = None
    data: Path | None = None
    config: Path | None = None
    verbose: bool = False
    out: Path | None = None
    as_json: bool = False

    def settings(self, more: Iterable[tuple[str, str]] = (), *, quiet: bool = True) -> Settings:
        """Starts logging and reads the settings. --set and then `more` ("search.keep", "8") override them.

        `quiet`: a command that prints its own result logs warnings only, and no traces to a person at a terminal.
        """
        level = logging.DEBUG if self.verbose else logging.WARNING if quiet else logging.INFO
        traces = self.verbose or not quiet
        start_logging(level=level, traces=traces)
        changed = {
            PREFIX + key.replace(".", "__").upper(): value for key, value in [*pairs_of(self.changes), *more]
        }
        settings = load_settings(environ={**os.environ, **changed}, file=self.config, data=self.data)
        if settings.telemetry.logs == "json":
            start_logging(level=level, traces=traces, as_json=True)
        return settings


Command = Callable[..., Coroutine[Any, Any, int]]


def command(
    app: typer.Typer,
    name: str | None = None,
    *,
    json: Literal["file", "printed"] | None = "printed",
    data: bool = True,
    changes: bool = False,
) -> Callable[[Command], Command]:
    """Makes a command of a function that returns the exit code. The function's parameters, `common` apart, are the
    command's own options.

    `json`: what --json does, None where there is none. `data`: the command works on a data folder. `changes`: it
    takes --set.
    """
    shared: dict[str, tuple[Any, Any]] = {
        "changes": (Changes, None),
        "json": (Out, None) if json == "file" else (Json, False),
        "data": (Data, None),
        "config": (Config, None),
        "verbose": (Verbose, False),
    }
    left_out = {name for name, wanted in (("data", data), ("changes", changes), ("json", json)) if not wanted}

    def register(function: Command) -> Command:
        own = inspect.signature(function, eval_str=True).parameters.values()
        parameters = [
            *(parameter for parameter in own if parameter.name != "common"),
            *(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
                for name, (kind, default) in shared.items()
                if name not in left_out
            ),
        ]

        def started(**given: Any) -> None:
            wanted = given.pop("json", None)
            common = Common(
                **{name: given.pop(name) for name in shared.keys() - {"json"} if name in given},
                out=wanted if json == "file" else None,
                as_json=wanted is True,
            )
            run(function(common=common, **given))

        started.__name__, started.__doc__ = function.__name__, function.__doc__
        started.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # what typer reads
        started.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        app.command(name)(started)
        return function

    return register


def run(work: Coroutine[Any, Any, int]) -> None:
    """Runs a command to its end and exits with its code, 130 on Ctrl+C."""
    try:
        code = asyncio.run(work)
    except KeyboardInterrupt:
        code = 130
    if code:
        raise typer.Exit(code)


def pairs_of(changes: list[str] | None) -> list[tuple[str, str]]:
    """Cuts `--set section.key=value` into keys and values."""
    pairs = []
    for change in changes or ():
        key, equals, value = change.partition("=")
        if not equals or "." not in key:
            raise typer.BadParameter(f"{change!r} is not of the form section.key=value", param_hint="--set")
        pairs.append((key.strip(), value.strip()))
    return pairs


def shares_of(floors: list[str] | None) -> dict[str, float]:
    """Reads `--least figure=share`, by figure."""
    shares = {}
    for floor in floors or ():
        name, _, share = floor.partition("=")
        try:
            shares[name.strip()] = float(share)
        except ValueError as error:
            raise typer.BadParameter(
                f"{floor!r} is not of the form figure=share", param_hint="--least"
            ) from error
    return shares
