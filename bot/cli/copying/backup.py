"""`footnote backup FILE`: index, store and settings in one file, beside a running bot as well."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from bot.cli.as_json import print_json
from bot.cli.copying.backup_settings import without_secrets
from bot.cli.open import open_session
from bot.cli.session import BackupReply, BackupRequest
from kb.config.settings import Settings
from kb.errors import SettingsError


async def backup(settings: Settings, file: Path, *, config: Path | None, replace: bool, as_json: bool) -> int:
    if file.exists() and not replace:
        raise SettingsError(f"{file} is there already: name another file, or --replace it")
    if not file.parent.is_dir():
        raise SettingsError(f"there is no folder {file.parent}")
    request = BackupRequest(
        file=file.absolute(), settings=without_secrets(config or Path("footnote.toml")) or ""
    )
    async with open_session(settings, "backup", models=False) as session:
        reply = await session.backup(request)
    if as_json:
        print_json(reply.model_dump(mode="json"))
    else:
        _show(reply)
    return 0


def _show(reply: BackupReply) -> None:
    console = Console()

    def say(line: str) -> None:
        console.print(line, highlight=False, markup=False, soft_wrap=True)

    say(
        f"{reply.file}: {reply.pages} pages, {reply.passages} passages, {reply.keys} keys of the store, "
        f"{reply.bytes / 1e6:.1f} MB"
    )
    say("It holds private pages and what people asked, and no secrets. Keep it where nobody else reads.")
