"""`footnote restore FILE`: a backup becomes the index, the store and the data folder, whole or not at all.

Everything is made ready beside what there is and compared. Then it changes over: the index on a server by
its alias, a Redis by one transaction, the data folder by one rename. Before these nothing has changed; a run
that is killed between them is completed by running it again (the folder's own part completes by itself).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from bot.cli.backups.archive import BackupReader
from bot.cli.backups.generations import generations_of
from bot.cli.backups.store import drop_staged, forgotten_in, holds_keys, put_to_use, stage
from bot.cli.backups.writing import HISTORY, SETTINGS
from bot.cli.between_syncs import between_syncs
from bot.cli.composition.sources import UPLOADS
from bot.cli.composition.storage import open_index, open_store
from bot.cli.copying.progress import copy_bar
from bot.cli.output import print_result, say
from kb.config.settings import Settings
from kb.errors import SettingsError, StoreUnavailableError
from kb.index.copies import OnStep, copy
from kb.index.embedded.generations import Generations
from kb.index.port import Copy, VectorIndex
from kb.store.data_folder import DataFolder
from kb.store.forgotten import RedisForgotten
from kb.store.restored import begin, decide

RESTORED_SETTINGS = "restored-footnote.toml"
_PLACED = ("sources.json", UPLOADS, HISTORY, RESTORED_SETTINGS)
_OUTDATED = ("sources", "migration.json")
"""What sources remember of their last visits belongs to the old index: kept, it would make them skip what changed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Here:
    """What the target holds now. `unread`: why its forgotten pages are unknown, "" where they are known."""

    places: tuple[str, ...]
    forgotten: frozenset[str]
    unread: str = ""


async def restore(settings: Settings, file: Path, *, replace: bool, as_json: bool) -> int:
    reader = await asyncio.to_thread(BackupReader, file)
    try:
        with DataFolder(settings.data).own("restore") as folder:
            here = await _here(settings, folder, reader)
            if here.places and not replace:
                raise SettingsError(
                    f"{' and '.join(here.places)} hold something already: --replace puts the backup in its place"
                )
            with copy_bar() as show:
                forgotten = await _restored(settings, folder, reader, here, show)
    finally:
        reader.close()
    manifest = reader.manifest
    restored = folder.path / RESTORED_SETTINGS
    report = {
        "made_at": manifest.made_at,
        "footnote": manifest.footnote,
        "generations": [{"name": part.name, "pages": part.pages} for part in manifest.generations],
        "keys": manifest.keys,
        "forgotten": len(forgotten),
        "forgotten_unread": here.unread or None,
        "settings": str(restored) if restored.exists() else None,
    }
    print_result(report, _show, as_json=as_json)
    return 0


async def _here(settings: Settings, folder: DataFolder, reader: BackupReader) -> _Here:
    places, forgotten, unread = [], frozenset[str](), ""
    async with AsyncExitStack() as stack:
        index = open_index(settings, folder, stack)
        if settings.index.qdrant_url is None:
            filled = bool(Generations(folder.index).numbers()) or (folder.index / "CURRENT").exists()
            places += [str(folder.index)] if filled else []
        elif await index.others(_labels(reader)):
            places.append(f"{settings.index.qdrant_url} ({settings.index.collection})")
        try:
            redis = await _store_as_it_is(settings, folder, stack)
            if redis is not None:
                forgotten = await RedisForgotten(redis, namespace=settings.store.namespace).ids()
                if await holds_keys(redis, settings.store.namespace):
                    places.append("Redis" if settings.store.redis_url else str(folder.valkey))
        except StoreUnavailableError as error:
            if settings.store.redis_url is not None:
                raise
            places.append(str(folder.valkey))
            unread = str(error)
    places += [str(folder.path / name) for name in _PLACED if (folder.path / name).exists()]
    return _Here(places=tuple(places), forgotten=forgotten, unread=unread)


