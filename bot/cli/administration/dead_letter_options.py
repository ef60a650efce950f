"""`footnote dead-letters`: what each command takes."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import Config, Data, Json, Verbose, run, settings_of

app = typer.Typer(
    invoke_without_command=True,
    help="Questions that could not be answered: lists them; `retry` and `drop` say what becomes of them.",
)

Ids = Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="As the list shows them.")]
All = Annotated[bool, typer.Option("--all", help="Every one of them.")]


@app.callback()
def dead_letters(
    context: typer.Context,
    json: Json = False,
    data: Data = None,
    config: Config = None,
    verbose: Verbose = False,
) -> None:
    """Lists the questions that could not be answered, and why: the newest first, no words of them."""
    if context.invoked_subcommand is not None:
        return
    from bot.cli.administration import dead_letter_commands as command

    run(command.show(settings_of(data, config, verbose), as_json=json))


@app.command()
def retry(
    ids: Ids = None,
    every: All = False,
    json: Json = False,
    data: Data = None,
    config: Config = None,
    verbose: Verbose = False,
) -> None:
    """Asks them again: they are answered however long ago they were asked. Exits with 1 where an ID is none of them."""
    from bot.cli.administration import dead_letter_commands as command

    run(command.retry(settings_of(data, config, verbose), _wanted(ids, every), as_json=json))


@app.command()
def drop(
    ids: Ids = None,
    every: All = False,
    json: Json = False,
    data: Data = None,
    config: Config = None,
    verbose: Verbose = False,
) -> None:
    """Deletes them for good. Exits with 1 where an ID is none of them."""
    from bot.cli.administration import dead_letter_commands as command

    run(command.drop(settings_of(data, config, verbose), _wanted(ids, every), as_json=json))


def _wanted(ids: list[str] | None, every: bool) -> tuple[str, ...] | None:
    """None: all."""
    if every is bool(ids):
        raise typer.BadParameter("name the questions by ID, or say --all")
    return None if every else tuple(ids or ())
