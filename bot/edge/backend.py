"""Holds what the Slack app needs of queue, pipeline, index and statistics."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from bot.listening.channel_settings import ChannelSettingsStore
from bot.listening.deferred_messages import DeferredMessages
from bot.listening.exactly_once import ExactlyOnce
from bot.listening.known_threads import KnownThreads
from bot.questions.cited_answers import CitedAnswers
from bot.questions.ports import PipelinePort
from bot.queue.queue import QuestionQueue
from bot.reindexing.progress_notes import ProgressNotes
from bot.stats.analytics import Analytics
from bot.stats.gaps import Gaps
from bot.stats.status import StatusReader
from kb.conversation.conversations import RedisConversations
from kb.index.port import VectorIndex
from kb.jobs import Reindexer


@dataclass(frozen=True, kw_only=True, slots=True)
class Backend:
    """See the module."""

    queue: QuestionQueue
    conversations: RedisConversations
    pipeline: PipelinePort
    reindexer: Reindexer
    pages: VectorIndex
    notes: ProgressNotes
    analytics: Analytics
    status: StatusReader
    channel_settings: ChannelSettingsStore
    known_threads: KnownThreads
    deferred: DeferredMessages
    gaps: Gaps
    exactly_once: ExactlyOnce
    cited: CitedAnswers
    syncs: Callable[[], Awaitable[object]]
    """Which syncs have ended, as `bot.notices.corrections` reads it."""
    contacts: Callable[[], Mapping[str, str]]
    """Source -> whom to ask about its pages, as `bot.slack.owners` reads it."""

    async def forget_record(self, question_id: str) -> None:
        """Deletes what is kept of the answer to a question. May be called again.

        Raises:
            StoreUnavailableError: Redis does not answer.
        """
        await self.analytics.forget(question_id)
        await self.cited.forget(question_id)