async def _store_as_it_is(settings: Settings, folder: DataFolder, stack: AsyncExitStack) -> Redis | None:
    """Opens the store as it is before the restore; None where the data folder has none yet."""
    if settings.store.redis_url is None and not folder.valkey.exists():
        return None
    return await open_store(settings, folder, stack)


async def _restored(
    settings: Settings, folder: DataFolder, reader: BackupReader, here: _Here, tell: OnStep
) -> frozenset[str]:
    """Returns the pages that stay out, forgotten when the backup was made or since."""
    put = begin(folder.path)
    staged = DataFolder(put)  # of the same shape, owned by nobody
    async with AsyncExitStack() as stack:
        redis = await open_store(settings, staged, stack)
        index = open_index(settings, staged, stack)
        work = _made_ready(settings, reader, here, redis, index, tell)
        if settings.store.redis_url is None:
            forgotten = await work
        else:
            forgotten = await between_syncs(redis, settings, work)
    await asyncio.to_thread(_place_files, reader, put, folder.path)
    gone = [*_PLACED, *_OUTDATED]
    await asyncio.to_thread(decide, folder.path, gone=[name for name in gone if not (put / name).exists()])
    return forgotten


async def _made_ready(
    settings: Settings, reader: BackupReader, here: _Here, redis: Redis, index: VectorIndex, tell: OnStep
) -> frozenset[str]:
    await drop_staged(redis)
    forgotten = set(here.forgotten)
    for name in reader.names("store/"):
        lines = await asyncio.to_thread(list, reader.lines(name))
        forgotten |= forgotten_in(lines)
        await stage(redis, lines)
    copies: list[Copy] = []
    try:
        for generation, label in zip(generations_of(reader), _labels(reader), strict=False):
            copies.append(await index.begin_copy(label, generation.manifest))
            await copy(generation, copies[-1], tell)
            await copies[-1].delete_pages(sorted(forgotten))
            await copies[-1].complete()
        if copies:
            await copies[-1].swap()
    finally:
        for copied in copies:
            await copied.leave()
    await put_to_use(redis, settings.store.namespace, forgotten=here.forgotten)
    return frozenset(forgotten)


def _labels(reader: BackupReader) -> list[str]:
    """Labels the copies on a server: one backup has one label, so that a second run goes on with them."""
    return [f"{reader.digest}:{generation.name}" for generation in generations_of(reader)]


def _place_files(reader: BackupReader, put: Path, folder: Path) -> None:
    """Unpacks the files of the backup into `put`, with paths of sources moved to `folder`. Blocks."""
    unpacked = put.parent / "unpacked"
    unpacked.mkdir()
    for name in reader.names("files/"):
        reader.extract(name, unpacked)
    files = unpacked / "files"
    for name, placed in ((SETTINGS, RESTORED_SETTINGS), *((placed, placed) for placed in _PLACED)):
        if (files / name).exists():
            (files / name).rename(put / placed)
    with suppress(FileNotFoundError):
        book = put / "sources.json"
        book.write_text(json.dumps(_moved(json.loads(book.read_text(encoding="utf-8")), folder)), "utf-8")


def _moved(sources: Sequence[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """Returns the sources with the path of the uploads, which are in this data folder now."""
    uploads = str(folder / UPLOADS)
    return [source | {"path": uploads} if source.get("name") == UPLOADS else source for source in sources]


def _show(report: dict[str, Any]) -> None:
    pages = next(
        (generation["pages"] for generation in report["generations"] if generation["name"] == "live"), 0
    )
    say(
        f"Restored as of {report['made_at']}: {pages} pages, {report['keys']} keys of the store; "
        f"{report['forgotten']} pages stay forgotten"
    )
    if report["forgotten_unread"]:
        say(
            f"Pages that were forgotten since are not known, forget them again: {report['forgotten_unread']}",
            style="yellow",
        )
    if report["settings"]:
        say(
            f"The settings of that day, without secrets, are in {report['settings']}; none of them is in use."
        )
    say(
        "Run `footnote reindex` before people ask: pages that were limited or deleted since are as they were."
    )
    say("Keys of the HTTP API that were revoked since are valid again: `footnote keys list`.")
