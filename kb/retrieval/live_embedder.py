"""Embeds questions with the model that the live generation of the index was made with.

Settings may name another model than the index was made with. The next sync builds a generation with it beside the live
one; until that is swapped in, questions go on being embedded by the earlier model, and from the swap on by the new one.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from kb.errors import EmbedderUnavailableError
from kb.index.port import VectorIndex
from kb.inference.embedder import Embedder

logger = logging.getLogger(__name__)

TRIED_AGAIN_S = 60.0
"""Seconds before an earlier model that could not be loaded is tried again: a hub may take long to answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Matching:
    """An embedder and the name that the index knows it by; None where the index is still empty."""

    embedder: Embedder
    made_with: str | None


class LiveEmbedder:
    """`own` is the settings' embedder, which the caller closes; `load` makes an embedder by its name in a manifest.

    The index is asked once: a search that says how its vectors were made finds out by itself that another generation is
    live, and then calls `forget`. So a question costs nothing more.
    """

    def __init__(
        self,
        index: VectorIndex,
        own: Embedder,
        load: Callable[[str], Embedder],
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._index = index
        self._own = own
        self._load = load
        self._monotonic = monotonic
        self._believed: Matching | None = None
        self._choosing = asyncio.Lock()
        self._earlier: Embedder | None = None
        self._failed: tuple[str, float, EmbedderUnavailableError] | None = None

    async def now(self) -> Matching:
        """Returns the embedder for the live generation, loaded.

        Raises:
            UnavailableError: the index does not answer, or the model that it was made with cannot be loaded.
        """
        if self._believed is not None:
            return self._believed
        async with self._choosing:
            if self._believed is None:
                chosen = await self._chosen()
                if chosen.made_with is None:  # the index is empty: what will fill it is not known yet
                    return chosen
                self._believed = chosen
            return self._believed

    def forget(self, over: Matching) -> None:
        """Forgets `over` after another generation went live. Questions under way keep their embedder."""
        if self._believed is over:
            self._believed = None

    def close(self) -> None:
        if self._earlier is not None:
            self._earlier.close()

    async def _chosen(self) -> Matching:
        await self._own.ready()
        manifest = await self._index.manifest()
        if manifest is None:
            return Matching(embedder=self._own, made_with=None)
        if manifest.embedder == self._own.name:
            self._earlier = None  # not closed: a question under way may hold it; its threads end with it
            return Matching(embedder=self._own, made_with=manifest.embedder)
        self._earlier = await self._loaded(manifest.embedder)
        return Matching(embedder=self._earlier, made_with=manifest.embedder)

    async def _loaded(self, name: str) -> Embedder:
        if self._failed is not None and self._failed[0] == name:
            _, failed_at, error = self._failed
            if self._monotonic() - failed_at < TRIED_AGAIN_S:
                raise EmbedderUnavailableError(str(error))
        embedder = self._load(name)
        try:
            await _ready(embedder, name)
        except EmbedderUnavailableError as error:
            embedder.close()
            unavailable = EmbedderUnavailableError(
                f"the index was made with {name}, the settings name {self._own.name}, and {name} "
                f"cannot be loaded any more "
                f"({error}): sync now, which rebuilds the index with {self._own.name}, or put {name} back"
            )
            logger.warning("embedder.of_index_unavailable", extra={"reason": str(unavailable)})
            self._failed = (name, self._monotonic(), unavailable)
            raise unavailable from error
        logger.warning("embedder.of_index", extra={"index": name, "settings": self._own.name})
        return embedder


async def _ready(embedder: Embedder, name: str) -> None:
    """Loads an embedder, which must be the model of this name."""
    await embedder.ready()
    if embedder.name != name:
        raise EmbedderUnavailableError(f"what is found by that name is {embedder.name}")
