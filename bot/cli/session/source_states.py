"""The state of each source: pages in the index, last sync, next sync."""

from __future__ import annotations

import logging
from collections import Counter
from datetime import datetime
from typing import Any

from bot.cli.composition.runtime import Runtime
from ingest.origin import source_and_path
from ingest.sync.history import RedisSyncHistory
from ingest.sync.schedule import due_in
from kb.errors import StoreUnavailableError, UnavailableError
from kb.index.port import VectorIndex
from kb.jobs import SourceState

logger = logging.getLogger(__name__)


async def source_states(runtime: Runtime) -> list[SourceState]:
    """Returns the state of each source. Never raises for an outage: what cannot be read is left out."""
    known = runtime.sources.all()
    pages = await _pages(runtime.index)
    every = {source.name: source.sync_every for source in known if source.sync_every is not None}
    try:
        last = await _history(runtime).read()
        due = await due_in(runtime.redis, namespace=runtime.namespace, sources=list(every))
    except StoreUnavailableError as error:
        logger.warning("status.unavailable", extra={"cause": str(error)})
        last, due = {}, {}
    return [
        SourceState(
            name=source.name,
            pages=None if pages is None else pages[source.name],
            every=every.get(source.name),
            next_in=due.get(source.name),
            last=last.get(source.name),
        )
        for source in known
    ]


async def last_syncs(runtime: Runtime) -> list[SourceState]:
    """Returns each source's schedule and last sync, without reading the index.

    Raises:
        StoreUnavailableError: the store does not answer.
    """
    last = await _history(runtime).read()
    return [
        SourceState(name=source.name, pages=None, every=source.sync_every, last=last.get(source.name))
        for source in runtime.sources.all()
    ]


async def ended_syncs(runtime: Runtime) -> dict[str, datetime]:
    """Maps each source's name to the end of its last sync.

    Raises:
        StoreUnavailableError: the store does not answer.
    """
    return {name: record.at for name, record in (await _history(runtime).read()).items()}


def state_as_json(state: SourceState) -> dict[str, Any]:
    """Returns the state of a source as JSON: durations in seconds, times in ISO 8601."""
    return {
        "name": state.name,
        "pages": state.pages,
        "sync_every_s": state.every.total_seconds() if state.every else None,
        "next_sync_in_s": round(state.next_in.total_seconds()) if state.next_in else None,
        "last_sync": state.last.model_dump(mode="json") if state.last else None,
    }


def _history(runtime: Runtime) -> RedisSyncHistory:
    return RedisSyncHistory(runtime.redis, namespace=runtime.namespace)


async def _pages(index: VectorIndex) -> Counter[str] | None:
    try:
        return Counter(source_and_path(page)[0] for page in await index.revisions())
    except UnavailableError as error:
        logger.warning("status.unavailable", extra={"cause": str(error)})
        return None
