"""What stands behind the Slack edge, each part by the port that the edge needs of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from bot.admin_views import Votes as SeenVotes
from bot.alone import Records as AloneRecords
from bot.ask_owner import Missed
from bot.channel_settings import ChannelSettingsStore
from bot.cited_answers import CitedAnswers
from bot.corrections import Library
from bot.feedback import Votes
from bot.figures import StatsReader
from bot.gaps import Gaps
from bot.home import Records as HomeRecords
from bot.known_threads import KnownThreads
from bot.listeners import Queue, Records
from bot.once import Once
from bot.page_names import IndexedPages
from bot.progress_notes import ProgressNotes
from bot.question import Answerer, Deletions, Figures
from bot.stale import Citations, EveryPage
from bot.status import StatusReader
from bot.unread import UnreadMessages
from bot.why import Knowledge, Traces
from kb.conversation import ConversationStore
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
    Records,
    SeenVotes,
    Protocol,
):
    """bot.analytics.Analytics, as the whole edge uses it."""


class QuestionQueue(Queue, Deletions, Protocol):
    """bot.queue.QuestionQueue, as the whole edge uses it."""


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
    unread: UnreadMessages
    gaps: Gaps
    once: Once
    cited: CitedAnswers
    syncs: Callable[[], Awaitable[object]]
    """Which syncs have ended, as `bot.corrections` reads it."""
    contacts: Callable[[], Mapping[str, str]]
    """Source -> whom to ask about its pages, as `bot.owners` reads it."""
