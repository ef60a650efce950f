"""A reindex as one Slack message that updates itself, and always ends with how it ended."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime, timedelta

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from bot.messages import Messages
from bot.mrkdwn import escape
from kb.jobs import ReindexProgress, SyncReport

logger = logging.getLogger(__name__)

BETWEEN_UPDATES = timedelta(seconds=3)
"""Slack allows some 50 updates a minute; people read no faster than this."""

BAR = 10
SHOWN = 5
"""Pages named of each kind."""
NOT_THERE = frozenset({"not_in_channel", "channel_not_found", "is_archived", "restricted_action"})


class ProgressMessage:
    """`client` must not retry lost connections around a post."""

    def __init__(self, *, client: AsyncWebClient, clock: Callable[[], datetime]) -> None:
        self._client = client
        self._clock = clock

    async def begin(self, *, channel: str, user: str, text: str) -> tuple[str, str]:
        """Posts the message, in the channel or else to the user alone. Returns its channel and ts."""
        try:
            response = await self._client.chat_postMessage(channel=channel, text=text)
        except SlackApiError as error:
            if error.response.get("error") not in NOT_THERE:
                raise
            response = await self._client.chat_postMessage(channel=user, text=text)
        return str(response["channel"]), str(response["ts"])

    async def follow(
        self, progress: AsyncIterator[ReindexProgress], *, channel: str, ts: str, what: str, words: Messages
    ) -> ReindexProgress | None:
        """Shows each step, at most one in three seconds, and the last one always. Returns the last one."""
        shown_at: datetime | None = None
        step: ReindexProgress | None = None
        async for step in progress:
            if step.phase in {"done", "failed"}:
                break
            now = self._clock()
            if shown_at is None or now - shown_at >= BETWEEN_UPDATES:
                await self._show(channel, ts, progress_text(step, what, words))
                shown_at = self._clock()
        if step is None or step.phase not in {"done", "failed"}:
            text = words.reindex_failed.format(what=what)
        else:
            text = end_text(step, what, words, now=self._clock())
        await self._show(channel, ts, text, last=True)
        return step

    async def _show(self, channel: str, ts: str, text: str, *, last: bool = False) -> None:
        """An update that Slack does not take costs nothing but the last one, which is then posted anew."""
        try:
            await self._client.chat_update(channel=channel, ts=ts, text=text)
        except SlackApiError as error:
            logger.warning("reindex.not_shown", extra={"code": error.response.get("error")})
            if last:
                await self._client.chat_postMessage(channel=channel, text=text)
        except (SlackClientError, aiohttp.ClientError, TimeoutError) as error:
            logger.warning("reindex.not_shown", extra={"code": type(error).__name__})


def progress_text(step: ReindexProgress, what: str, words: Messages) -> str:
    if step.phase == "queued":
        return words.reindex_queued.format(what=what)
    if step.phase == "swapping":
        return words.reindex_swapping.format(what=what)
    if step.total <= 0:
        return words.reindex_reading.format(what=what)
    share = min(1.0, step.done / step.total)
    told = words.reindexing.format(
        what=what,
        bar="▓" * round(share * BAR) + "░" * (BAR - round(share * BAR)),
        percent=words.percent(share),
        done=words.number(step.done),
        total=words.number(step.total),
    )
    if step.seconds_left is None:
        return told
    return f"{told} · {words.about_left.format(time=words.lasting(step.seconds_left))}"


def end_text(step: ReindexProgress, what: str, words: Messages, *, now: datetime) -> str:
    if step.refusal is not None:
        return words.reindex_refused.format(what=what, reason=escape(step.refusal))
    if step.phase != "done" or step.report is None:
        return words.reindex_failed.format(what=what)
    seconds = step.report.seconds or (now - step.started_at).total_seconds()
    return diff_text(step.report, words, seconds=seconds)


def diff_text(report: SyncReport, words: Messages, *, seconds: float) -> str:
    """The counts and the failures by name; what a dry run would change by name too, which nothing else would show."""
    done = words.reindex_would if report.dry_run else words.reindex_done
    told = done.format(
        time=words.lasting(seconds),
        added=words.number(len(report.added)),
        changed=words.number(len(report.changed)),
        removed=words.number(len(report.removed)),
        unchanged=words.number(report.unchanged),
        failed=words.number(len(report.failed)),
    )
    if report.failed:
        told += f" ({_failures(report)})"
    lines = [told, *(f"⚠ {escape(doubt)}" for doubt in report.doubts)]
    named = (("+", report.added), ("~", report.changed), ("−", report.removed)) if report.dry_run else ()
    for mark, paths in named:
        if paths:
            lines.append(f"{mark} {_some([escape(report.named(path)) for path in paths])}")
    return "\n".join(lines)


def _failures(report: SyncReport) -> str:
    return _some([f"{escape(report.named(page.path))}: {escape(page.reason)}" for page in report.failed])


def _some(names: Sequence[str]) -> str:
    more = ", …" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"
