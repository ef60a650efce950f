"""Posts, updates and deletes our replies in Slack; delivers each answer exactly once.

A post is never repeated blindly. Slack either refuses it (then we may post something else) or its fate is unknown; then
`DeliveryUncertainError` lets the queue start over, and the next attempt looks into the thread first.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.listening.threads import Threads
from bot.questions.posted import Posted, posted_replies
from bot.queue.queued_question import QueuedQuestion
from bot.rendering.render import Rendered, plain
from bot.slack.errors import OWN_TROUBLE, PASSING, SLACK_FAILURES, cause_of, error_code, failure_kind
from bot.slack.events import AnswerMetadata, Message, slack_metadata
from bot.slack.people import People
from kb.errors import FootnoteError
from kb.runtime.tracing import span

logger = logging.getLogger(__name__)

BLOCKS_REFUSED = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long"})
METADATA_REFUSED = frozenset({"metadata_too_large", "invalid_metadata_format", "invalid_metadata_schema"})
UPDATE_REFUSED = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
STATUS_UNKNOWN = frozenset({"unknown_method", "missing_scope", "not_allowed_token_type"})
STATUS_S = 3.0
"""Seconds. A later status tells nobody anything."""
STREAMING = "streaming_state_conflict"
"""The message is still a stream, which has to be stopped before anything else can be done to it."""
UNCERTAIN = PASSING | OWN_TROUBLE | {STREAMING}
"""After these Slack may have done the work, or not; after rate limits and a stream that does not stop it has not, but
waiting longer is the queue's business."""

GONE = "message_not_found"

FORMS = 5
"""Forms of a message that are tried: whole, without blocks, without what its metadata remembers, after its stream was
stopped, and posted where it cannot be updated."""


class DeliveryUncertainError(FootnoteError):
    """Slack did not say whether it took the message."""


class DeliveryRefusedError(FootnoteError):
    """Slack refused the message for good. `code` is Slack's error code."""

    def __init__(self, code: str) -> None:
        super().__init__(f"Slack refused the message: {code}")
        self.code = code


