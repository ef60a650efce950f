"""Access control: builds the audience of a question from where and by whom it is asked. `docs/permissions.md` shows
the rules as a table.

A channel is a place where others read along: only what everyone, or this very channel, may read is told there,
whoever asks. In a direct message nobody reads along: the asker's own channels and user groups count.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from bot.slack.channels import Channel, ChannelDirectory
from bot.slack.memberships import Membership, Memberships
from bot.slack.people import People, Person
from kb.config.slack_settings import Outsiders
from kb.errors import UnavailableError
from kb.models import Audience

NO_MEMBERSHIP: Membership = Membership()
FORM = Person(id="", name="")
"""Who asks by a form, which does not say who filled it in: forms are
made by members, for those who are in the channel.
"""
DIRECT = Channel(id="", name=None, kind="im")


class AudienceUnknownError(UnavailableError):
    """Slack does not tell what kind of place this is, or who asks: nothing can be told there for now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Audiences:
    """`outsiders`: what guests, and channels that are shared with other organisations,
    may read. `sources_of`: a channel's id -> the names of the sources that it has chosen, empty for all.
    """

    channels: ChannelDirectory
    people: People
    memberships: Memberships
    outsiders: Outsiders = "marked"
    sources_of: Callable[[str], Awaitable[Sequence[str]]] | None = None

    async def of(self, channel_id: str, user_id: str) -> Audience:
        """Returns the audience of a question that `user_id` asks in `channel_id`.

        Raises:
            AudienceUnknownError: Slack does not tell what it depends on.
        """
        channel = await self.channels.describe(channel_id)
        person = await self.people.person(user_id) if user_id else FORM
        if not (channel.known and person.known):
            unknown = person if channel.known else channel
            raise AudienceUnknownError(
                f"Slack does not tell who reads along in {channel_id}"
            ) from unknown.error
        membership = await self.memberships.of(user_id) if channel.kind == "im" else NO_MEMBERSHIP
        audience = audience_of(channel, person, membership, outsiders=self.outsiders)
        wanted = await self.sources_of(channel_id) if self.sources_of is not None else ()
        return replace(audience, sources=frozenset(wanted)) if wanted else audience

    async def for_person(self, user_id: str) -> Audience:
        """Returns the audience of an answer that only this person sees: that of a direct message with them.

        Raises:
            AudienceUnknownError: Slack does not tell who it is.
        """
        person = await self.people.person(user_id)
        if not person.known:
            raise AudienceUnknownError(f"Slack does not tell who {user_id} is") from person.error
        membership = await self.memberships.of(user_id)
        return audience_of(DIRECT, person, membership, outsiders=self.outsiders)


def audience_of(
    channel: Channel, person: Person, membership: Membership, *, outsiders: Outsiders = "marked"
) -> Audience:
    """Applies the rules. Pure. `membership` counts in a direct message only."""
    outside = person.outsider or channel.shared or channel.kind == "unknown"
    everyone = not outside or (outsiders == "open" and channel.kind != "unknown")
    match channel.kind:
        case "im":
            return Audience(everyone=everyone, channels=membership.channels, groups=membership.groups)
        case "mpim":
            return Audience(everyone=everyone)
        case _:
            named = {f"#{channel.name}"} if channel.name and not channel.shared else set()
            return Audience(everyone=everyone, channels=frozenset({channel.id} | named))
