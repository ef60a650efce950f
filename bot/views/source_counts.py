"""Counts pages by source as one reader may see them: how many they may read, and how many of these are out of date.

A source of which somebody may read nothing is not named to them. The pages are
read from the index once in some minutes, for all readers together; a page that
was limited meanwhile is counted for that long, and nothing else is told of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.slack.ttl_cache import TtlCache
from bot.stats.stale import stale_page
from kb.index.port import VectorIndex
from kb.models import Audience, Page

KEEP = timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceCount:
    """`stale`: past their review date, or expired."""

    source: str
    pages: int
    stale: int


class SourceCounts:
    def __init__(self, index: VectorIndex, *, clock: Callable[[], datetime]) -> None:
        self._index = index
        self._clock = clock
        self._known: TtlCache[None, Sequence[Page]] = TtlCache(keep=KEEP, clock=clock)

    async def of(self, audience: Audience) -> list[SourceCount]:
        """Counts pages by source. Raises `IndexUnavailableError`."""
        pages = await self._known.get(None, lambda _: self._index.every_page())
        today = self._clock().date()
        readable = [page for page in pages if audience.may_read(page.audience)]
        counted = Counter(page.source for page in readable)
        stale = Counter(page.source for page in readable if stale_page(page, today) is not None)
        return [
            SourceCount(source=source, pages=counted[source], stale=stale[source])
            for source in sorted(counted)
        ]
