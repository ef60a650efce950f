"""The contract of a reindex: the Slack edge asks, ingest works, both see the same progress.

No import of `ingest` here: `bot.cli` hands an implementation to whoever asks.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from kb.index.port import PageAddress

Phase = Literal["queued", "reading", "indexing", "swapping", "done", "failed"]


class FailedPage(BaseModel):
    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    path: str
    reason: str


class SyncReport(BaseModel):
    """The diff that a sync made. Lists hold page paths; a page that could not be read is in `failed` alone."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    added: list[str] = Field(default_factory=list)
    changed: list[str] = Field(default_factory=list)
    removed: list[str] = Field(default_factory=list)
    unchanged: int = 0
    failed: list[FailedPage] = Field(default_factory=list)
    warned: list[FailedPage] = Field(default_factory=list)
    """Notes on pages that did not fail: a field that could not be read, a page that only redirects."""
    chunks: int = 0
    seconds: float = 0.0
    titles: dict[str, str] = Field(default_factory=dict)
    """Path -> title of pages whose path tells a person nothing: an id of Confluence, Notion or Slack."""
    dry_run: bool = False
    """Nothing was changed: this is what would be."""
    doubts: list[str] = Field(default_factory=list)
    """What looked wrong: overruled, or (in a dry run) what a sync would refuse."""

    def named(self, path: str) -> str:
        """Names a page as a person knows it: "Travel (ENG/12345)", or its path alone."""
        return f"{self.titles[path]} ({path})" if path in self.titles else path


@dataclass(frozen=True, kw_only=True, slots=True)
class ReindexRequest:
    """`source`: one source's name, or None for all. `full`: rebuild beside the live index, then swap.

    `dry_run`: only say what would change. `force`: go on although much would be gone, or a rebuilt index looks wrong.
    `rollback`: go back to the generation before the live one; nothing is read.
    """

    requested_by: str
    source: str | None = None
    full: bool = False
    dry_run: bool = False
    force: bool = False
    rollback: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ReindexProgress:
    """A step of a reindex. `report` is set when `phase` is "done"; `error` (for operators) when it is "failed"."""

    phase: Phase
    done: int = 0
    total: int = 0
    started_at: datetime
    seconds_left: float | None = None
    joined: bool = False
    """The request met a reindex under way and follows that one."""
    report: SyncReport | None = None
    error: str | None = None
    refusal: str | None = None
    """Why the work was refused, where that is for the admin to judge; the index is as it was."""


class SyncRecord(BaseModel):
    """How the last sync of a source ended. `alone`: the counts are this source's; else those of all that were synced.

    `error` is for operators; None when it went well. A page that failed does not make a sync fail.
    `succeeded_at`: the latest that went well, this one included; `failures`: how many in a row did not, up to this one.
    """

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    at: datetime
    seconds: float = 0.0
    error: str | None = None
    alone: bool = True
    added: int = 0
    changed: int = 0
    removed: int = 0
    failed: int = 0
    succeeded_at: datetime | None = None
    failures: int = 0

    @property
    def ok(self) -> bool:
        return self.error is None

    def following(self, before: SyncRecord | None) -> SyncRecord:
        """Makes a copy that carries over the last success and counts failures in a row."""
        if self.ok:
            return self.model_copy(update={"succeeded_at": self.at, "failures": 0})
        succeeded_at = (before.succeeded_at or (before.at if before.ok else None)) if before else None
        failures = (before.failures if before else 0) + 1
        return self.model_copy(update={"succeeded_at": succeeded_at, "failures": failures})


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceState:
    """A source and its syncs. `pages` in the index now; None: it does not answer.

    `every`: how often it is synced by the clock; None: on request only. `next_in`: until the next one; None: it is due,
    or no bot runs that would do it. `last`: None before the first.
    """

    name: str
    pages: int | None
    every: timedelta | None = None
    next_in: timedelta | None = None
    last: SyncRecord | None = None


class Reindexer(Protocol):
    """Runs at most one reindex at a time."""

    def reindex(self, request: ReindexRequest) -> AsyncIterator[ReindexProgress]:
        """Starts a reindex, or joins the one under way, and yields its progress; the last item is done or failed.

        The work goes on when the caller stops listening.
        """

    def sources(self) -> list[str]: ...

    async def forget(self, address: str) -> Sequence[PageAddress]:
        """Takes the page at this address out of the index at once and keeps it out. Empty: no page is there.

        `address`: its URL, its path, or its id (`source:path`).

        Raises:
            FootnoteError: the index or the store does not answer, or a path is the path of several pages.
        """
