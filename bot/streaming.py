"""A reply that people see come about: a status line for what is done, then the answer's sentences as they are written.

    status "searching" -> "reading 6 pages" -> startStream with the first sentences -> appendStream ...
    -> "checking" -> stopStream -> the finished answer in the place of the draft (`Replies.deliver`)

All of it is a courtesy. A task of its own makes the calls, so that none of them holds up the answer or fails it; after
the first that goes wrong the rest comes as one message, as where Slack has no streams. The draft cannot become the
answer by stopStream alone: that adds blocks below what was streamed, and what the judge took out would stay.

startStream takes no metadata. So a stream that a killed attempt left is known by having none (`bot.reply.cut_stream`),
and stopStream gives it the mark of a placeholder.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.background import Background
from bot.claims import QueuedQuestion
from bot.events import AnswerMark, as_metadata
from bot.messages import Messages
from bot.reply import UNCERTAIN, Posted, Replies
from bot.slack_errors import SLACK_FAILURES, error_code
from bot.written import as_written
from kb.answer import Citation, Sentence
from kb.answering.progress import Stage

logger = logging.getLogger(__name__)

CALL_S = 2.0
"""Seconds. No call is waited for longer."""
PACE_S = 1.0
"""Seconds between two calls of one stream."""
SETTLE_S = 0.25
"""Seconds that a step must last to be told: without a model an answer is often done before."""
CALLS_PER_S = 1.5
"""Of all streams together, at this pace: Slack takes about 100 appendStream a minute from an app."""
CALM_S = 30.0
"""Seconds without new streams after Slack said that there were too many: it takes about 20 startStream a minute."""
NO_STREAMS = frozenset(
    {"unknown_method", "missing_scope", "not_allowed_token_type", "not_allowed", "feature_not_enabled"}
)
"""Refusals that hold for the workspace, whatever is asked."""
TOO_MANY = "ratelimited"


class Streams:
    """The streams of one bot. `client` must not retry: a lost reply to startStream may hide a message."""

    def __init__(
        self,
        *,
        client: AsyncWebClient,
        replies: Replies,
        background: Background,
        wanted: bool = True,
        pace_s: float = PACE_S,
        call_s: float = CALL_S,
        settle_s: float = SETTLE_S,
    ) -> None:
        self.client = client
        self.replies = replies
        self.background = background
        self.call_s = call_s
        self.pace_s = pace_s
        self.settle_s = settle_s
        self.running = 0
        self._wanted = wanted
        self._calm_until = 0.0

    @asynccontextmanager
    async def watch(
        self, question: QueuedQuestion, words: Messages, posted: Posted | None
    ) -> AsyncIterator[LiveReply]:
        """Shows the reply to a question while the block runs. With a message there already only `finish` does anything.

        Raises:
            DeliveryUncertainError, DeliveryRefusedError: the placeholder, where there is no status to set.
        """
        live = LiveReply(self, question, words, posted)
        live.open()
        self.running += 1
        try:
            yield live
        finally:
            self.running -= 1
            await live.close()

    @property
    def available(self) -> bool:
        return self._wanted and time.monotonic() >= self._calm_until

    @property
    def pause_s(self) -> float:
        """Between two calls of one stream, the longer the more of them there are."""
        return self.pace_s * max(1.0, self.running / CALLS_PER_S)

    def refused(self, code: str) -> None:
        """Remembers what a refusal says about streams to come."""
        if code in NO_STREAMS:
            self._wanted = False
        elif code == TOO_MANY:
            self._calm_until = time.monotonic() + CALM_S


class LiveReply:
    """One question's reply while it comes about: a `kb.answering.progress.Progress`. `Streams.watch` makes it."""

    def __init__(
        self, streams: Streams, question: QueuedQuestion, words: Messages, posted: Posted | None
    ) -> None:
        self._streams = streams
        self._question = question
        self._words = words
        self._posted = posted
        self._wake = asyncio.Event()
        self._speaking = asyncio.Lock()
        self._searching: asyncio.Task[str | None] | None = None
        self._pump: asyncio.Task[None] | None = None
        self._starting: asyncio.Task[Any] | None = None
        self._status = self._told = words.searching
        self._written: tuple[Sequence[Sentence], Sequence[Citation]] = ((), ())
        self._shown = ""
        self._ts: str | None = None
        self._broken = False

    async def stage(self, stage: Stage, *, pages: int = 0) -> None:
        self._status = {
            "searching": self._words.searching,
            "reading": self._words.counted(self._words.reading, max(1, pages)),
            "writing": self._words.writing,
            "checking": self._words.checking,
        }[stage]
        self._wake.set()

    async def written(self, sentences: Sequence[Sentence], citations: Sequence[Citation]) -> None:
        self._written = (tuple(sentences), tuple(citations))
        self._wake.set()

    def open(self) -> None:
        if self._posted is None:
            searching = self._streams.replies.show_searching(self._question, self._words.searching)
            self._searching = asyncio.create_task(searching)
            self._pump = asyncio.create_task(self._show())

    async def finish(self) -> str | None:
        """Ends the show. Returns the ts of the message that the answer takes the place of, if there is one.

        Raises:
            DeliveryUncertainError, DeliveryRefusedError: see `Streams.watch`.
            slack_sdk.errors.SlackClientError, aiohttp.ClientError: nobody knows whether a stream was begun.
        """
        if self._posted is not None:
            return self._posted.ts
        await self._end_pump()
        placeholder = await self._searching if self._searching is not None else None
        if placeholder is not None:
            return placeholder
        ts = await self._begun()
        if ts is not None:
            await asyncio.gather(self._stop(ts), self._clear_status())
        return ts

    async def close(self) -> None:
        """Leaves nothing running that could still speak."""
        await self._end_pump()
        if self._searching is not None:
            await self._searching
        if self._starting is not None:
            await asyncio.wait({self._starting}, timeout=self._streams.call_s)

    async def _show(self) -> None:
        """Tells the latest, whatever came meanwhile: a slow Slack sees fewer steps, not later ones."""
        try:
            if await self._has_placeholder():
                return
            while True:
                await self._wake.wait()
                await asyncio.sleep(self._streams.settle_s)
                self._wake.clear()
                async with self._speaking:
                    await self._tell_status()
                    sent = await self._tell_text()
                if sent:
                    await asyncio.sleep(self._streams.pause_s)
        except Exception:  # nothing of the show may reach the answer
            logger.exception("stream.broke", extra={"question_id": self._question.id})

    async def _has_placeholder(self) -> bool:
        """Whether a message stands there already, or nobody knows: what failed is told by `finish`."""
        if self._searching is None:
            return False
        await asyncio.wait({self._searching})
        failed = self._searching.cancelled() or self._searching.exception() is not None
        return failed or self._searching.result() is not None

    async def _tell_status(self) -> None:
        if self._status != self._told:
            self._told = self._status
            await self._streams.replies.set_status(self._question, self._status)

    async def _tell_text(self) -> bool:
        """Sends what is new of the draft. False: there was nothing, or nothing that fits to what is shown."""
        text = as_written(*self._written)
        if self._broken or len(text) <= len(self._shown) or not text.startswith(self._shown):
            return False
        more = text[len(self._shown) :]
        self._shown = text
        if self._starting is None:
            await self._start(more)
        else:
            await self._call(
                self._streams.client.chat_appendStream(
                    channel=self._question.channel, ts=self._ts or "", markdown_text=more
                )
            )
        return True

    async def _start(self, text: str) -> None:
        if not self._streams.available:
            self._broken = True
            return
        question = self._question
        in_channel = question.channel_type != "im"
        self._starting = asyncio.create_task(
            self._streams.client.chat_startStream(
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
        """The response, or None: then the stream is over for us."""
        try:
            async with asyncio.timeout(self._streams.call_s):
                return await call
        except (*SLACK_FAILURES, OSError) as error:
            self._broken = True
            code = error_code(error) or type(error).__name__
            self._streams.refused(code)
            logger.info("stream.ended", extra={"question_id": self._question.id, "code": code})
        return None

    async def _begun(self) -> str | None:
        """The ts of the message that the stream began, also where Slack's reply to that was lost or is late."""
        starting = self._starting
        if starting is None or self._ts is not None:
            return self._ts
        await asyncio.wait({starting}, timeout=self._streams.call_s)
        error = starting.exception() if starting.done() else None
        if starting.done() and error is None:
            return str(starting.result()["ts"])
        if isinstance(error, SlackApiError) and _surely_refused(error):
            return None
        found = await self._streams.replies.find(self._question)
        ts = found.ts if found is not None else None
        if not starting.done():
            self._streams.background.start(self._take_away(starting, unless=ts), name="late stream")
            self._starting = None
        return ts

    async def _take_away(self, starting: asyncio.Task[Any], *, unless: str | None) -> None:
        """A stream that Slack began only after its answer was posted."""
        try:
            ts = str((await starting)["ts"])
            if ts != unless:
                await self._stop(ts)
                await self._streams.client.chat_delete(channel=self._question.channel, ts=ts)
        except (*SLACK_FAILURES, OSError) as error:
            code = error_code(error) or type(error).__name__
            logger.info("stream.late", extra={"question_id": self._question.id, "code": code})

    async def _stop(self, ts: str) -> None:
        mark = AnswerMark(question_id=self._question.id, question_ts=self._question.ts, state="searching")
        await self._call(
            self._streams.client.chat_stopStream(
                channel=self._question.channel, ts=ts, metadata=as_metadata(mark)
            )
        )

    async def _clear_status(self) -> None:
        """Slack clears a status when a message comes, not when one changes."""
        await self._streams.replies.set_status(self._question, "")

    async def _end_pump(self) -> None:
        """Not in the middle of a call, if that ends soon: a status that arrives after the answer would stay there."""
        if self._pump is None or self._pump.done():
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._streams.call_s), self._speaking:
                self._pump.cancel()
        self._pump.cancel()
        await asyncio.wait({self._pump})


def _heard(starting: asyncio.Task[Any]) -> None:
    """Asks for the error, which asyncio would otherwise log when nobody waits any more."""
    if not starting.cancelled():
        starting.exception()


def _surely_refused(error: SlackApiError) -> bool:
    code = error_code(error)
    return code == TOO_MANY or (code is not None and code not in UNCERTAIN)
