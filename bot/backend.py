"""What stands behind the Slack edge, each part by the port that the edge needs of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bot.channel_settings import ChannelSettingsStore
from bot.feedback import Votes
from bot.figures import StatsReader
from bot.listeners import Queue, Records
from bot.page_names import IndexedPages
from bot.progress_notes import ProgressNotes
from bot.question import Answerer, Figures
from bot.status import StatusReader
from bot.why import Knowledge, Traces
from kb.conversation import ConversationStore
from kb.jobs import Reindexer


class Analytics(Figures, Traces, Votes, StatsReader, Records, Protocol):
    """bot.analytics.Analytics, as the whole edge uses it."""


class Pipeline(Answerer, Knowledge, Protocol):
    """kb.pipeline.Pipeline, as the whole edge uses it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Backend:
    """See the module."""

    queue: Queue
    conversations: ConversationStore
    pipeline: Pipeline
    reindexer: Reindexer
    pages: IndexedPages
    notes: ProgressNotes
    analytics: Analytics
    status: StatusReader
    channel_settings: ChannelSettingsStore
