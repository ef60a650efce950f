"""The parts of the Slack edge, each built from what stands behind it: who is there, who serves what, who answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.admins import Admins
from bot.app import Rooms, SlackClients
from bot.audiences import Audiences, Wishes
from bot.backend import Backend
from bot.background import Background
from bot.channel_dialog import ChannelDialog
from bot.channels import ChannelDirectory
from bot.feedback import FeedbackDesk
from bot.home import Home
from bot.listeners import Listeners
from bot.memberships import Memberships
from bot.page_names import PageNames
from bot.people import People
from bot.progress import ProgressMessage
from bot.question import QuestionWorker
from bot.reindexing import ReindexFollower
from bot.reply import Replies
from bot.slash_command import CommandDesk
from bot.streaming import Streams
from bot.threads import Threads
from bot.why import WhyView
from kb.settings import SlackSettings


@dataclass(frozen=True, kw_only=True, slots=True)
class Directory:
    """Who and what there is in the workspace, and what may be told to whom."""

    people: People
    channels: ChannelDirectory
    admins: Admins
    audiences: Audiences


def build_directory(
    clients: SlackClients,
    settings: SlackSettings,
    clock: Callable[[], datetime],
    *,
    wishes: Wishes | None = None,
) -> Directory:
    people = People(clients.reading, clock=clock)
    channels = ChannelDirectory(clients.reading, clock=clock)
    memberships = Memberships(clients.reading, clock=clock)
    return Directory(
        people=people,
        channels=channels,
        admins=Admins(memberships, settings.admins),
        audiences=Audiences(
            channels=channels,
            people=people,
            memberships=memberships,
            outsiders=settings.outsiders,
            wishes=wishes,
        ),
    )


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


def build_rooms(
    clients: SlackClients,
    directory: Directory,
    follower: ReindexFollower,
    backend: Backend,
    settings: SlackSettings,
    clock: Callable[[], datetime],
) -> Rooms:
    people, admins, posting = directory.people, directory.admins, clients.posting
    dialog = ChannelDialog(
        reading=clients.quick,
        posting=posting,
        people=people,
        admins=admins,
        settings=backend.channel_settings,
        known=backend.reindexer,
        command=settings.command,
    )
    return Rooms(
        listeners=Listeners(
            queue=backend.queue,
            conversations=backend.conversations,
            records=backend.analytics,
            threads=Threads(clients.quick, people),
            people=people,
            clock=clock,
        ),
        desk=CommandDesk(
            posting=posting,
            people=people,
            admins=admins,
            reindexer=backend.reindexer,
            follower=follower,
            figures=backend.analytics,
            status=backend.status,
            channel_dialog=dialog,
            command=settings.command,
            clock=clock,
        ),
        channel_dialog=dialog,
        feedback=FeedbackDesk(client=posting, votes=backend.analytics, people=people),
        why=WhyView(
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
            figures=backend.analytics,
            command=settings.command,
        ),
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
        conversations=backend.conversations,
        audiences=directory.audiences,
        channels=directory.channels,
        people=people,
        threads=threads,
        replies=replies,
        streams=Streams(
            client=clients.streaming,
            replies=replies,
            background=background,
            wanted=settings.stream == "auto",
        ),
        figures=backend.analytics,
        channel_settings=backend.channel_settings,
        clock=clock,
    )
