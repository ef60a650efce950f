"""`footnote keys add`, `list` and `revoke`. What they take is in `bot.cli.administration.commands`."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from bot.cli.output import print_json, print_result, print_table, say
from bot.cli.session.requests import AddKeyRequest
from bot.cli.session.session import open_session
from kb.config.settings import Settings


async def add(settings: Settings, request: AddKeyRequest, *, as_json: bool) -> int:
    async with open_session(settings, "keys") as session:
        key = await session.add_key(request)
    if as_json:
        print_json(key)
        return 0
    say(key["key"])
    Console(stderr=True).print(
        f"This is shown once: keep it now. It reads {_reads(key)}, {key['per_minute']} requests a minute.",
        highlight=False,
        markup=False,
    )
    return 0


async def list_keys(settings: Settings, *, as_json: bool) -> int:
    async with open_session(settings, "keys") as session:
        keys = await session.keys()
    print_result(keys, _show, as_json=as_json)
    return 0


def _show(keys: list[dict[str, Any]]) -> None:
    if not keys:
        say("There is no key: `footnote keys add NAME` makes one.")
        return
    table = Table("name", "key", "reads", "a minute", "made", "last used", "expires", box=None)
    for key in keys:
        days = (key["created_at"], key["last_used"], key["expires_at"])
        made, used, expires = (day[:10] if day else "never" for day in days)
        table.add_row(
            key["name"], f"{key['prefix']}…", _reads(key), str(key["per_minute"]), made, used, expires
        )
    print_table(table)


async def revoke(settings: Settings, name: str, *, as_json: bool) -> int:
    async with open_session(settings, "keys") as session:
        revoked = await session.revoke_key(name=name)
    sentence = f"{name} is revoked." if revoked else f"There is no key {name!r}."
    print_result({"name": name, "revoked": revoked}, lambda _: say(sentence), as_json=as_json)
    return 0 if revoked else 1


def _reads(key: dict[str, Any]) -> str:
    limited = f", and what is for {', '.join(key['audience'])}" if key["audience"] else ""
    sources = f"; of {', '.join(key['sources'])} alone" if key["sources"] else ""
    return f"what is for everyone{limited}{sources}"
