"""Groups the look-ups of a workspace: people, channels, admins, audiences, memberships, owners."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.slack.admins import Admins
from bot.slack.audiences import Audiences, SourceSelection
from bot.slack.background import Background
from bot.slack.channels import ChannelDirectory
from bot.slack.clients import SlackClients
from bot.slack.memberships import Memberships
from bot.slack.owners import Owners
from bot.slack.people import People
from kb.config.slack_settings import SlackSettings


@dataclass(frozen=True, kw_only=True, slots=True)
class Directory:
    """The look-ups of one workspace."""

    people: People
    channels: ChannelDirectory
    admins: Admins
    audiences: Audiences
    memberships: Memberships
    owners: Owners


def build_directory(
    clients: SlackClients,
    settings: SlackSettings,
    clock: Callable[[], datetime],
    *,
    background: Background,
    contacts: Callable[[], Mapping[str, str]] = dict,
    source_selection: SourceSelection | None = None,
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
            source_selection=source_selection,
        ),
        memberships=memberships,
        owners=Owners(
            client=clients.reading, people=people, background=background, clock=clock, contacts=contacts
        ),
    )
