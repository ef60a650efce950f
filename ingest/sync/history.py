"""When each source was last synced, and how that ended: written by whoever does the work, read by whoever asks."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, cast

from pydantic import ValidationError
from redis.asyncio import Redis

from ingest.sync.sync import Sync
from kb.errors import FootnoteError, StoreUnavailableError
from kb.jobs import SyncRecord, SyncReport
from kb.pages.freshness import Clock
from kb.store.redis import store_failures, text_of

logger = logging.getLogger(__name__)

_UNAVAILABLE = "the record of syncs does not answer"


class RedisSyncHistory:
    """Keeps source -> its last sync in one hash, NAMESPACE:syncs, for all replicas.

    Every method raises `StoreUnavailableError` when Redis does not answer.
    """

    def __init__(self, redis: Redis, *, namespace: str) -> None:
        self._redis = redis
        self._key = f"{namespace}:syncs"

    async def write(self, records: Mapping[str, SyncRecord]) -> None:
        if records:
            written = {name: record.model_dump_json() for name, record in records.items()}
            with store_failures(_UNAVAILABLE):
                await self._redis.hset(self._key, mapping=cast(Any, written))

    async def read(self) -> Mapping[str, SyncRecord]:
        """Returns the records; those of another version of Footnote are passed over."""
        with store_failures(_UNAVAILABLE):
            stored = await self._redis.hgetall(self._key)
        found = {}
        for name, written in stored.items():
            try:
                record = SyncRecord.model_validate_json(written)
            except ValidationError:
                logger.warning("ledger.unreadable", extra={"source": str(name)})
            else:
                found[text_of(name)] = record
        return found


class RecordedSync(Sync):
    """A sync that leaves a record for each source it was about. A dry run leaves none."""

    def __init__(self, *, history: RedisSyncHistory, clock: Clock, **parts: Any) -> None:
        super().__init__(clock=clock, **parts)
        self._history = history
        self._now = clock

    async def run(self, *, source: str | None = None, dry_run: bool = False, **how: Any) -> SyncReport:
        """Runs as `Sync.run` does, then writes the records."""
        began = self._now()
        names = [source] if source is not None else self.source_names
        try:
            report = await super().run(source=source, dry_run=dry_run, **how)
        except Exception as error:
            if not dry_run:
                seconds = (self._now() - began).total_seconds()
                cause = str(error) if isinstance(error, FootnoteError) else type(error).__name__
                failed = SyncRecord(at=self._now(), seconds=seconds, error=cause)
                await self._record(dict.fromkeys(names, failed))
            raise
        if not dry_run:
            await self._record({name: self._record_of(name, report, alone=len(names) == 1) for name in names})
        return report

    def _record_of(self, name: str, report: SyncReport, *, alone: bool) -> SyncRecord:
        """Builds a source's record. A source that could not be listed stands among the failures by its own name."""
        unlisted = next((failure.reason for failure in report.failed if failure.path == name), None)
        return SyncRecord(
            at=self._now(),
            seconds=report.seconds,
            error=unlisted,
            alone=alone,
            added=len(report.added),
            changed=len(report.changed),
            removed=len(report.removed),
            failed=len(report.failed),
        )

    async def _record(self, records: Mapping[str, SyncRecord]) -> None:
        try:
            before = await self._history.read()
            await self._history.write(
                {name: record.following(before.get(name)) for name, record in records.items()}
            )
        except StoreUnavailableError as error:  # the sync stands without its record
            logger.warning("ledger.unavailable", extra={"cause": str(error)})
