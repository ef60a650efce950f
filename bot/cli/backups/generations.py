"""Reads the generations of a backup like those of an index."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence

from bot.cli.backups.archive import BackupError, BackupReader, GenerationPart
from kb.calibration import Calibration, from_text
from kb.index.copies import Generation
from kb.index.exported import from_fields
from kb.index.fields import PAGE_ID
from kb.index.payload import inventory_of, manifest_from_fields
from kb.index.port import IndexedChunk, PageHeld


def generations_of(reader: BackupReader) -> list[Generation]:
    """Returns the live generation last, after the previous one if the backup has it.

    Raises:
        BackupError: the backup has no live generation.
    """
    found = [
        Generation(
            name=generation.name,
            manifest=manifest_from_fields(generation.manifest),
            source=BackedUp(reader, generation),
        )
        for generation in sorted(reader.manifest.generations, key=lambda part: part.name == "live")
    ]
    if found and found[-1].name != "live":
        raise BackupError("the backup has no live index")
    return found


class BackedUp:
    """A `kb.index.copies.Source`. Raises `BackupError` where a part cannot be understood."""

    def __init__(self, reader: BackupReader, part: GenerationPart) -> None:
        self._reader = reader
        self._part = part
        self._part_of: dict[str, str] = {}
        self._loaded: tuple[str, list[IndexedChunk]] = ("", [])

    async def inventory(self) -> Mapping[str, PageHeld]:
        return await asyncio.to_thread(self._inventory)

    async def stored(self, page_ids: Sequence[str]) -> Sequence[IndexedChunk]:
        return await asyncio.to_thread(self._stored, frozenset(page_ids))

    async def calibration(self) -> Calibration | None:
        return from_text(self._part.calibration) if self._part.calibration else None

    def _inventory(self) -> dict[str, PageHeld]:
        def payloads() -> Iterator[dict[str, object]]:
            for name in self._reader.names(f"index/{self._part.name}/"):
                for line in self._reader.lines(name):
                    self._part_of[line["payload"][PAGE_ID]] = name
                    yield line["payload"]

        try:
            found = inventory_of(payloads())
        except (KeyError, TypeError, AttributeError) as error:
            raise BackupError(f"the backup holds passages that cannot be read ({error})") from error
        if sum(page.passages for page in found.values()) != self._part.passages:
            raise BackupError("the backup does not hold as many passages as it says")
        return found

    def _stored(self, pages: frozenset[str]) -> list[IndexedChunk]:
        parts = sorted({self._part_of[page] for page in pages})
        return [passage for part in parts for passage in self._load(part) if passage.chunk.page.id in pages]

    def _load(self, part: str) -> list[IndexedChunk]:
        if self._loaded[0] != part:
            try:
                self._loaded = (part, [from_fields(line) for line in self._reader.lines(part)])
            except (KeyError, TypeError, ValueError) as error:
                raise BackupError(f"the backup holds passages that cannot be read ({error})") from error
        return self._loaded[1]
