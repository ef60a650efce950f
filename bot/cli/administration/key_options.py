"""`footnote keys`: what each command takes."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import Config, Data, Json, Verbose, run, settings_of

app = typer.Typer(no_args_is_help=True, help="Keys of the HTTP API: who may ask, and what they are told.")

Name = Annotated[str, typer.Argument(help="What the key is called: a-z, 0-9 and -.")]


@app.command()
def add(
    name: Name,
    audience: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MARK",
            help=(
                "A channel or user group whose limited pages it reads as well: '#people-leads', "
                "C0123456, '@finance'. Repeatable."
            ),
        ),
    ] = None,
    source: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Is told from this source alone. Repeatable.")
    ] = None,
    per_minute: Annotated[int, typer.Option(help="Requests a minute.", min=1, max=100_000)] = 60,
    expires: Annotated[
        int | None,
        typer.Option(metavar="DAYS", help="Days until it expires; never without.", min=1, max=3650),
    ] = None,
    json: Json = False,
    data: Data = None,
    config: Config = None,
    verbose: Verbose = False,
) -> None:
    """Makes a key and shows it, once. Without an audience it reads what is for everyone."""
    from bot.cli.administration import key_commands as command
    from bot.cli.session.requests import AddKeyRequest

    request = AddKeyRequest(
        name=name,
        audience=tuple(audience or ()),
        sources=tuple(source or ()),
        per_minute=per_minute,
        expires_in_days=expires,
    )
    run(command.add(settings_of(data, config, verbose), request, as_json=json))


@app.command("list")
def list_keys(json: Json = False, data: Data = None, config: Config = None, verbose: Verbose = False) -> None:
    """Shows the keys: what they may read, when they were used."""
    from bot.cli.administration import key_commands as command

    run(command.list_keys(settings_of(data, config, verbose), as_json=json))


@app.command()
def revoke(
    name: Name, json: Json = False, data: Data = None, config: Config = None, verbose: Verbose = False
) -> None:
    """Takes a key back: the next request with it is refused."""
    from bot.cli.administration import key_commands as command
    from bot.cli.session.requests import RevokeKeyRequest

    run(command.revoke(settings_of(data, config, verbose), RevokeKeyRequest(name=name), as_json=json))
