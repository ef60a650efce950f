"""Shows a reply while it is written: a status line for each step, then the answer's sentences.

    status "searching" -> "reading 6 pages" -> startStream with the first sentences -> appendStream ...
    -> "checking" -> stopStream -> the finished answer in the place of the draft (`Replies.deliver`)

All of it is a courtesy. A task of its own makes the calls, so that none of them holds up the answer or fails it. The
draft does not become the answer by stopStream alone: that adds blocks below what was streamed, and what the judge took
out would stay.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from slack_sdk.web.async_client import AsyncWebClient

from bot.messages.catalog import Messages
from bot.questions.posted import Posted
from bot.questions.reply import DeliveryRefusedError, DeliveryUncertainError, Replies
from bot.questions.stream import CALL_S, Stream, StreamSupport
from bot.queue.queued_question import QueuedQuestion
from bot.rendering.partial_answer import partial_markdown
from bot.slack.background import Background
from kb.answer import Citation, Sentence
from kb.answering.progress import Stage

logger = logging.getLogger(__name__)

PACE_S = 1.0
"""Seconds between two calls of one stream."""
SETTLE_S = 0.25
"""Seconds that a step must last to be shown: without a model an answer is often ready before."""
CALLS_PER_S = 1.5
"""Calls a second, of all streams together: Slack takes about 100 appendStream a minute from an app."""


@dataclass(kw_only=True, slots=True)
class Streams:
    """Shows replies while they are written. The times are in seconds."""

    client: AsyncWebClient
    replies: Replies
    background: Background
    support: StreamSupport
    pace_s: float = PACE_S
    call_s: float = CALL_S
    settle_s: float = SETTLE_S
    running: int = field(default=0, init=False)

    @asynccontextmanager
    async def watch(
        self, question: QueuedQuestion, messages: Messages, posted: Posted | None
    ) -> AsyncIterator[LiveReply]:
        """Shows the reply while the block runs. Where a message stands already, it only yields that one."""
        live = LiveReply(self, question, messages, posted)
        live.open()
        self.running += 1
        try:
            yield live
        finally:
            self.running -= 1
            await live.close()

    def stream(self, question: QueuedQuestion) -> Stream:
        return Stream(
            question=question,
            client=self.client,
            replies=self.replies,
            support=self.support,
            background=self.background,
            call_s=self.call_s,
        )

    @property
    def pause_s(self) -> float:
        """Returns the seconds between two calls of one stream; more replies at once make them longer."""
        return self.pace_s * max(1.0, self.running / CALLS_PER_S)


class LiveReply:
    """One question's reply while it comes about: a `kb.answering.progress.Progress`. `Streams.watch` makes it."""

    def __init__(
        self, streams: Streams, question: QueuedQuestion, messages: Messages, posted: Posted | None
    ) -> None:
        self._streams = streams
        self._question = question
        self._messages = messages
        self._posted = posted
        self._stream = streams.stream(question)
        self._wake = asyncio.Event()
        self._speaking = asyncio.Lock()
        self._searching: asyncio.Task[str | None] | None = None
        self._pump: asyncio.Task[None] | None = None
        self._status = self._told = messages.searching
        self._written: tuple[Sequence[Sentence], Sequence[Citation]] = ((), ())
        self._shown = ""

    async def stage(self, stage: Stage, *, pages: int = 0) -> None:
        self._status = {
            "searching": self._messages.searching,
            "reading": self._messages.counted(self._messages.reading, max(1, pages)),
            "writing": self._messages.writing,
            "checking": self._messages.checking,
        }[stage]
        self._wake.set()

    async def written(self, sentences: Sequence[Sentence], citations: Sequence[Citation]) -> None:
        self._written = (tuple(sentences), tuple(citations))
        self._wake.set()

    def open(self) -> None:
        if self._posted is None and not self._question.unasked:  # which may end in silence
            searching = self._streams.replies.show_searching(self._question, self._messages.searching)
            self._searching = asyncio.create_task(searching)
            self._pump = asyncio.create_task(self._show(self._searching))

    async def finish(self) -> str | None:
        """Ends the show. Returns the ts of the message that the answer takes the place of, if there is one.

        Raises:
            slack_sdk.errors.SlackClientError, aiohttp.ClientError: nobody knows whether something of it
            stands in Slack.
        """
        if self._posted is not None:
            return self._posted.ts
        await self._end_pump()
        placeholder = await self._placeholder()
        if placeholder is not None:
            return placeholder
        ts = await self._stream.stop()
        if ts is not None:  # Slack clears a status when a message comes, not when one changes
            await self._streams.replies.set_status(self._question, "")
        return ts

    async def close(self) -> None:
        """Leaves nothing running that could still speak."""
        await self._end_pump()
        if self._searching is not None:
            await asyncio.wait({self._searching})
            self._searching.exception()  # retrieved, or asyncio would log it
        await self._stream.settle()

    async def _placeholder(self) -> str | None:
        """Returns the ts of the placeholder, if there is one. What went wrong with it costs the answer nothing."""
        if self._searching is None:
            return None
        try:
            return await self._searching
        except DeliveryRefusedError:
            return None
        except DeliveryUncertainError:
            found = await self._streams.replies.find(self._question)
            return found.ts if found is not None else None

    async def _show(self, searching: asyncio.Task[str | None]) -> None:
        """Tells the latest, whatever came meanwhile: a slow Slack sees fewer steps, not later ones."""
        try:
            await asyncio.wait({searching})
            if not _shows_status(searching):
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
        except Exception:  # a fault of the display must not affect the answer
            logger.exception("stream.broke", extra={"question_id": self._question.id})

    async def _tell_status(self) -> None:
        if self._status != self._told:
            self._told = self._status
            await self._streams.replies.set_status(self._question, self._status)

    async def _tell_text(self) -> bool:
        """Sends what is new of the draft. False: nothing is new, or the draft does not continue what is shown."""
        text = partial_markdown(*self._written, self._messages)
        if len(text) <= len(self._shown) or not text.startswith(self._shown):
            return False
        more = text[len(self._shown) :]
        self._shown = text
        await self._stream.show(more)
        return True

    async def _end_pump(self) -> None:
        """Cancels the show, not in the middle of a call that ends soon: a status that arrives after the answer would
        stay there.
        """
        if self._pump is None or self._pump.done():
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._streams.call_s), self._speaking:
                self._pump.cancel()
        self._pump.cancel()
        await asyncio.wait({self._pump})


def _shows_status(searching: asyncio.Task[str | None]) -> bool:
    """Tells whether there is a status, and no placeholder that the answer takes the place of."""
    if searching.cancelled() or searching.exception() is not None:  # whoever awaits it reports that
        return False
    return searching.result() is None
