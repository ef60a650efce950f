"""What stands behind the Slack edge, each part by the port that the edge needs of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from bot.listening.channel_settings import ChannelSettingsStore
from bot.listening.deferred_messages import DeferredMessages
from bot.listening.exactly_once import ExactlyOnce
from bot.listening.known_threads import KnownThreads
from bot.listening.listeners import QuestionRecords, Queue
from bot.notices.corrections import Library
from bot.questions.cited_answers import CitedAnswers
from bot.questions.ephemeral_answers import Records as AloneRecords
from bot.questions.explain import Knowledge, Traces
from bot.questions.question import Answerer, Deletions, Figures
from bot.reindexing.progress_notes import ProgressNotes
from bot.slack.page_names import IndexedPages
from bot.stats.gaps import Gaps
from bot.stats.stale import Citations, EveryPage
from bot.stats.stats_text import StatsReader
from bot.stats.status import StatusReader
from bot.views.admin_views import Votes as SeenVotes
from bot.views.ask_owner import Missed
from bot.views.feedback import Votes
from bot.views.home import HomeRecords
from kb.conversation.conversations import ConversationStore
from kb.jobs import Reindexer


class Analytics(
    Missed,
    Citations,
    Figures,
    AloneRecords,
    Traces,
    Votes,
    HomeRecords,
    StatsReader,
    QuestionRecords,
    SeenVotes,
    Protocol,
):
    """bot.stats.analytics.Analytics, as the whole edge uses it."""


class QuestionQueue(Queue, Deletions, Protocol):
    """bot.queue.queue.QuestionQueue, as the whole edge uses it."""


class Pipeline(Answerer, Knowledge, Protocol):
    """kb.pipeline.Pipeline, as the whole edge uses it."""


class Index(IndexedPages, EveryPage, Library, Protocol):
    """kb.index.port.VectorIndex, as the whole edge uses it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Backend:
    """See the module."""

    queue: QuestionQueue
    conversations: ConversationStore
    pipeline: Pipeline
    reindexer: Reindexer
    pages: Index
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
