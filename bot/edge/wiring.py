"""Wires the parts of the Slack app, each built once from the clients, the settings and what stands behind the app."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from bot.edge.backend import Backend
from bot.listening.channel_settings import chosen
from bot.listening.exactly_once import Notices
from bot.listening.listeners import Listeners
from bot.listening.question_context import ContextReader
from bot.listening.reply_decider import ReplyDecider
from bot.listening.suppression import Suppression
from bot.listening.thread_reads import ThreadReads
from bot.listening.threads import Threads
from bot.notices.corrections import Corrections
from bot.notices.digests import Digests
from bot.questions.assistant_pane import AssistantPane
from bot.questions.ephemeral_answers import EphemeralAnswerWorker
from bot.questions.fallbacks import Fallbacks
from bot.questions.handlers import HomeMessages, QueueHandler
from bot.questions.question import QuestionWorker
from bot.questions.reply import Replies
from bot.questions.retraction import Retraction
from bot.questions.stream import StreamSupport
from bot.questions.streaming import Streams
from bot.questions.submission import QuestionSubmitter
from bot.questions.suggestions import Suggestions
from bot.reindexing.progress import ProgressMessage
from bot.reindexing.requests import ReindexFollower
from bot.slack.admins import Admins
from bot.slack.audiences import Audiences
from bot.slack.background import Background
from bot.slack.channels import ChannelDirectory
from bot.slack.clients import SlackClients
from bot.slack.memberships import Memberships
from bot.slack.owners import Owners
from bot.slack.page_names import PageNames
from bot.slack.people import People
from bot.stats.stale import StalePages
from bot.views.ask_owner import FallbackHandler
from kb.config.slack_settings import SlackSettings


@dataclass(frozen=True, kw_only=True)
class Wiring:
    """See the module."""

    clients: SlackClients
    settings: SlackSettings
    backend: Backend
    clock: Callable[[], datetime]
    background: Background = field(default_factory=Background)

    @cached_property
    def people(self) -> People:
        return People(self.clients.reading, clock=self.clock)

    @cached_property
    def channels(self) -> ChannelDirectory:
        return ChannelDirectory(self.clients.reading, clock=self.clock)

    @cached_property
    def memberships(self) -> Memberships:
        return Memberships(self.clients.reading, clock=self.clock)

    @cached_property
    def admins(self) -> Admins:
        return Admins(self.memberships, self.settings.admins)

    @cached_property
    def audiences(self) -> Audiences:
        return Audiences(
            channels=self.channels,
            people=self.people,
            memberships=self.memberships,
            outsiders=self.settings.outsiders,
            sources_of=self._sources_of,
        )

    async def _sources_of(self, channel_id: str) -> Sequence[str]:
        settings = await self.backend.channel_settings.of(channel_id)
        return chosen(settings, self.backend.reindexer.sources())

    @cached_property
    def owners(self) -> Owners:
        return Owners(
            client=self.clients.reading,
            people=self.people,
            background=self.background,
            clock=self.clock,
            contacts=self.backend.contacts,
        )

    @cached_property
    def threads(self) -> Threads:
        return Threads(self.clients.reading)

    @cached_property
    def notices(self) -> Notices:
        return Notices(
            posting=self.clients.posting,
            reading=self.clients.reading,
            people=self.people,
            threads=self.threads,
        )

    @cached_property
    def stale_pages(self) -> StalePages:
        return StalePages(index=self.backend.pages, citations=self.backend.analytics, clock=self.clock)

    @cached_property
    def submitter(self) -> QuestionSubmitter:
        return QuestionSubmitter(queue=self.backend.queue, people=self.people, clock=self.clock)

    @cached_property
    def suggestions(self) -> Suggestions:
        return Suggestions(
            questions=self.backend.analytics,
            pages=self.backend.pages,
            audiences=self.audiences,
            channels=self.channels,
            clock=self.clock,
        )

    @cached_property
    def listeners(self) -> Listeners:
        return Listeners(
            queue=self.backend.queue,
            conversations=self.backend.conversations,
            forget_record=self.backend.forget_record,
            decider=ReplyDecider(
                thread_reads=ThreadReads(threads=Threads(self.clients.quick)),
                known_threads=self.backend.known_threads,
                people=self.people,
                conversations=self.backend.conversations,
                channel_settings=self.backend.channel_settings,
            ),
            deferred=self.backend.deferred,
            people=self.people,
            clock=self.clock,
        )

    @cached_property
    def follower(self) -> ReindexFollower:
        return ReindexFollower(
            reindexer=self.backend.reindexer,
            message=ProgressMessage(
                client=self.clients.posting,
                names=PageNames(self.backend.pages, self.audiences),
                notes=self.backend.notes,
                clock=self.clock,
            ),
            notes=self.backend.notes,
            people=self.people,
            clock=self.clock,
        )

    @cached_property
    def pane(self) -> AssistantPane:
        return AssistantPane(
            quick=self.clients.quick,
            suggestions=self.suggestions,
            people=self.people,
            threads=Threads(self.clients.quick),
            conversations=self.backend.conversations,
        )

    @cached_property
    def fallback(self) -> FallbackHandler:
        return FallbackHandler(
            posting=self.clients.posting,
            reading=self.clients.reading,
            people=self.people,
            audiences=self.audiences,
            memberships=self.memberships,
            pages=self.backend.pages,
            missed=self.backend.analytics,
            exactly_once=self.backend.exactly_once,
            notices=self.notices,
        )

    @cached_property
    def worker(self) -> QuestionWorker:
        backend, people, threads = self.backend, self.people, self.threads
        replies = Replies(
            posting=self.clients.posting, quick=self.clients.quick, threads=threads, people=people
        )
        return QuestionWorker(
            pipeline=backend.pipeline,
            queue=backend.queue,
            context_reader=ContextReader(conversations=backend.conversations, threads=threads, people=people),
            retraction=Retraction(
                conversations=backend.conversations,
                forget_record=backend.forget_record,
                threads=threads,
                replies=replies,
                people=people,
            ),
            audiences=self.audiences,
            channels=self.channels,
            people=people,
            replies=replies,
            streams=Streams(
                client=self.clients.streaming,
                replies=replies,
                background=self.background,
                support=StreamSupport(wanted=self.settings.stream == "auto"),
            ),
            figures=backend.analytics,
            cited=backend.cited,
            channel_settings=backend.channel_settings,
            fallbacks=Fallbacks(owners=self.owners, channels=self.channels, memberships=self.memberships),
            suppression=Suppression(exactly_once=backend.exactly_once),
            clock=self.clock,
        )

    @cached_property
    def queue_handler(self) -> QueueHandler:
        clients = self.clients
        return QueueHandler(
            messages=self.worker,
            ephemeral=EphemeralAnswerWorker(
                pipeline=self.backend.pipeline,
                audiences=self.audiences,
                people=self.people,
                figures=self.backend.analytics,
                posting=clients.posting,
                clock=self.clock,
            ),
            home_messages=HomeMessages(reading=clients.reading, posting=clients.posting),
            pane=self.pane,
            background=self.background,
            answer_within=self.settings.answer_within,
            clock=self.clock,
        )

    @cached_property
    def digests(self) -> Digests:
        return Digests(
            client=self.clients.reading,
            people=self.people,
            channels=self.channels,
            audiences=self.audiences,
            owners=self.owners,
            gaps=self.backend.gaps,
            stale=self.stale_pages,
            exactly_once=self.backend.exactly_once,
            notices=self.notices,
            fallback=self.fallback,
            languages=self.backend.channel_settings,
            gaps_channel=self.settings.gaps_digest,
            to_owners=self.settings.owner_digest,
            clock=self.clock,
        )

    @cached_property
    def corrections(self) -> Corrections:
        return Corrections(
            cited=self.backend.cited,
            index=self.backend.pages,
            audiences=self.audiences,
            settings=self.backend.channel_settings,
            threads=self.threads,
            people=self.people,
            exactly_once=self.backend.exactly_once,
            notices=self.notices,
            syncs=self.backend.syncs,
            clock=self.clock,
        )
