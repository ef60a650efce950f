"""Which versions of pages a reader of a Qdrant server may meet while pages are replaced.

The server applies a request point by point, and a large page takes several requests. So the
points of a new version have ids of their own and stand beside the old ones, and one more
point, the ledger, says which of the two counts. It is one point: it changes at one moment.

1. A write begins: the ledger names its version as arriving. Readers leave those points out.
2. All points are there: the ledger names the pages as whole in that version. Readers leave their other points out.
3. A moment later (`GRACE_S`) the other points are deleted and the ledger forgets the write.

A reader takes the ledger's word from before it read and looks at the ledger again afterwards (`still_whole`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict
from qdrant_client import models

from kb.index.fields import PAGE_ID

WRITTEN = "written"
"""The version of a page (nanoseconds since 1970, when its write began), the same on all its points."""
LEDGER_ID = 2**63
"""An id beyond those of passages, which have 63 bits."""
GRACE_S = 1.0
"""Seconds that an old version stays after the new one counts: longer
than a search takes, so that few are done again.
"""
ABANDONED_S = 900.0
"""Seconds after which a write that is still arriving has died with its process."""


class Write(BaseModel):
    """One call that replaces pages."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    version: int
    pages: tuple[str, ...]
    stage: Literal["arriving", "whole"]
    since: float
    """Seconds since 1970 when this stage began."""


class Flux(BaseModel):
    """What the ledger says. Equal ones mean that nothing happened in between."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    writes: tuple[Write, ...] = ()
    cleared: int = 0
    """The newest version at the last time that points of older ones began to be deleted: never the same twice."""

    def begun(self, version: int, pages: Iterable[str], *, at: float) -> Self:
        arriving = Write(version=version, pages=tuple(pages), stage="arriving", since=at)
        return self._with([*self.writes, arriving])

    def whole(self, version: int, *, at: float) -> Self:
        """Makes `version` the only one of its pages from here on."""
        mine = next(write for write in self.writes if write.version == version)
        others = [
            write.model_copy(update={"pages": _without(write, mine)})
            for write in self.writes
            if write != mine
        ]
        flipped = mine.model_copy(update={"stage": "whole", "since": at})
        return self._with([*(write for write in others if write.pages), flipped])

    def without(self, gone: Collection[Write]) -> Self:
        return self._with([write for write in self.writes if write not in gone])

    def clearing(self, version: int) -> Self:
        return self.model_copy(update={"cleared": version})

    def over(self, *, at: float, begun_here: Collection[int]) -> tuple[Write, ...]:
        """Writes to be cleared up: whole ones that no reader needs the old
        points of, and those that will never be whole.
        """
        return tuple(
            write
            for write in self.writes
            if (write.stage == "whole" and at - write.since >= GRACE_S)
            or (
                write.stage == "arriving" and (write.version in begun_here or at - write.since >= ABANDONED_S)
            )
        )

    def hidden(self) -> list[Any]:
        """Returns conditions; a point that meets any of them does not count."""
        arriving = [write.version for write in self.writes if write.stage == "arriving"]
        conditions: list[Any] = [is_version(arriving)] if arriving else []
        return conditions + [_others(write) for write in self.writes if write.stage == "whole"]

    def obsolete(self, write: Write) -> models.Filter:
        """Selects the points that are deleted at the end of a write."""
        if write.stage == "arriving":
            return models.Filter(must=[is_version([write.version])])
        arriving = [write.version for write in self.writes if write.stage == "arriving"]
        return _others(write, kept=arriving)

    def still_whole(self, later: Self, versions: Collection[int]) -> bool:
        """Whether what was read by this ledger is whole, where the ledger says `later` afterwards.

        `versions`: of the points that were read. One that the ledger did not know yet may be half there; and
        where older points began to be deleted, some may have been missing.
        """
        known = {write.version for write in self.writes}
        came = {write.version for write in later.writes} - known
        return self.cleared == later.cleared and came.isdisjoint(versions)

    def _with(self, writes: list[Write]) -> Self:
        return self.model_copy(update={"writes": tuple(writes)})


def is_version(versions: Iterable[int]) -> models.FieldCondition:
    return models.FieldCondition(key=WRITTEN, match=models.MatchAny(any=list(versions)))


def _others(write: Write, kept: Iterable[int] = ()) -> models.Filter:
    """Selects the points of the pages of a write that are of another version than its own or those `kept`."""
    of_pages = models.FieldCondition(key=PAGE_ID, match=models.MatchAny(any=list(write.pages)))
    return models.Filter(must=[of_pages], must_not=[is_version([write.version, *kept])])


def _without(write: Write, newer: Write) -> tuple[str, ...]:
    """Returns a write's pages without those of `newer`, unless the write is still arriving and keeps all."""
    if write.stage == "arriving":
        return write.pages
    return tuple(page for page in write.pages if page not in set(newer.pages))
