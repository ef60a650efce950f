"""Streams one message to Slack: starts it with its first text, appends, stops; notes whether the workspace takes
streams.

A call is made once. After the first that fails, or is late, the stream is over for us: the finished answer takes the
place of what was shown. Whether a message was begun is then found out, because Slack may have done what it did not
answer.

startStream takes no metadata. So a stream that a killed attempt left is known by having
none (`bot.questions.posted.cut_stream`), and stopStream gives it the mark of a placeholder.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.questions.reply import UNCERTAIN, Replies
from bot.queue.queued_question import QueuedQuestion
from bot.slack.background import Background
from bot.slack.errors import SLACK_FAILURES, cause_of, error_code
from bot.slack.events import AnswerMetadata, slack_metadata

logger = logging.getLogger(__name__)

CALL_S = 2.0
"""Seconds. No call is waited for longer."""
CALM_S = 30.0
"""Seconds without new streams after Slack said that there were too many: it takes about 20 startStream a minute."""
NO_STREAMS = frozenset(
    {"unknown_method", "missing_scope", "not_allowed_token_type", "not_allowed", "feature_not_enabled"}
)
"""Refusals that hold for the workspace, whatever is asked."""
TOO_MANY = "ratelimited"


@dataclass(kw_only=True, slots=True)
class StreamSupport:
    """Knows whether the workspace takes streams now, from its refusals so far."""

    wanted: bool
    _calm_until: float = field(default=0.0, init=False)

    def available(self, at: float | None = None) -> bool:
        """Tells whether a stream may begin `at` a time of the monotonic clock; now where none is given."""
        return self.wanted and (time.monotonic() if at is None else at) >= self._calm_until

    def refused(self, code: str) -> None:
        if code in NO_STREAMS:
            self.wanted = False
        elif code == TOO_MANY:
            self._calm_until = time.monotonic() + CALM_S


@dataclass(kw_only=True, slots=True)
class Stream:
    """The stream of one question. `client` must not retry: a lost reply to startStream may hide a message."""

    question: QueuedQuestion
    client: AsyncWebClient
    replies: Replies
    support: StreamSupport
    background: Background
    call_s: float
    _starting: asyncio.Task[Any] | None = field(default=None, init=False)
    _ts: str | None = field(default=None, init=False)
    _over: bool = field(default=False, init=False)

    async def show(self, text: str) -> None:
        """Adds Markdown to what is shown; nothing once a call has failed."""
        if self._over:
            return
        if self._starting is None:
            await self._start(text)
        else:
            await self._call(
                self.client.chat_appendStream(
                    channel=self.question.channel, ts=self._ts or "", markdown_text=text
                )
            )

    async def stop(self) -> str | None:
        """Ends the stream and returns the ts of its message; None where none was begun.

        Raises:
            slack_sdk.errors.SlackClientError, aiohttp.ClientError: nobody knows whether one was begun.
        """
        self._over = True
        ts = await self._begun()
        if ts is not None:
            await self._stop(ts)
        return ts

    async def settle(self) -> None:
        """Waits for what may still begin, so that whoever reads the thread next finds it."""
        if self._starting is not None:
            await asyncio.wait({self._starting}, timeout=self.call_s)

    async def _start(self, text: str) -> None:
        if not self.support.available():
            self._over = True
            return
        question = self.question
        in_channel = question.channel_type != "im"
        self._starting = asyncio.create_task(
            self.client.chat_startStream(
                channel=question.channel,
                thread_ts=question.thread_ts,
                markdown_text=text,
                recipient_team_id=question.team if in_channel else None,
                recipient_user_id=question.user if in_channel else None,
            )
        )
        self._starting.add_done_callback(_heard)
        # Not cancelled when it is late: the message may come all the same, and then its ts is needed.
        response = await self._call(asyncio.shield(self._starting))
        self._ts = str(response["ts"]) if response is not None else None

    async def _call(self, call: Awaitable[Any]) -> Any:
        """Returns the response, or None: then the stream is over for us."""
        try:
            async with asyncio.timeout(self.call_s):
                return await call
        except (*SLACK_FAILURES, OSError) as error:
            self._over = True
            code = cause_of(error)
            self.support.refused(code)
            logger.info("stream.ended", extra={"question_id": self.question.id, "code": code})
        return None

    async def _begun(self) -> str | None:
        """Returns the ts of the message that was begun, also where Slack's reply to that was lost or is late."""
        starting, self._starting = self._starting, None
        if starting is None or self._ts is not None:
            return self._ts
        await asyncio.wait({starting}, timeout=self.call_s)
        error = starting.exception() if starting.done() else None
        if starting.done() and error is None:
            return str(starting.result()["ts"])
        if isinstance(error, SlackApiError) and _surely_refused(error):
            return None
        found = await self.replies.find(self.question)
        ts = found.ts if found is not None else None
        if not starting.done():
            self.background.start(self._remove(starting, unless=ts), name="late stream")
        return ts

    async def _stop(self, ts: str) -> None:
        metadata = AnswerMetadata(
            question_id=self.question.id, question_ts=self.question.ts, state="searching"
        )
        await self._call(
            self.client.chat_stopStream(
                channel=self.question.channel, ts=ts, metadata=slack_metadata(metadata)
            )
        )

    async def _remove(self, starting: asyncio.Task[Any], *, unless: str | None) -> None:
        """Removes a stream that Slack began only after its answer was posted."""
        try:
            ts = str((await starting)["ts"])
            if ts != unless:
                await self._stop(ts)
                await self.client.chat_delete(channel=self.question.channel, ts=ts)
        except (*SLACK_FAILURES, OSError) as error:
            code = cause_of(error)
            logger.info("stream.late", extra={"question_id": self.question.id, "code": code})


def _heard(starting: asyncio.Task[Any]) -> None:
    """Retrieves the error, which asyncio would otherwise log once nobody awaits the task."""
    if not starting.cancelled():
        starting.exception()


def _surely_refused(error: SlackApiError) -> bool:
    code = error_code(error)
    return code == TOO_MANY or (code is not None and code not in UNCERTAIN)