@dataclass(kw_only=True, slots=True)
class Replies:
    """`posting` must not retry lost connections, `quick` must not wait; see `bot.slack.clients`.

    `posts`: what became of each message that was to be delivered: "posted", "uncertain" or "refused".
    """

    posting: AsyncWebClient
    quick: AsyncWebClient
    threads: Threads
    people: People
    posts: Counter[str] = field(default_factory=Counter, init=False)
    _status_known: bool = field(default=True, init=False)

    async def find(self, question: QueuedQuestion) -> Posted | None:
        """Finds our reply to this message, whatever its state: an answer before a placeholder, a stream that was cut
        last.
        """
        found = await self.all_to(question, await self.thread_of(question))
        return min(found, key=lambda posted: posted.metadata.state != "answered", default=None)

    async def thread_of(self, question: QueuedQuestion) -> list[Message]:
        """Reads its thread, oldest message first. Raises slack_sdk's errors when Slack cannot be asked."""
        return await self.threads.messages(question.channel, question.thread_ts)

    async def all_to(self, question: QueuedQuestion, messages: Sequence[Message]) -> list[Posted]:
        """Finds all of our replies to one message among those of its thread."""
        return posted_replies(question, messages, await self.people.me())

    async def show_searching(self, question: QueuedQuestion, text: str) -> str | None:
        """Shows that we are working on it: by Slack's status, else by a placeholder, whose ts is returned."""
        if self._status_known and await self.set_status(question, text):
            return None
        metadata = AnswerMetadata(question_id=question.id, question_ts=question.ts, state="searching")
        return await self.deliver(question, plain(text), metadata)

    async def set_status(self, question: QueuedQuestion, text: str) -> bool:
        """Sets the status of a thread. False: this place has none. A status that gets lost is no reason for a
        placeholder.
        """
        try:
            async with asyncio.timeout(STATUS_S):
                await self.quick.assistant_threads_setStatus(
                    channel_id=question.channel, thread_ts=question.thread_ts, status=text
                )
        except SlackApiError as error:
            code = _code(error)
            logger.info("status.refused", extra={"question_id": question.id, "code": code})
            self._status_known = code not in STATUS_UNKNOWN
            return code in UNCERTAIN
        except SLACK_FAILURES as error:
            logger.info("status.lost", extra={"question_id": question.id, "cause": type(error).__name__})
        return True

    async def deliver(
        self,
        question: QueuedQuestion,
        rendered: Rendered,
        metadata: AnswerMetadata,
        *,
        instead_of: str | None = None,
    ) -> str:
        """Posts into the question's thread, or puts the message in the place of `instead_of`. Returns its ts.

        Raises:
            DeliveryUncertainError: the message may be there or not: look before trying again.
            DeliveryRefusedError: it is not there and will not be.
        """
        with span("post", state=metadata.state):
            try:
                ts = await self._delivered(question, rendered, metadata, instead_of)
            except DeliveryUncertainError:
                self.posts["uncertain"] += 1
                raise
            except DeliveryRefusedError:
                self.posts["refused"] += 1
                raise
        self.posts["posted"] += 1
        return ts

    async def _delivered(
        self, question: QueuedQuestion, rendered: Rendered, metadata: AnswerMetadata, instead_of: str | None
    ) -> str:
        message: dict[str, Any] = {
            "text": rendered.text,
            "blocks": list(rendered.blocks),
            "metadata": slack_metadata(metadata),
        }
        stopped = False
        for _ in range(FORMS):
            try:
                return await self._send(question, message, instead_of)
            except SlackApiError as error:
                code = _code(error)
                logger.warning("reply.refused", extra={"question_id": question.id, "code": code})
                if code in BLOCKS_REFUSED and message["blocks"]:
                    message |= {"blocks": []}
                elif code in METADATA_REFUSED and (metadata.answer or metadata.cited):
                    metadata = metadata.model_copy(update={"answer": None, "cited": ()})
                    message |= {"metadata": slack_metadata(metadata)}
                elif code in UPDATE_REFUSED and instead_of is not None:
                    await self._remove(question, instead_of)
                    instead_of = None
                elif code == STREAMING and instead_of is not None and not stopped:
                    stopped = await self._stop_stream(question, instead_of)
                elif _is_uncertain(error):
                    raise DeliveryUncertainError(code) from error
                else:
                    raise DeliveryRefusedError(code) from error
            except (*SLACK_FAILURES, OSError) as error:
                raise DeliveryUncertainError(type(error).__name__) from error
        raise DeliveryRefusedError("every form of the message")

    async def _stop_stream(self, question: QueuedQuestion, ts: str) -> bool:
        """Stops a stream. Always True: if it did not help, the update that follows says so."""
        try:
            await self.posting.chat_stopStream(channel=question.channel, ts=ts)
        except (*SLACK_FAILURES, OSError) as error:
            cause = cause_of(error)
            logger.warning("reply.stream_not_stopped", extra={"question_id": question.id, "code": cause})
        return True

    async def _remove(self, question: QueuedQuestion, ts: str) -> None:
        """Deletes a message that cannot be updated, before another is posted: nobody gets two replies."""
        try:
            await self.posting.chat_delete(channel=question.channel, ts=ts)
        except (*SLACK_FAILURES, OSError) as error:
            cause = cause_of(error)
            logger.info("reply.not_taken_away", extra={"question_id": question.id, "code": cause})

    async def delete(self, question: QueuedQuestion, ts: str) -> bool:
        """Deletes a reply. False: Slack does not let us.

        Raises:
            DeliveryUncertainError: it may be there still.
        """
        try:
            async with self._changing(question, ts):
                await self.posting.chat_delete(channel=question.channel, ts=ts)
        except SlackApiError as error:
            code = _code(error)
            if code != GONE:
                logger.info("reply.not_deleted", extra={"question_id": question.id, "code": code})
            return code == GONE
        return True

    async def blank(self, question: QueuedQuestion, posted: Posted, text: str) -> None:
        """Replaces a reply by a line that its question was deleted.

        Raises:
            DeliveryUncertainError: it may still say what it said.
        """
        metadata = AnswerMetadata(question_id=question.id, question_ts=question.ts, state="deleted")
        try:
            async with self._changing(question, posted.ts):
                await self.posting.chat_update(
                    channel=question.channel,
                    ts=posted.ts,
                    text=text,
                    blocks=[],
                    metadata=slack_metadata(metadata),
                )
        except SlackApiError as error:
            logger.warning("reply.not_blanked", extra={"question_id": question.id, "code": _code(error)})

    @asynccontextmanager
    async def _changing(self, question: QueuedQuestion, ts: str) -> AsyncIterator[None]:
        """Wraps a call that changes a message; lets `SlackApiError` through where Slack refused it for certain.

        Raises:
            DeliveryUncertainError: the message may have been changed.
        """
        try:
            yield
        except SlackApiError as error:
            if _code(error) == STREAMING:
                await self._stop_stream(question, ts)
            if _is_uncertain(error):
                raise DeliveryUncertainError(_code(error)) from error
            raise
        except (*SLACK_FAILURES, OSError) as error:
            raise DeliveryUncertainError(type(error).__name__) from error

    async def tell_directly(self, user: str, text: str) -> None:
        """Sends a direct message, for what cannot be said in the channel."""
        await self.posting.chat_postMessage(channel=user, text=text, unfurl_links=False, unfurl_media=False)

    async def _send(self, question: QueuedQuestion, message: dict[str, Any], instead_of: str | None) -> str:
        if instead_of is not None:
            await self.posting.chat_update(channel=question.channel, ts=instead_of, **message)
            return instead_of
        response = await self.posting.chat_postMessage(
            channel=question.channel,
            thread_ts=question.thread_ts,
            unfurl_links=False,
            unfurl_media=False,
            **message,
        )
        return str(response["ts"])


def _is_uncertain(error: SlackApiError) -> bool:
    return _code(error) == STREAMING or failure_kind(error) != "lasting"


def _code(error: SlackApiError) -> str:
    """Returns Slack's error code; "internal_error" where the reply was not Slack's JSON."""
    return error_code(error) or "internal_error"
