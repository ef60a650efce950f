"""Wires the parts of the Slack app: handlers of events and buttons, and the worker that answers questions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from bot.edge.app import Handlers
from bot.edge.backend import Backend
from bot.edge.unprompted import build_notices
from bot.listening.attention import Attention
from bot.listening.listeners import Listeners
from bot.listening.question_context import ContextReader
from bot.listening.suppression import Suppression
from bot.listening.thread_reads import ThreadReads
from bot.listening.threads import Threads
from bot.questions.asking import Asking
from bot.questions.cited_answers import AllRecords
from bot.questions.ephemeral_answers import EphemeralAnswerWorker
from bot.questions.explain import ExplanationView
from bot.questions.fallbacks import Fallbacks
from bot.questions.handlers import HomeMessages, QueueHandler
from bot.questions.pane import Pane
from bot.questions.question import QuestionWorker
from bot.questions.reply import Replies
from bot.questions.retraction import Retraction
from bot.questions.streaming import Streams
from bot.questions.suggestions import Suggestions
from bot.reindexing.progress import ProgressMessage
from bot.reindexing.requests import ReindexFollower
from bot.slack.background import Background
from bot.slack.clients import SlackClients
from bot.slack.directory import Directory
from bot.slack.page_names import PageNames
from bot.stats.stale import StalePages
from bot.views.admin_views import PREFIX, AdminViews, Filling, status_filling, votes_filling
from bot.views.ask_owner import FallbackHandler
from bot.views.channel_dialog import ChannelDialog
from bot.views.feedback import FeedbackHandler
from bot.views.gap_views import gaps_filling, stale_filling
from bot.views.home import Home
from bot.views.shortcut import ShortcutHandler
from bot.views.slash_command import SlashCommandHandler
from bot.views.source_counts import SourceCounts
from kb.config.slack_settings import SlackSettings


def build_follower(
    clients: SlackClients, directory: Directory, backend: Backend, clock: Callable[[], datetime]
) -> ReindexFollower:
    return ReindexFollower(
        reindexer=backend.reindexer,
        message=ProgressMessage(
            client=clients.posting,
            names=PageNames(backend.pages, directory.audiences),
            notes=backend.notes,
            clock=clock,
        ),
        notes=backend.notes,
        people=directory.people,
        clock=clock,
    )


def build_handlers(
    clients: SlackClients,
    directory: Directory,
    follower: ReindexFollower,
    backend: Backend,
    settings: SlackSettings,
    clock: Callable[[], datetime],
) -> Handlers:
    people, admins, posting = directory.people, directory.admins, clients.posting
    asking = Asking(queue=backend.queue, people=people, clock=clock)
    fillings = gap_fillings(directory, backend, clock)
    views = AdminViews(
        client=posting,
        people=people,
        admins=admins,
        fillings={
            f"{PREFIX}status": status_filling(backend.status, clock),
            **{f"{PREFIX}{name}": filling for name, filling in fillings.items()},
            f"{PREFIX}votes": votes_filling(backend.analytics),
        },
    )
    suggestions = build_suggestions(directory, backend, clock)
    dialog = ChannelDialog(
        reading=clients.quick,
        posting=posting,
        people=people,
        admins=admins,
        settings=backend.channel_settings,
        known=backend.reindexer,
        command=settings.command,
    )
    return Handlers(
        asking=asking,
        listeners=Listeners(
            queue=backend.queue,
            conversations=backend.conversations,
            records=all_records(backend),
            attention=Attention(
                thread_reads=ThreadReads(threads=Threads(clients.quick, people)),
                known_threads=backend.known_threads,
                people=people,
                conversations=backend.conversations,
                channel_settings=backend.channel_settings,
            ),
            deferred=backend.deferred,
            people=people,
            clock=clock,
        ),
        slash_command=SlashCommandHandler(
            posting=posting,
            people=people,
            admins=admins,
            reindexer=backend.reindexer,
            follower=follower,
            figures=backend.analytics,
            status=backend.status,
            channel_dialog=dialog,
            asking=asking,
            fillings=fillings,
            command=settings.command,
            clock=clock,
        ),
        channel_dialog=dialog,
        feedback=FeedbackHandler(client=posting, votes=backend.analytics, people=people),
        explanation=ExplanationView(
            client=posting,
            traces=backend.analytics,
            people=people,
            audiences=directory.audiences,
            knowledge=backend.pipeline,
        ),
        home=Home(
            client=posting,
            people=people,
            admins=admins,
            audiences=directory.audiences,
            asking=asking,
            suggestions=suggestions,
            records=backend.analytics,
            pages=backend.pages,
            source_counts=SourceCounts(backend.pages, clock=clock),
            status=backend.status,
            views=views,
            command=settings.command,
            clock=clock,
        ),
        pane=build_pane(clients, directory, backend, suggestions),
        shortcut=ShortcutHandler(
            quick=clients.quick, asking=asking, people=people, channels=directory.channels
        ),
        admin_views=views,
        fallback=build_fallback_handler(clients, directory, backend),
    )


def gap_fillings(directory: Directory, backend: Backend, clock: Callable[[], datetime]) -> dict[str, Filling]:
    """What `gaps` and `stale` show, behind the slash command and as buttons of an admin's Home."""
    stale = StalePages(index=backend.pages, citations=backend.analytics, clock=clock)
    return {
        "gaps": gaps_filling(backend.gaps, directory.audiences, directory.channels),
        "stale": stale_filling(stale, directory.audiences),
    }


