"""Builds what speaks without being asked: digests by the clock, corrections after a sync."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from bot.edge.backend import Backend
from bot.listening.exactly_once import Notices
from bot.listening.threads import Threads
from bot.notices.corrections import Corrections
from bot.notices.digests import DigestReaders, Digests
from bot.slack.clients import SlackClients
from bot.slack.directory import Directory
from bot.stats.stale import StalePages
from bot.views.ask_owner import FallbackHandler
from kb.config.slack_settings import SlackSettings


def build_notices(clients: SlackClients, directory: Directory) -> Notices:
    return Notices(
        posting=clients.posting,
        reading=clients.reading,
        people=directory.people,
        threads=Threads(clients.reading, directory.people),
    )


def build_digests(
    clients: SlackClients,
    directory: Directory,
    backend: Backend,
    fallback: FallbackHandler,
    settings: SlackSettings,
    clock: Callable[[], datetime],
) -> Digests:
    return Digests(
        client=clients.reading,
        readers=DigestReaders(
            people=directory.people,
            channels=directory.channels,
            audiences=directory.audiences,
            owners=directory.owners,
        ),
        gaps=backend.gaps,
        stale=StalePages(index=backend.pages, citations=backend.analytics, clock=clock),
        exactly_once=backend.exactly_once,
        notices=build_notices(clients, directory),
        fallback=fallback,
        languages=backend.channel_settings,
        gaps_channel=settings.gaps_digest,
        to_owners=settings.owner_digest,
        clock=clock,
    )


def build_corrections(
    clients: SlackClients, directory: Directory, backend: Backend, clock: Callable[[], datetime]
) -> Corrections:
    return Corrections(
        cited=backend.cited,
        index=backend.pages,
        audiences=directory.audiences,
        settings=backend.channel_settings,
        threads=Threads(clients.reading, directory.people),
        people=directory.people,
        exactly_once=backend.exactly_once,
        notices=build_notices(clients, directory),
        syncs=backend.syncs,
        clock=clock,
    )
