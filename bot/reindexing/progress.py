"""Shows a reindex in one Slack message that is kept up to date and always ends with how the reindex ended.

The message stands where others read along, so it names those pages only that may be named there; whoever asked is told
the rest alone. Which message shows which reindex is kept in Redis: when the bot dies, the next one takes both up again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.messages.catalog import Messages
from bot.reindexing.progress_notes import ProgressNote, ProgressNotes
from bot.reindexing.progress_text import end_text, progress_text
from bot.slack.errors import SLACK_FAILURES, error_code
from bot.slack.page_names import PageNames
from kb.errors import StoreUnavailableError
from kb.jobs import ReindexProgress
from kb.runtime.tasks import cancelled

logger = logging.getLogger(__name__)

BETWEEN_UPDATES = timedelta(seconds=3)
"""Slack allows some 50 updates a minute; people read no faster than this."""
NOT_THERE = frozenset({"not_in_channel", "channel_not_found", "is_archived", "restricted_action"})
DIRECT = "D"
"""First letter of the ids of direct messages: only the admin reads there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProgressMessage:
    """`client` must not retry lost connections around a post."""

    client: AsyncWebClient
    names: PageNames
    notes: ProgressNotes
    clock: Callable[[], datetime]

    async def begin(self, *, channel: str, user: str, text: str) -> tuple[str, str]:
        """Posts the message, in the channel or else to the user alone. Returns its channel and ts."""
        try:
            response = await self.client.chat_postMessage(channel=channel, text=text)
        except SlackApiError as error:
            if error_code(error) not in NOT_THERE:
                raise
            response = await self.client.chat_postMessage(channel=user, text=text)
        return str(response["channel"]), str(response["ts"])

    async def follow(
        self, progress: AsyncIterator[ReindexProgress], note: ProgressNote, *, what: str, messages: Messages
    ) -> None:
        """Shows each step, at most one in three seconds, and the last one always."""
        try:
            await self.notes.write(note)
        except StoreUnavailableError:  # the message is followed all the same, by us alone
            logger.warning("progress.not_noted", extra={"channel": note.channel})
        holding = asyncio.create_task(self.notes.hold(note))
        try:
            last = await self._steps(progress, note, what, messages)
            if last is not None and last.phase == "failed":
                logger.error("reindex.failed", extra={"requested_by": note.user, "cause": last.error})
            await self._end(last, note, what, messages)
        finally:
            await cancelled(holding)

    async def finish(self, note: ProgressNote, text: str) -> None:
        """Ends the message. Until Slack has taken the end it is kept, and whoever finds it shows it."""
        note = note.model_copy(update={"end": text})
        try:
            await self.notes.write(note)
        except StoreUnavailableError:
            logger.warning("progress.not_noted", extra={"channel": note.channel})
        if not await self._show(note, text, last=True):
            return
        try:
            await self.notes.drop(note)
        except StoreUnavailableError:  # it is found when Redis is back, and ends the same
            logger.warning("progress.not_dropped", extra={"channel": note.channel})

    async def _steps(
        self, progress: AsyncIterator[ReindexProgress], note: ProgressNote, what: str, messages: Messages
    ) -> ReindexProgress | None:
        shown_at: datetime | None = None
        step: ReindexProgress | None = None
        async for step in progress:
            if step.phase in {"done", "failed"}:
                break
            now = self.clock()
            if shown_at is None or now - shown_at >= BETWEEN_UPDATES:
                await self._show(note, progress_text(step, what, messages))
                shown_at = self.clock()
        return step

    async def _end(
        self, last: ReindexProgress | None, note: ProgressNote, what: str, messages: Messages
    ) -> None:
        """Shows the end in the message, and to the admin alone what must not stand there."""
        if last is None or last.phase not in {"done", "failed"}:
            await self.finish(note, messages.reindex_failed.format(what=what))
            return
        again = f"\n{messages.reindex_resumed}" if note.times > 1 and last.report is not None else ""
        now = self.clock()
        text = in_full = end_text(last, what, messages, user=note.user, now=now)
        if not note.channel.startswith(DIRECT):
            naming = await self.names.for_place(last.report, channel=note.channel, user=note.user)
            text = end_text(last, what, messages, user=note.user, now=now, naming=naming)
        if text != in_full:
            await self._tell_alone(note.user, in_full)
            text += f"\n{messages.rest_by_dm.format(person=f'<@{note.user}>')}"
        await self.finish(note, text + again)

    async def _post_anew(self, note: ProgressNote, text: str) -> None:
        """Posts the text below a message that is gone; where the channel is gone, to the admin alone."""
        try:
            await self.client.chat_postMessage(channel=note.channel, text=text)
        except SlackApiError:
            await self._tell_alone(note.user, text)

    async def _tell_alone(self, user: str, text: str) -> None:
        try:
            await self.client.chat_postMessage(channel=user, text=text)
        except SLACK_FAILURES as error:
            logger.warning("reindex.not_told", extra={"user": user, "cause": type(error).__name__})

    async def _show(self, note: ProgressNote, text: str, *, last: bool = False) -> bool:
        """Updates the message; the `last` text is posted anew where Slack refuses the update. Returns whether it is
        seen.
        """
        try:
            await self.client.chat_update(channel=note.channel, ts=note.ts, text=text)
        except SlackApiError as error:
            logger.warning("reindex.not_shown", extra={"code": error_code(error)})
            if last:
                await self._post_anew(note, text)
            return last
        except SLACK_FAILURES as error:
            logger.warning("reindex.not_shown", extra={"code": type(error).__name__})
            return False
        return True