def build_fallback_handler(clients: SlackClients, directory: Directory, backend: Backend) -> FallbackHandler:
    return FallbackHandler(
        posting=clients.posting,
        reading=clients.reading,
        people=directory.people,
        audiences=directory.audiences,
        memberships=directory.memberships,
        pages=backend.pages,
        missed=backend.analytics,
        exactly_once=backend.exactly_once,
        notices=build_notices(clients, directory),
    )


def all_records(backend: Backend) -> AllRecords:
    """What is forgotten with a question that was deleted."""
    return AllRecords((backend.analytics, backend.cited))


def build_suggestions(directory: Directory, backend: Backend, clock: Callable[[], datetime]) -> Suggestions:
    return Suggestions(
        questions=backend.analytics,
        pages=backend.pages,
        audiences=directory.audiences,
        channels=directory.channels,
        clock=clock,
    )


def build_pane(
    clients: SlackClients, directory: Directory, backend: Backend, suggestions: Suggestions
) -> Pane:
    return Pane(
        quick=clients.quick,
        suggestions=suggestions,
        people=directory.people,
        threads=Threads(clients.quick, directory.people),
        conversations=backend.conversations,
    )


def build_handler(
    clients: SlackClients,
    directory: Directory,
    backend: Backend,
    background: Background,
    worker: QuestionWorker,
    pane: Pane,
    settings: SlackSettings,
    clock: Callable[[], datetime],
) -> QueueHandler:
    return QueueHandler(
        messages=worker,
        ephemeral=EphemeralAnswerWorker(
            pipeline=backend.pipeline,
            audiences=directory.audiences,
            people=directory.people,
            figures=backend.analytics,
            posting=clients.posting,
            clock=clock,
        ),
        home_messages=HomeMessages(reading=clients.reading, posting=clients.posting),
        pane=pane,
        background=background,
        answer_within=settings.answer_within,
        clock=clock,
    )


def build_worker(
    clients: SlackClients,
    directory: Directory,
    backend: Backend,
    background: Background,
    settings: SlackSettings,
    clock: Callable[[], datetime],
) -> QuestionWorker:
    people, threads = directory.people, Threads(clients.reading, directory.people)
    replies = Replies(posting=clients.posting, quick=clients.quick, threads=threads, people=people)
    return QuestionWorker(
        pipeline=backend.pipeline,
        queue=backend.queue,
        context_reader=ContextReader(conversations=backend.conversations, threads=threads, people=people),
        retraction=Retraction(
            conversations=backend.conversations,
            records=all_records(backend),
            threads=threads,
            replies=replies,
            people=people,
        ),
        audiences=directory.audiences,
        channels=directory.channels,
        people=people,
        replies=replies,
        streams=Streams(
            client=clients.streaming,
            replies=replies,
            background=background,
            wanted=settings.stream == "auto",
        ),
        figures=backend.analytics,
        cited=backend.cited,
        channel_settings=backend.channel_settings,
        fallbacks=Fallbacks(
            owners=directory.owners, channels=directory.channels, memberships=directory.memberships
        ),
        suppression=Suppression(exactly_once=backend.exactly_once),
        clock=clock,
    )
