"""Filters the pages that a sync's report may name in a channel: those that an answer there could cite.

A message about a reindex stands in a channel, where others than the admin read it. A page that is limited to others, or
that the index does not hold (so that nobody knows for whom it is), is only counted there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.slack.audiences import Audiences
from kb.errors import UnavailableError
from kb.index.port import PageAddress
from kb.jobs import SyncReport
from kb.models import Audience

logger = logging.getLogger(__name__)

Naming = Callable[[str], str | None]
"""A page's path -> what it is called here; None: not to be named here."""


class IndexedPages(Protocol):
    """kb.index.port.VectorIndex, as names are read from it. Raises `IndexUnavailableError`."""

    async def addresses(self) -> Sequence[PageAddress]: ...

    async def readable(self, page_ids: Collection[str], *, audience: Audience) -> frozenset[str]: ...


@dataclass(frozen=True, slots=True)
class PageNames:
    pages: IndexedPages
    audiences: Audiences

    async def for_place(self, report: SyncReport | None, *, channel: str, user: str) -> Naming:
        """Returns the names that everybody in `channel` may read, for what `user` asked for. Where it cannot be told:
        none.
        """
        if report is None:
            return _nothing
        try:
            return (await self._known(report, channel, user)).get
        except UnavailableError as error:
            logger.warning("reindex.not_named", extra={"channel": channel, "cause": str(error)})
            return _nothing

    async def _known(self, report: SyncReport, channel: str, user: str) -> Mapping[str, str]:
        paths = {
            *report.added,
            *report.changed,
            *report.removed,
            *(failure.path for failure in report.failed),
        }
        if not paths:
            return {}
        audience = await self.audiences.of(channel, user)
        indexed = [page for page in await self.pages.addresses() if _path(page) in paths]
        readable = await self.pages.readable([page.page_id for page in indexed], audience=audience)
        hidden = {_path(page) for page in indexed if page.page_id not in readable}
        # Titles are taken from the index: another source may have a page of the same path.
        return {
            _path(page): f"{page.title} ({_path(page)})" if _path(page) in report.titles else _path(page)
            for page in indexed
            if _path(page) not in hidden
        }


def _path(page: PageAddress) -> str:
    return page.page_id.partition(":")[2]


def _nothing(_path: str) -> None:
    return None
