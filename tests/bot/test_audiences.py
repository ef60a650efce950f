"""What may be told where: the rules, and what Slack's silence means for them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import SlackLimits, sample_workspace
from bot.playground.workspace import UserGroup, Workspace
from bot.playground.workspace import WorkspaceChannel as Room
from bot.playground.workspace import WorkspaceUser as Account
from bot.slack.audiences import Audiences, AudienceUnknownError, audience_of
from bot.slack.channels import Channel, ChannelDirectory, channel_from_slack
from bot.slack.memberships import Membership, Memberships
from bot.slack.people import People, Person
from kb.models import EVERYONE, Audience
from tests.fakes.playground import Playground

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
ALICE = Person(id="U1", name="alice")
GUEST = Person(id="U2", name="guest", outsider=True)
MINE = Membership(channels=frozenset({"C1", "#finance"}), groups=frozenset({"S1", "@controllers"}))
PUBLIC = Channel(id="C9", name="general", kind="channel")
PRIVATE = Channel(id="G9", name="leads", kind="group")
SHARED = Channel(id="C8", name="partners", kind="channel", shared=True)
DIRECT = Channel(id="D9", name=None, kind="im")
TOGETHER = Channel(id="M9", name=None, kind="mpim")


def marks(channel: Channel, person: Person = ALICE, **options: Any) -> set[str]:
    return set(audience_of(channel, person, MINE, **options).principals)


def test_in_a_channel_neither_the_askers_channels_nor_their_groups_count() -> None:
    assert marks(PUBLIC) == {EVERYONE, "C9", "#general"}
    assert marks(PRIVATE) == {EVERYONE, "G9", "#leads"}


def test_in_a_direct_message_the_askers_channels_and_groups_count() -> None:
    assert marks(DIRECT) == {EVERYONE, "C1", "#finance", "S1", "@controllers"}


def test_among_several_people_only_everyones_pages_are_told() -> None:
    assert marks(TOGETHER) == {EVERYONE}


def test_a_channel_that_others_share_sees_pages_marked_with_its_id_only() -> None:
    assert marks(SHARED) == {"C8"}
    assert marks(replace(PRIVATE, shared=True)) == {"G9"}
    assert marks(SHARED, outsiders="open") == {EVERYONE, "C8"}


def test_a_guest_sees_pages_marked_for_their_channels_only() -> None:
    assert marks(PUBLIC, GUEST) == {"C9", "#general"}
    assert marks(DIRECT, GUEST) == {"C1", "#finance", "S1", "@controllers"}
    assert EVERYONE not in marks(TOGETHER, GUEST)
    assert marks(DIRECT, GUEST, outsiders="open") == marks(DIRECT)


def test_a_place_that_is_unknown_sees_nothing_but_what_names_it() -> None:
    nowhere = Channel(id="C7", name=None, kind="unknown")
    assert marks(nowhere) == marks(nowhere, outsiders="open") == {"C7"}


def test_an_audience_without_marks_names_a_mark_that_no_page_has() -> None:
    nobody = Audience(everyone=False)
    assert nobody.principals
    assert not nobody.may_read([EVERYONE, "C1", "#general", "@finance"])


@pytest.fixture
async def slack() -> AsyncIterator[Playground]:
    sample = sample_workspace()
    bot = sample.bot_user_id
    workspace: Workspace = replace(
        sample,
        people=(
            *sample.people,
            Account(id="U0GUEST", name="guest", real_name="Gus Guest", is_guest=True),
            Account(id="U0OTHER", name="other", real_name="Ottilie Other", team_id="T0OTHER"),
        ),
        channels=(
            *sample.channels,
            Room(
                id="C0PARTNERS",
                name="partners",
                is_shared=True,
                members=("U0ALICE", "U0GUEST", "U0OTHER", bot),
            ),
        ),
        user_groups=(UserGroup(id="S0PAY", handle="Payroll", members=("U0ALICE",)),),
    )
    async with Playground(workspace, limits=SlackLimits(rate_limited=False)) as running:
        yield running


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


def asking(slack: Playground, clock: Callable[[], datetime]) -> Audiences:
    client = AsyncWebClient(token=slack.workspace.bot_token, base_url=slack.api_url)
    return Audiences(
        channels=ChannelDirectory(client, clock=clock),
        people=People(client, clock=clock),
        memberships=Memberships(client, clock=clock),
    )


async def test_slack_tells_channels_and_groups_and_which_channels_others_share(slack: Playground) -> None:
    audiences = asking(slack, Clock())
    alice = set((await audiences.of(slack.dm("alice"), "U0ALICE")).principals)
    assert {EVERYONE, "G0PEOPLE", "#people-leads", "S0PAY", "@payroll", "C0PARTNERS"} <= alice
    assert alice.isdisjoint({"#partners", "G0BOARD", "#board"})
    bram = set((await audiences.of(slack.dm("bram"), "U0BRAM")).principals)
    assert bram.isdisjoint({"G0PEOPLE", "#people-leads", "S0PAY", "@payroll"})
    assert (await audiences.of("C0PARTNERS", "U0ALICE")).principals == ["C0PARTNERS"]


@pytest.mark.parametrize(
    ("told", "shared"),
    [
        ({"is_ext_shared": True}, True),
        ({"is_pending_ext_shared": True}, True),
        ({"pending_shared": ["T0OTHER"]}, True),
        ({"pending_connected_team_ids": ["T0OTHER"]}, True),
        ({"is_shared": True}, True),
        ({"is_shared": True, "is_org_shared": True, "is_ext_shared": True}, True),
        ({"is_shared": True, "is_org_shared": True}, False),
        ({"pending_shared": [], "pending_connected_team_ids": [], "is_shared": False}, False),
    ],
)
def test_whatever_says_that_others_read_a_channel_is_believed(told: dict[str, Any], shared: bool) -> None:
    assert channel_from_slack({"name": "partners", **told}, "C0PARTNERS").shared is shared


async def test_guests_and_people_of_another_organisation_are_outsiders(slack: Playground) -> None:
    audiences = asking(slack, Clock())
    for user in ("U0GUEST", "U0OTHER"):
        assert EVERYONE not in (await audiences.of("C0GENERAL", user)).principals
        assert (await audiences.of(slack.dm(user), user)).principals == ["C0PARTNERS"]
    assert EVERYONE not in (await audiences.of("C0GENERAL", "U0NOBODY")).principals


async def test_what_slack_does_not_tell_about_groups_is_no_membership(slack: Playground) -> None:
    slack.faults.add("usergroups.list", error="missing_scope")
    slack.faults.add("users.conversations", error="missing_scope")
    audience = await asking(slack, Clock()).of(slack.dm("alice"), "U0ALICE")
    assert audience.principals == [EVERYONE]


async def test_a_place_that_slack_does_not_tell_about_is_no_answer_rather_than_a_guess(
    slack: Playground,
) -> None:
    slack.faults.add("conversations.info", error="internal_error")
    with pytest.raises(AudienceUnknownError):
        await asking(slack, Clock()).of("C0GENERAL", "U0ALICE")
    slack.faults.add("users.info", error="internal_error")
    with pytest.raises(AudienceUnknownError):
        await asking(slack, Clock()).of("C0GENERAL", "U0ALICE")


async def test_a_membership_is_believed_for_minutes_only(slack: Playground) -> None:
    clock = Clock()
    audiences, direct = asking(slack, clock), slack.dm("bram")
    assert "#random" in (await audiences.of(direct, "U0BRAM")).channels
    slack._state.rooms["C0RANDOM"].members.remove("U0BRAM")
    assert "#random" in (await audiences.of(direct, "U0BRAM")).channels
    clock.now += timedelta(minutes=5)
    assert "#random" not in (await audiences.of(direct, "U0BRAM")).channels
