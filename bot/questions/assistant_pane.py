"""Fills the agent's pane: suggested prompts before anything was asked, and titles of its conversations.

Slack has two forms of it. As an agent (`agent_view` in the manifest) the pane is the messages tab: its
opening is `app_home_opened`, and prompts belong to the tab, since a call with a thread is silently ignored
there. The assistant's view, which older apps still have, opens a thread of its own with
`assistant_thread_started`: there a greeting and the prompts belong to the thread. Both need the scope
`assistant:write`; where Slack says that we lack it, or does not know the methods, they are not called again,
and everything else works without.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.listening.threads import Threads
from bot.messages.catalog import messages_in
from bot.questions.suggestions import Suggestions
from bot.queue.queued_question import QueuedQuestion
from bot.rendering.layout import shorten
from bot.slack.errors import SLACK_FAILURES, cause_of, error_code
from bot.slack.events import PaneOpened
from bot.slack.people import People
from bot.slack.slack_text import people_in, plain_text
from kb.conversation.conversations import RedisConversations
from kb.errors import StoreUnavailableError

logger = logging.getLogger(__name__)

PROMPTS = 4
"""Slack's limit."""
TITLE_CHARACTERS = 75
PROMPT_TITLE_CHARACTERS = 75
NO_PANE = frozenset({"unknown_method", "missing_scope", "not_allowed_token_type", "feature_not_enabled"})
"""This app or workspace has no pane, and will not have one before the app is reinstalled."""
GREETED_EVENT = "footnote_greeting"


@dataclass(kw_only=True, slots=True)
class AssistantPane:
    """`quick` must not wait: nothing here is worth waiting for."""

    quick: AsyncWebClient
    suggestions: Suggestions
    people: People
    threads: Threads
    conversations: RedisConversations
    _is_available: bool = field(default=True, init=False)

    async def opened(self, user: str, channel: str) -> None:
        """Suggests prompts when somebody opens the messages tab."""
        if self._is_available and channel:
            await self._suggest(user, channel)

    async def started(self, event: PaneOpened) -> None:
        """Greets in a thread of the assistant's view, once, however often Slack tells of it, and suggests prompts."""
        thread = event.assistant_thread
        person, me = await self.people.person(thread.user_id), await self.people.me()
        try:
            messages = await self.threads.messages(thread.channel_id, thread.thread_ts)
            if not any(message.ts != thread.thread_ts and me.wrote(message) for message in messages):
                await self.quick.chat_postMessage(
                    channel=thread.channel_id,
                    thread_ts=thread.thread_ts,
                    text=messages_in(person.locale).greeting,
                    metadata={"event_type": GREETED_EVENT, "event_payload": {"thread": thread.thread_ts}},
                )
        except SLACK_FAILURES as error:
            logger.info("pane.no_greeting", extra={"cause": cause_of(error)})
        if self._is_available:
            await self._suggest(thread.user_id, thread.channel_id, thread_ts=thread.thread_ts)

    async def entitle(self, question: QueuedQuestion) -> None:
        """Sets a conversation's title: its first question."""
        if not self._is_available or not await self._is_first(question):
            return
        names = await self.people.names(people_in(question.text))
        title = shorten(" ".join(plain_text(question.text, names).split()), TITLE_CHARACTERS)
        if title:
            await self._call(
                "title",
                self.quick.assistant_threads_setTitle,
                channel_id=question.channel,
                thread_ts=question.thread_ts,
                title=title,
            )

    async def _is_first(self, question: QueuedQuestion) -> bool:
        if question.ts == question.thread_ts:
            return True
        try:
            return not await self.conversations.load(question.conversations[0])
        except StoreUnavailableError:
            return False

    async def _suggest(self, user: str, channel: str, *, thread_ts: str | None = None) -> None:
        person = await self.people.person(user)
        messages = messages_in(person.locale)
        prompts = await self.suggestions.for_person(user, messages, language=person.language, most=PROMPTS)
        if not prompts:
            return
        place = {"thread_ts": thread_ts} if thread_ts else {}
        await self._call(
            "prompts",
            self.quick.assistant_threads_setSuggestedPrompts,
            channel_id=channel,
            title=messages.pane_prompts,
            prompts=[
                {"title": shorten(prompt, PROMPT_TITLE_CHARACTERS), "message": prompt} for prompt in prompts
            ],
            **place,
        )

    async def _call(self, what: str, method: Any, **arguments: Any) -> None:
        try:
            await method(**arguments)
        except SlackApiError as error:
            code = error_code(error)
            self._is_available = code not in NO_PANE
            logger.info("pane.refused", extra={"what": what, "code": code})
        except SLACK_FAILURES as error:
            logger.info("pane.lost", extra={"what": what, "cause": type(error).__name__})
