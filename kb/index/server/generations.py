"""The generations of the index on a Qdrant server: collections `NAME-gN`, of which the alias `NAME` is the live one."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from qdrant_client import AsyncQdrantClient, models

from kb.index.port import IndexManifest
from kb.index.server.calls import READ_FOR_S, asked
from kb.index.server.layout import COPY, Layout, create
from kb.index.server.words import words_of


class ServerGenerations:
    """`retry_s`: for how long writes are tried again, and reads of those who write."""

    def __init__(self, client: AsyncQdrantClient, name: str, *, retry_s: float, layout: Layout) -> None:
        self._client = client
        self._name = name
        self._retry_s = retry_s
        self._layout = layout

    async def live(self, *, patient: bool = False) -> int:
        """Returns the live generation's number, 0 where there is no alias. `patient`: no question waits for it."""
        described = await asked(
            "asking which collection is live", self._client.get_aliases, for_s=self._within(patient)
        )
        for alias in described.aliases:
            if alias.alias_name == self._name:
                return self._number(alias.collection_name)
        return 0

    async def all(self) -> list[int]:
        described = await asked(
            "listing collections", self._client.get_collections, for_s=self._within(False)
        )
        return sorted(
            number for collection in described.collections if (number := self._number(collection.name))
        )

    async def copies(self) -> dict[int, str]:
        """Returns the labels of the collections that are later than the live one; "" where they are no copies."""
        live = await self.live(patient=True)
        return {number: await self._label(number) for number in await self.all() if number > live}

    async def create(self, manifest: IndexManifest, *, copy_of: str | None = None) -> int:
        number = max(await self.all(), default=0) + 1
        await create(self._client, self.name_of(number), manifest, self._layout, copy_of=copy_of)
        return number

    async def swap(self, number: int) -> None:
        """Moves the alias, in one request."""
        made = models.CreateAlias(collection_name=self.name_of(number), alias_name=self._name)
        move: list[Any] = [models.CreateAliasOperation(create_alias=made)]
        if await self.live(patient=True):
            gone = models.DeleteAlias(alias_name=self._name)
            move.insert(0, models.DeleteAliasOperation(delete_alias=gone))
        moving = partial(self._client.update_collection_aliases, move)
        await asked("swapping", moving, for_s=self._retry_s)

    async def drop_old(self, live: int) -> None:
        """Keeps the live generation, and the one before it for a rollback."""
        for older in [number for number in await self.all() if number < live][:-1]:
            await self.drop(older)

    async def drop(self, number: int) -> None:
        for name in (words_of(self.name_of(number)), self.name_of(number)):
            drop = partial(self._client.delete_collection, name)
            await asked("dropping a collection", drop, for_s=self._retry_s)

    def name_of(self, number: int) -> str:
        return f"{self._name}-g{number}"

    async def _label(self, number: int) -> str:
        describe = partial(self._client.get_collection, self.name_of(number))
        described = await asked("reading the manifest", describe, for_s=self._retry_s)
        return str((described.config.metadata or {}).get(COPY, ""))

    def _number(self, collection: str) -> int:
        match = re.fullmatch(re.escape(self._name) + r"-g(\d+)", collection)
        return int(match[1]) if match else 0

    def _within(self, patient: bool) -> float:
        return self._retry_s if patient else min(READ_FOR_S, self._retry_s)
