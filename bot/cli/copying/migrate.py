"""`footnote migrate`: the index from the data folder to a Qdrant server, or back, without embedding anything again."""

from __future__ import annotations

import json
import uuid
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bot.cli.between_syncs import between_syncs
from bot.cli.checks.qdrant import server_version
from bot.cli.composition.storage import open_index, open_store
from bot.cli.copying.progress import copy_bar
from bot.cli.output import print_result, say
from kb.config.index_settings import IndexSettings
from kb.config.settings import Settings
from kb.errors import IndexUnavailableError, SettingsError
from kb.index.copies import copy_index
from kb.index.embedded.generations import write_atomically
from kb.index.server.calls import KeyRefusedError
from kb.store.data_folder import DataFolder

EMBEDDED = "embedded"


async def migrate(settings: Settings, to: str, *, replace: bool, as_json: bool) -> int:
    target_settings = _moved(settings, to)
    await _answers(settings if to == EMBEDDED else target_settings)
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(DataFolder(settings.data).own("migrate"))
        redis = await open_store(settings, folder, stack)
        source = open_index(settings, folder, stack)
        target = open_index(target_settings, folder, stack)
        label = _label(folder, settings, target_settings)
        here = await target.others([f"{label}:{name}" for name in ("live", "previous")])
        if here and not replace:
            raise SettingsError(
                f"{_place(target_settings, folder)} holds an index already ({', '.join(here)}); "
                "--replace puts the copy in its place"
            )
        with copy_bar() as show:
            copied = await between_syncs(redis, settings, copy_index(source, target, label=label, tell=show))
        _journal(folder).unlink(missing_ok=True)
    url = target_settings.index.qdrant_url
    report = {
        "from": _place(settings, folder),
        "to": _place(target_settings, folder),
        "generations": [asdict(generation) for generation in copied],
        "set": {"QDRANT_URL": url} if url else {},
        "unset": [] if url else ["QDRANT_URL"],
    }
    print_result(report, _show, as_json=as_json)
    return 0


def _moved(settings: Settings, to: str) -> Settings:
    """Returns the settings with which the index is found where it goes.

    Raises:
        SettingsError: it is there already, or the address is not one.
    """
    fields = dict(settings.index)
    if to == EMBEDDED:
        if settings.index.qdrant_url is None:
            raise SettingsError("the index is in the data folder already: name a Qdrant server with --to")
        fields |= {"qdrant_url": None, "ca_file": None, "client_cert": None, "client_key": None}
    elif settings.index.qdrant_url is not None:
        raise SettingsError(
            f"the index is on a Qdrant server already ({settings.index.qdrant_url}): --to {EMBEDDED} brings it back, "
            "and without QDRANT_URL the one in the data folder is moved"
        )
    elif not to.startswith(("http://", "https://")):
        raise SettingsError(f"--to takes http(s)://HOST:PORT or {EMBEDDED}, not {to!r}")
    else:
        fields |= {"qdrant_url": to}
    try:
        return settings.model_copy(update={"index": IndexSettings.model_validate(fields)})
    except ValidationError as error:
        raise SettingsError(
            "; ".join(problem["msg"] for problem in error.errors(include_input=False))
        ) from None


async def _answers(served: Settings) -> None:
    """Asks the server once: only work that has begun waits for a server to come back.

    Raises:
        IndexUnavailableError: it does not answer.
    """
    try:
        await server_version(served.index, for_s=0)
    except KeyRefusedError:
        raise
    except IndexUnavailableError as error:
        raise IndexUnavailableError(
            f"nothing was copied: no Qdrant server answers at {served.index.qdrant_url} ({error}); "
            "start it, or correct its address, then run the command again"
        ) from error


def _label(folder: DataFolder, settings: Settings, target: Settings) -> str:
    """Returns the label of this move; an interrupted run between the same places had the same."""
    way = {"from": _place(settings, folder), "to": _place(target, folder)}
    journal = _journal(folder)
    try:
        begun = json.loads(journal.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        begun = {}
    if begun.get("way") == way and isinstance(begun.get("label"), str):
        return str(begun["label"])
    label = uuid.uuid4().hex
    write_atomically(journal, json.dumps({"label": label, "way": way}))
    return label


def _journal(folder: DataFolder) -> Path:
    return folder.path / "migration.json"


def _place(settings: Settings, folder: DataFolder) -> str:
    index = settings.index
    return f"{index.qdrant_url} ({index.collection})" if index.qdrant_url else str(folder.index)


def _show(report: dict[str, Any]) -> None:
    for copied in report["generations"]:
        earlier = copied["of"] - copied["written"]
        before = f", {earlier} of them by an earlier run" if earlier else ""
        say(
            f"Copied and compared: {copied['generation']}, {copied['pages']} pages, {copied['of']} passages{before}"
        )
    if url := report["set"].get("QDRANT_URL"):
        say(f"Set QDRANT_URL={url} (in footnote.toml: index.qdrant_url) and start the bot.")
    else:
        say("Unset QDRANT_URL (in footnote.toml: index.qdrant_url) and start the bot.")
    say(f"Nothing was deleted: {report['from']} has the old index until you remove it.")
