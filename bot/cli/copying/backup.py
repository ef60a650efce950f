"""`footnote backup FILE`: index, store and settings in one file, beside a running bot as well."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path

from bot.cli.backups.requests import BackupReply, BackupRequest
from bot.cli.backups.settings import without_secrets
from bot.cli.copying.progress import copy_bar
from bot.cli.output import print_json, say
from bot.cli.session.session import open_session
from kb.config.settings import Settings
from kb.errors import SettingsError, UnavailableError
from kb.index.copies import Step


async def backup(settings: Settings, file: Path, *, config: Path | None, replace: bool, as_json: bool) -> int:
    if file.exists() and not replace:
        raise SettingsError(f"{file} is there already: name another file, or --replace it")
    if not file.parent.is_dir():
        raise SettingsError(f"there is no folder {file.parent}")
    request = BackupRequest(
        file=file.absolute(), settings=without_secrets(config or Path("footnote.toml")) or ""
    )
    reply = await _backed_up(settings, request)
    if as_json:
        print_json(reply.model_dump(mode="json"))
    else:
        _show(reply)
    return 0


async def _backed_up(settings: Settings, request: BackupRequest) -> BackupReply:
    async with (
        open_session(settings, "backup") as session,
        aclosing(session.backup(request)) as steps,
    ):
        with copy_bar() as show:
            async for step in steps:
                if step.reply is not None:
                    return step.reply
                show(Step(generation=step.generation, phase="copying", done=step.done, total=step.total))
    raise UnavailableError("the owner of the data folder ended amid the backup; there is no file")


def _show(reply: BackupReply) -> None:
    say(
        f"{reply.file}: {reply.pages} pages, {reply.passages} passages, {reply.keys} keys of the store, "
        f"{reply.bytes / 1e6:.1f} MB"
    )
    say("It holds private pages and what people asked, and no secrets. Keep it where nobody else reads.")
