"""`footnote keys add`, `list` and `revoke`. What they take is in `bot.cli.administration.key_options`."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from bot.cli.as_json import print_json
from bot.cli.session.opening import open_session
from bot.cli.session.requests import AddKeyRequest, RevokeKeyRequest
from kb.config.settings import Settings


async def add(settings: Settings, request: AddKeyRequest, *, as_json: bool) -> int:
    async with open_session(settings, "keys", models=False) as session:
        key = await session.add_key(request)
    if as_json:
        print_json(key)
        return 0
    console = Console()
    console.print(key["key"], highlight=False, markup=False, soft_wrap=True)
    Console(stderr=True).print(
        f"This is shown once: keep it now. It reads {_reads(key)}, {key['per_minute']} requests a minute.",
        highlight=False,
        markup=False,
    )
    return 0


async def list_keys(settings: Settings, *, as_json: bool) -> int:
    async with open_session(settings, "keys", models=False) as session:
        keys = await session.keys()
    if as_json:
        print_json(keys)
        return 0
    console = Console()
    if not keys:
        console.print("There is no key: `footnote keys add NAME` makes one.", highlight=False)
        return 0
    table = Table("name", "key", "reads", "a minute", "made", "last used", "expires", box=None)
    for key in keys:
        days = (key["created_at"], key["last_used"], key["expires_at"])
        made, used, expires = (day[:10] if day else "never" for day in days)
        table.add_row(
            key["name"], f"{key['prefix']}…", _reads(key), str(key["per_minute"]), made, used, expires
        )
    console.print(table, highlight=False, markup=False)
    return 0


async def revoke(settings: Settings, request: RevokeKeyRequest, *, as_json: bool) -> int:
    async with open_session(settings, "keys", models=False) as session:
        revoked = await session.revoke_key(request)
    if as_json:
        print_json({"name": request.name, "revoked": revoked})
    else:
        sentence = f"{request.name} is revoked." if revoked else f"There is no key {request.name!r}."
        Console().print(sentence, highlight=False, markup=False)
    return 0 if revoked else 1


def _reads(key: dict[str, Any]) -> str:
    limited = f", and what is for {', '.join(key['audience'])}" if key["audience"] else ""
    sources = f"; of {', '.join(key['sources'])} alone" if key["sources"] else ""
    return f"what is for everyone{limited}{sources}"
