"""Options that several commands take, and how a command is started and ended."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Annotated, Any

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


def settings_of(
    data: Path | None,
    config: Path | None,
    verbose: bool,
    *,
    quiet: bool = True,
    changes: Sequence[tuple[str, str]] = (),
) -> Settings:
    """Starts logging and reads the settings; `changes` ("search.keep", "8") override file and environment.

    `quiet`: a command that prints its own result logs warnings only, and no traces to a person at a terminal.
    """
    level = logging.DEBUG if verbose else logging.WARNING if quiet else logging.INFO
    start_logging(level=level, traces=verbose or not quiet)
    changed = {PREFIX + key.replace(".", "__").upper(): value for key, value in changes}
    settings = load_settings(environ={**os.environ, **changed}, file=config, data=data)
    if settings.telemetry.logs == "json":
        start_logging(level=level, traces=verbose or not quiet, as_json=True)
    return settings


def run(command: Coroutine[Any, Any, int]) -> None:
    try:
        code = asyncio.run(command)
    except KeyboardInterrupt:
        code = 130
    if code:
        raise typer.Exit(code)


def pairs_of(changes: list[str] | None) -> list[tuple[str, str]]:
    """`--set section.key=value`, each as key and value."""
    pairs = []
    for change in changes or ():
        key, equals, value = change.partition("=")
        if not equals or "." not in key:
            raise typer.BadParameter(f"{change!r} is not of the form section.key=value", param_hint="--set")
        pairs.append((key.strip(), value.strip()))
    return pairs


def shares_of(floors: list[str] | None) -> dict[str, float]:
    """`--least figure=share`, by figure."""
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
