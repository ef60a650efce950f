"""Who may administer Footnote: by role, by name, by user group; and nobody for lack of an answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from redis.asyncio import Redis
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import SlackLimits, sample_workspace
from bot.playground.workspace import UserGroup
from bot.slack.admins import Admins, AdminStatus
from bot.slack.memberships import Memberships
from bot.slack.people import People
from tests.fakes.office import NOW, Office, open_office
from tests.fakes.playground import Playground

STEWARDS = UserGroup(id="S0STEWARDS", handle="stewards", members=("U0ALICE",))
WORKSPACE = replace(sample_workspace(), user_groups=(STEWARDS,))
ALLOWED = "• handbook\n• shop"


@pytest.fixture(params=["S0STEWARDS", "@Stewards"], ids=["by id", "by handle"])
async def office(request: pytest.FixtureRequest, redis: Redis, limits: SlackLimits) -> AsyncIterator[Office]:
    async with open_office(redis, limits, admins=(request.param,), workspace=WORKSPACE) as running:
        yield running


async def told(office: Office, user: str) -> str:
    before = len(office.slack.ephemerals(user, "#general"))
    await office.slack.command(user, "#general", "/kb", "sources")
    await office.slack.wait_for(lambda: len(office.slack.ephemerals(user, "#general")) > before)
    return str(office.slack.ephemerals(user, "#general")[-1]["text"])


async def test_members_of_a_named_user_group_are_admins_and_nobody_else(office: Office) -> None:
    assert await told(office, "alice") == ALLOWED
    assert await told(office, "dana") == ALLOWED  # an admin of the workspace
    assert (await told(office, "farid")).startswith("Sorry, only admins can do that.")


async def test_their_home_shows_how_footnote_is_used(office: Office) -> None:
    await office.slack.open_home("alice")
    await office.slack.open_home("farid")
    await office.slack.wait_for(lambda: office.slack.home("alice") and office.slack.home("farid"))
    assert "How it is used" in str(office.slack.home("alice"))
    assert "How it is used" not in str(office.slack.home("farid"))


@pytest.mark.parametrize("fault", [{"error": "missing_scope"}, {"status": 503}, {"drop": True}])
async def test_a_slack_that_does_not_tell_the_group_refuses_and_says_that_it_is_for_now(
    office: Office, fault: dict[str, object]
) -> None:
    office.slack.faults.add("usergroups.list", times=100, **fault)  # type: ignore[arg-type]
    assert (await told(office, "alice")).startswith("Slack does not tell me at the moment")
    assert await told(office, "dana") == ALLOWED  # her role needs no group
    office.slack.faults.clear()
    assert await told(office, "alice") == ALLOWED  # what failed is not remembered


async def test_a_slack_that_does_not_tell_who_asks_refuses_for_now(office: Office) -> None:
    office.slack.faults.add("users.info", error="internal_error", times=100)
    assert (await told(office, "dana")).startswith("Slack does not tell me at the moment")


class Clock:
    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now


async def test_a_group_is_asked_for_once_and_believed_for_five_minutes() -> None:
    clock = Clock()
    async with Playground(WORKSPACE, limits=SlackLimits(rate_limited=False)) as slack:
        client = AsyncWebClient(token=slack.workspace.bot_token, base_url=slack.api_url)
        people, admins = People(client, clock=clock), Admins(Memberships(client, clock=clock), ["S0STEWARDS"])

        async def standings() -> list[AdminStatus]:
            return [await admins.status_of(await people.person(one)) for one in ("U0ALICE", "U0FARID")]

        assert await standings() == ["admin", "not admin"]
        assert [call.method for call in slack.calls].count("usergroups.list") == 1
        dismissed = replace(WORKSPACE, user_groups=(replace(STEWARDS, members=("U0FARID",)),))
        slack._state.workspace = dismissed
        assert await standings() == ["admin", "not admin"]
        clock.now += timedelta(minutes=5)
        assert await standings() == ["not admin", "admin"]


async def test_without_a_named_group_no_group_is_asked_for() -> None:
    async with Playground(WORKSPACE, limits=SlackLimits(rate_limited=False)) as slack:
        client = AsyncWebClient(token=slack.workspace.bot_token, base_url=slack.api_url)
        people = People(client, clock=Clock())
        admins = Admins(Memberships(client, clock=Clock()), ["U0FARID"])
        assert await admins.status_of(await people.person("U0FARID")) == "admin"
        assert await admins.status_of(await people.person("U0ALICE")) == "not admin"
        assert "usergroups.list" not in [call.method for call in slack.calls]
