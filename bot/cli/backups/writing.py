"""Writes a backup: the index by generations, the store by keys, and files of the data folder that no sync restores."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import UTC, datetime

from redis.asyncio import Redis

from bot.cli.backups.archive import BackupManifest, BackupWriter, GenerationPart
from bot.cli.backups.requests import BackupProgress, BackupReply, BackupRequest
from bot.cli.backups.store import keys_of
from bot.cli.between_syncs import between_syncs
from bot.cli.composition.sources import UPLOADS
from kb.calibration import to_text
from kb.config.settings import Settings
from kb.errors import IndexUnavailableError, SettingsError
from kb.index.copies import Generation, generations, together
from kb.index.exported import to_fields
from kb.index.payload import manifest_to_fields
from kb.index.port import VectorIndex
from kb.runtime.tasks import cancelled
from kb.store.data_folder import DataFolder

HISTORY = "playground-history.json"
SETTINGS = "footnote.toml"

OnStep = Callable[[BackupProgress], None]


async def write_backup(
    request: BackupRequest, settings: Settings, *, folder: DataFolder, index: VectorIndex, redis: Redis
) -> AsyncGenerator[BackupProgress]:
    """Writes while no sync does, and yields each step; the last one has the reply.

    Questions are answered meanwhile, and what is said during the backup may be in it or not.

    Raises:
        SyncUnderWayError: a sync is under way; then, as after an outage, no file is left.
    """
    steps: asyncio.Queue[BackupProgress | None] = asyncio.Queue()
    work = _written(request, settings, folder, index, redis, steps.put_nowait)
    writing = asyncio.create_task(between_syncs(redis, settings, work))
    writing.add_done_callback(lambda _: steps.put_nowait(None))
    try:
        while (step := await steps.get()) is not None:
            yield step
        yield BackupProgress(reply=_reply(request, await writing))
    finally:
        await cancelled(writing)


def _reply(request: BackupRequest, manifest: BackupManifest) -> BackupReply:
    return BackupReply(
        file=request.file,
        bytes=request.file.stat().st_size,
        pages=sum(part.pages for part in manifest.generations if part.name == "live"),
        passages=sum(part.passages for part in manifest.generations if part.name == "live"),
        generations=len(manifest.generations),
        keys=manifest.keys,
    )


async def _written(
    request: BackupRequest,
    settings: Settings,
    folder: DataFolder,
    index: VectorIndex,
    redis: Redis,
    on_step: OnStep,
) -> BackupManifest:
    namespace = settings.store.namespace
    try:
        writer = await asyncio.to_thread(BackupWriter, request.file)
    except OSError as error:
        raise SettingsError(f"{request.file} cannot be written: {error.strerror}") from error
    with writer:
        parts: list[GenerationPart] = []
        if await index.manifest() is not None:
            async with aclosing(generations(index)) as found:
                parts = [await _add_generation(writer, generation, on_step) async for generation in found]
        keys, part = 0, 0
        async for lines in keys_of(redis, namespace):
            await asyncio.to_thread(writer.add_lines, f"store/{part:05}.jsonl.gz", lines)
            keys, part = keys + len(lines), part + 1
        await asyncio.to_thread(_add_files, writer, folder, request.settings)
        made_at = datetime.now(UTC).isoformat(timespec="seconds")
        return await asyncio.to_thread(
            lambda: writer.finish(made_at=made_at, namespace=namespace, generations=parts, keys=keys)
        )


async def _add_generation(writer: BackupWriter, generation: Generation, on_step: OnStep) -> GenerationPart:
    source, passages = generation.source, 0
    wanted = await source.inventory()
    total = sum(page.passages for page in wanted.values())
    for part, pages in enumerate(together(wanted)):
        stored = await source.stored(pages)
        lines = [to_fields(passage) for passage in stored]
        await asyncio.to_thread(writer.add_lines, f"index/{generation.name}/{part:05}.jsonl.gz", lines)
        passages += len(stored)
        on_step(BackupProgress(generation=generation.name, done=passages, total=total))
    if passages != total:
        raise IndexUnavailableError("the index changed while it was read: run `footnote backup` again")
    calibration = await source.calibration()
    return GenerationPart(
        name=generation.name,
        manifest=manifest_to_fields(generation.manifest),
        calibration=to_text(calibration) if calibration is not None else None,
        pages=len(wanted),
        passages=passages,
    )


def _add_files(writer: BackupWriter, folder: DataFolder, settings: str) -> None:
    """Adds the files of the data folder that no sync restores. Blocks."""
    if settings:
        writer.add(f"files/{SETTINGS}", settings.encode())
    for file in (folder.sources_file, folder.path / HISTORY):
        if file.is_file():
            writer.add(f"files/{file.name}", file.read_bytes())
    uploads = folder.path / UPLOADS
    if uploads.is_dir():
        for file in sorted(uploads.iterdir()):
            if file.is_file() and not file.is_symlink() and not file.name.startswith("."):
                writer.add(f"files/{UPLOADS}/{file.name}", file.read_bytes())
