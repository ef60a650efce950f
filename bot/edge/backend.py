"""Defines what the Slack app needs of queue, pipeline, index and statistics, as ports."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from bot.listening.channel_settings import ChannelSettingsStore
from bot.listening.deferred_messages import DeferredMessages
from bot.listening.exactly_once import ExactlyOnce
from bot.listening.known_threads import KnownThreads
from bot.listening.listeners import QuestionRecords, Queue
from bot.questions.answer_record import AskedReader
from bot.questions.cited_answers import CitedAnswers
from bot.questions.ports import Answerer, Deletions, EphemeralRecords, Knowledge
from bot.reindexing.progress_notes import ProgressNotes
from bot.slack.page_names import IndexedPages
from bot.stats.gaps import Gaps
from bot.stats.grown_cases import PassageReader
from bot.stats.stale import Citations
from bot.stats.stats_text import StatsReader
from bot.stats.status import StatusReader
from bot.views.ask_owner import Missed
from bot.views.feedback import Votes
from bot.views.home import HomeRecords
from kb.conversation.conversations import ConversationStore
from kb.jobs import Reindexer


class AnalyticsPort(
    Missed,
    Citations,
    EphemeralRecords,
    Votes,
    HomeRecords,
    StatsReader,
    QuestionRecords,
    AskedReader,
    Protocol,
):
    """bot.stats.analytics.Analytics, as the whole edge uses it."""


class QueuePort(Queue, Deletions, Protocol):
    """bot.queue.queue.QuestionQueue, as the whole edge uses it."""


class PipelinePort(Answerer, Knowledge, Protocol):
    """kb.pipeline.Pipeline, as the whole edge uses it."""


class IndexPort(IndexedPages, PassageReader, Protocol):
    """kb.index.port.VectorIndex, as the whole edge uses it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Backend:
    """See the module."""

    queue: QueuePort
    conversations: ConversationStore
    pipeline: PipelinePort
    reindexer: Reindexer
    pages: IndexPort
    notes: ProgressNotes
    analytics: AnalyticsPort
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
