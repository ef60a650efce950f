"""`footnote migrate`, `backup` and `restore`: what each command takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.options import Config, Data, Json, Verbose, run, settings_of

app = typer.Typer()


@app.command()
def migrate(
    to: Annotated[str, typer.Option(help="Address of a Qdrant server, or `embedded`: the data folder.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Take the place of an index that is there already.")
    ] = False,
    json: Json = False,
    data: Data = None,
    config: Config = None,
    verbose: Verbose = False,
) -> None:
    """Copies the index to a Qdrant server, or back; embeds nothing, compares all, goes on where it was cut off."""
    from bot.cli.copying import migrate as command

    run(command.migrate(settings_of(data, config, verbose), to, replace=replace, as_json=json))


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="Where to: handbook.footnote, say.")],
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite a file that is there.")] = False,
    json: Json = False,
    data: Data = None,
    config: Config = None,
    verbose: Verbose = False,
) -> None:
    """Writes index, store and settings (without secrets) into one file, beside a running bot as well."""
    from bot.cli.copying import backup as command

    settings = settings_of(data, config, verbose)
    run(command.backup(settings, file, config=config, replace=replace, as_json=json))


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="What `footnote backup` wrote.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Take the place of what is there: index, store and sources.")
    ] = False,
    json: Json = False,
    data: Data = None,
    config: Config = None,
    verbose: Verbose = False,
) -> None:
    """Puts a backup where the settings say that index and store are: all of it, or nothing."""
    from bot.cli.copying.restore import restore as command

    run(command(settings_of(data, config, verbose), file, replace=replace, as_json=json))
