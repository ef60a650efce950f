"""`footnote keys` and `footnote dead-letters`: what each command takes."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import Common, Config, Data, Json, Verbose, command, run

keys = typer.Typer(no_args_is_help=True, help="Keys of the HTTP API: who may ask, and what they are told.")
dead_letters = typer.Typer(
    invoke_without_command=True,
    help="Questions that could not be answered: lists them; `retry` and `drop` say what becomes of them.",
)

KeyName = Annotated[str, typer.Argument(help="What the key is called: a-z, 0-9 and -.")]
Ids = Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="As the list shows them.")]
All = Annotated[bool, typer.Option("--all", help="Every one of them.")]


@command(keys)
async def add(
    common: Common,
    name: KeyName,
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
) -> int:
    """Makes a key and shows it, once. Without an audience it reads what is for everyone."""
    from bot.cli.administration.keys import add
    from bot.cli.session.requests import AddKeyRequest

    request = AddKeyRequest(
        name=name,
        audience=tuple(audience or ()),
        sources=tuple(source or ()),
        per_minute=per_minute,
        expires_in_days=expires,
    )
    return await add(common.settings(), request, as_json=common.as_json)


@command(keys, "list")
async def list_keys(common: Common) -> int:
    """Shows the keys: what they may read, when they were used."""
    from bot.cli.administration.keys import list_keys

    return await list_keys(common.settings(), as_json=common.as_json)


@command(keys)
async def revoke(common: Common, name: KeyName) -> int:
    """Revokes a key: the next request with it is refused."""
    from bot.cli.administration.keys import revoke

    return await revoke(common.settings(), name, as_json=common.as_json)


@dead_letters.callback()
def list_dead_letters(
    context: typer.Context,
    json: Json = False,
    data: Data = None,
    config: Config = None,
    verbose: Verbose = False,
) -> None:
    """Lists the questions that could not be answered, and why: the newest first, no words of them."""
    if context.invoked_subcommand is not None:
        return
    from bot.cli.administration.dead_letters import show

    settings = Common(data=data, config=config, verbose=verbose).settings()
    run(show(settings, as_json=json))


@command(dead_letters)
async def retry(common: Common, ids: Ids = None, every: All = False) -> int:
    """Asks them again, however long ago they were asked. Exits with 1 where an ID is not a dead letter's."""
    from bot.cli.administration.dead_letters import retry

    return await retry(common.settings(), _wanted(ids, every), as_json=common.as_json)


@command(dead_letters)
async def drop(common: Common, ids: Ids = None, every: All = False) -> int:
    """Deletes them for good. Exits with 1 where an ID is not a dead letter's."""
    from bot.cli.administration.dead_letters import drop

    return await drop(common.settings(), _wanted(ids, every), as_json=common.as_json)


def _wanted(ids: list[str] | None, every: bool) -> tuple[str, ...] | None:
    """Returns the ids, or None for all.

    Raises:
        typer.BadParameter: both ids and `--all` were given, or neither.
    """
    if every is bool(ids):
        raise typer.BadParameter("name the questions by ID, or say --all")
    return None if every else tuple(ids or ())
