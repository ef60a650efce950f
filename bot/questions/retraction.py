"""Deletes the answer to a deleted question, and what was remembered of it.

Our reply is deleted. Where others have written below it, so that something would
be missing there, or where Slack does not let us, it says that the question was
deleted, and nothing of what it said. May be called again: what is gone is gone.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError

from bot.listening.threads import Threads, order
from bot.messages.catalog import messages_in
from bot.questions.posted import Posted
from bot.questions.reply import Replies
from bot.queue.queued_question import QueuedQuestion
from bot.slack.errors import error_code
from bot.slack.events import Message
from bot.slack.people import People
from kb.conversation.conversations import RedisConversations
from kb.text.language import detect

logger = logging.getLogger(__name__)

NO_THREAD = frozenset({"thread_not_found", "message_not_found", "channel_not_found", "not_in_channel"})
"""There is nothing to take away, or we may not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Retraction:
    conversations: RedisConversations
    forget_record: Callable[[str], Awaitable[None]]
    threads: Threads
    replies: Replies
    people: People

    async def __call__(self, deletion: QueuedQuestion) -> None:
        """Raises only retryable errors."""
        messages = await self._thread(deletion)
        for posted in await self.replies.all_to(deletion, messages):
            await self._remove(deletion, posted, messages)
        for key in deletion.conversations:
            await self.conversations.forget(key, deletion.ts)
        await self.forget_record(deletion.message_id)

    async def _thread(self, deletion: QueuedQuestion) -> Sequence[Message]:
        try:
            return await self.threads.messages(deletion.channel, deletion.thread_ts)
        except SlackApiError as error:
            if error_code(error) not in NO_THREAD:
                raise
            return ()

    async def _remove(self, deletion: QueuedQuestion, posted: Posted, messages: Sequence[Message]) -> None:
        if posted.metadata.state == "deleted":
            return
        if not await self._others_below(deletion, posted, messages) and await self.replies.delete(
            deletion, posted.ts
        ):
            logger.info("reply.deleted", extra={"question_id": deletion.message_id})
            return
        text = messages_in(detect(posted.metadata.answer or posted.text)).question_deleted
        await self.replies.blank(deletion, posted, text)
        logger.info("reply.blanked", extra={"question_id": deletion.message_id})

    async def _others_below(
        self, deletion: QueuedQuestion, posted: Posted, messages: Sequence[Message]
    ) -> bool:
        """Tells whether anybody but the asker has written below the reply."""
        me = await self.people.me()
        return any(
            order(message.ts) > order(posted.ts) and message.user != deletion.user and not me.wrote(message)
            for message in messages
        )
