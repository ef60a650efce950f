"""Opens what outlives the process: the store and the index, on the servers of the settings or else in the data folder.

Each is closed with the stack that is given. Nothing is asked of a server here but by `embedder_of`: a bot starts while
its servers are down.
"""

from __future__ import annotations

from contextlib import AsyncExitStack

from redis.asyncio import Redis

from kb.config.index_settings import IndexSettings
from kb.config.model_settings import EmbedSettings
from kb.config.settings import Settings
from kb.errors import IndexMismatchError, UnavailableError
from kb.index.embedded.index import EdgeIndex
from kb.index.port import VectorIndex
from kb.inference.embedder import Embedder, embedder_for
from kb.store.data_folder import DataFolder
from kb.store.valkey import EmbeddedValkey, connect_redis


async def open_store(settings: Settings, folder: DataFolder, stack: AsyncExitStack) -> Redis:
    """Opens the store, on the server of the settings or else in the data folder; `stack` closes it.

    Raises:
        StoreUnavailableError: the Valkey of the data folder does not start.
    """
    if settings.store.redis_url is not None:
        redis = connect_redis(settings.store.redis_url.get_secret_value())
    else:
        valkey = EmbeddedValkey(folder.valkey)
        await valkey.start()
        stack.push_async_callback(valkey.stop)
        redis = connect_redis(valkey.url)
    stack.push_async_callback(redis.aclose)
    return redis


def open_index(settings: Settings, folder: DataFolder, stack: AsyncExitStack) -> VectorIndex:
    index = EdgeIndex(folder.index) if settings.index.qdrant_url is None else _served(settings.index)
    stack.push_async_callback(index.close)
    return index


async def embedder_of(index: VectorIndex) -> str | None:
    """Returns the name of the embedder that the index was made with; None if there is none yet or it cannot be read.

    An unreadable index does not stop the bot from starting.
    """
    try:
        manifest = await index.manifest()
    except (UnavailableError, IndexMismatchError):
        return None
    return manifest.embedder if manifest is not None else None


def earlier_embedder(settings: EmbedSettings, name: str) -> Embedder:
    """Opens the embedder that an index was made with, run as the settings say."""
    return Embedder(embedder_for(name, settings), like=name)


def _served(settings: IndexSettings) -> VectorIndex:
    from kb.index.server.client import (
        server_index,
    )  # two seconds of a start: not where the index is in the folder

    return server_index(settings)
