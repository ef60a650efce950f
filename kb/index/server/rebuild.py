"""A generation on a Qdrant server that is not the live one: being built, or the one before."""

from __future__ import annotations

from typing import Protocol

from qdrant_client import AsyncQdrantClient

from kb.errors import IndexUnavailableError
from kb.index.server.collection import Collection


class SwappableServer(Protocol):
    """What a generation beside the live one asks of `kb.index.server.index.ServerIndex`, which makes it."""

    async def promote(self, number: int) -> None: ...

    async def drop(self, number: int) -> None: ...


class ServerRebuild(Collection):
    """A collection beside the live one, that nobody searches while it is filled. Over after `swap` or `discard`.

    It is hours of work, so every call of the server is retried for `retry_s` seconds.
    """

    def __init__(
        self, index: SwappableServer, number: int, *, client: AsyncQdrantClient, name: str, retry_s: float
    ) -> None:
        super().__init__(client, name, searched=False, retry_s=retry_s)
        self._index = index
        self._number = number
        self._over = False

    async def swap(self) -> None:
        if self._over:
            raise IndexUnavailableError("this rebuild is over: it was swapped in or dropped")
        await (await self._words()).publish()
        await self._index.promote(self._number)
        self._over = True

    async def discard(self) -> None:
        """Drops the generation; does nothing after a swap or another discard."""
        if not self._over:
            self._over = True
            await self._index.drop(self._number)


class ServerPrevious(ServerRebuild):
    """The collection that was live before. A `discard` leaves it where it is."""

    async def discard(self) -> None:
        self._over = True


class ServerCopy(ServerRebuild):
    """A collection that is filled from another index. It outlives its process, unlike a rebuild."""

    async def complete(self) -> None:
        await (await self._words()).publish()

    async def leave(self) -> None:
        self._over = True
