"""Starts reindexes for admins, follows each in one message, and resumes them after a restart."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.messages.catalog import Messages, messages_in
from bot.reindexing.progress import ProgressMessage
from bot.reindexing.progress_notes import ProgressNote, ProgressNotes
from bot.rendering.mrkdwn import escape
from bot.slack.background import Background
from bot.slack.people import People
from kb.errors import StoreUnavailableError
from kb.jobs import Reindexer, ReindexProgress, ReindexRequest

logger = logging.getLogger(__name__)

MOST_TIMES = 4
"""How often a reindex is begun: one that kills its bot must not do so for ever."""
RESUMED_WITHIN = timedelta(days=1)
"""Later nobody waits for it, and its sources are synced anew anyway."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Begun:
    """A reindex that goes on: its message is at `channel`. `joined`: it was under way already."""

    channel: str
    joined: bool
    steps: AsyncIterator[ReindexProgress]
    note: ProgressNote


@dataclass(frozen=True, kw_only=True, slots=True)
class ReindexFollower:
    """Starts (or joins) reindexes and keeps one message up to date for each until it ends."""

    reindexer: Reindexer
    message: ProgressMessage
    notes: ProgressNotes
    people: People
    clock: Callable[[], datetime]

    async def begin(self, request: ReindexRequest, *, channel: str, messages: Messages) -> Begun:
        """Starts it and posts its message, in the channel or else to the admin alone."""
        steps = self.reindexer.reindex(request)
        first = await anext(steps)
        text = messages.reindex_queued.format(what=_what(request.source, messages))
        posted, ts = await self.message.begin(channel=channel, user=request.requested_by, text=text)
        note = ProgressNote(
            channel=posted,
            ts=ts,
            user=request.requested_by,
            source=request.source,
            full=request.full,
            dry_run=request.dry_run,
            force=request.force,
            begun_at=self.clock(),
        )
        return Begun(channel=posted, joined=first.joined, steps=_with_first(first, steps), note=note)

    async def follow(self, begun: Begun, messages: Messages) -> None:
        what = _what(begun.note.source, messages)
        await self.message.follow(begun.steps, begun.note, what=what, messages=messages)

    async def take_up(self, background: Background) -> None:
        """Runs until cancelled: goes on with the messages of bots that are gone, this one's earlier life included."""
        while True:
            try:
                for note in await self.notes.left_behind():
                    background.start(self._resume(note), name="reindex")
            except StoreUnavailableError as error:
                logger.warning("reindex.not_taken_up", extra={"cause": str(error)})
            await asyncio.sleep(self.notes.beat_s)

    async def _resume(self, note: ProgressNote) -> None:
        """Goes on with a reindex: the index knows what the earlier run has done."""
        messages = messages_in((await self.people.person(note.user)).locale)
        if note.end is not None:
            await self.message.finish(note, note.end)
            return
        gone = note.source is not None and note.source not in self.reindexer.sources()
        late = self.clock() - note.begun_at > RESUMED_WITHIN
        if gone or late or note.times >= MOST_TIMES:
            logger.warning("reindex.given_up", extra={"times": note.times, "gone": gone, "late": late})
            await self.message.finish(
                note, messages.reindex_cut_off.format(what=_what(note.source, messages))
            )
            return
        logger.info("reindex.taken_up", extra={"source": note.source, "times": note.times})
        request = ReindexRequest(
            requested_by=note.user,
            source=note.source,
            full=note.full,
            dry_run=note.dry_run,
            force=note.force,
        )
        again = note.model_copy(update={"times": note.times + 1})
        steps = self.reindexer.reindex(request)
        await self.message.follow(steps, again, what=_what(note.source, messages), messages=messages)


def _what(source: str | None, messages: Messages) -> str:
    return escape(source) if source else messages.everything


async def _with_first(
    first: ReindexProgress, rest: AsyncIterator[ReindexProgress]
) -> AsyncIterator[ReindexProgress]:
    yield first
    async for step in rest:
        yield step
