"""Whom an owner's name means in Slack: one person, or nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack import owners as module
from bot.slack.background import Background
from bot.slack.owners import Owners
from bot.slack.people import People

NOW = datetime(2026, 11, 29, tzinfo=UTC)


def a_user(user_id: str, handle: str, full: str, **told: Any) -> dict[str, Any]:
    return {
        "id": user_id,
        "team_id": "T1",
        "name": handle,
        "real_name": full,
        "profile": {"real_name": full, "display_name": told.pop("display", "")},
        **told,
    }


DANA = a_user("U0DANA1", "dana", "Dana Levi", display="Dana L")
BRAM = a_user("U0BRAM1", "bram", "Bram de Vries")
ALEX = a_user("U0ALEX1", "alex", "Alex Chen")
OTHER_ALEX = a_user("U0ALEX2", "asmith", "Alex Smith")
TWIN, OTHER_TWIN = a_user("U0TWIN1", "kim1", "Kim Park"), a_user("U0TWIN2", "kim2", "Kim Park")
GUEST = a_user("U0GUEST", "gus", "Gus Guest", is_restricted=True)
GONE = a_user("U0GONE1", "gone", "Gone Person", deleted=True)
BOT = a_user("U0ROBOT", "facilities", "Facilities", is_bot=True)
EVERYBODY = [DANA, BRAM, ALEX, OTHER_ALEX, TWIN, OTHER_TWIN, GUEST, GONE, BOT]


def refused(code: str) -> SlackApiError:
    return SlackApiError(code, {"error": code})  # type: ignore[no-untyped-call]


class Slack:
    """Two people a page. `codes`: what a method is refused with."""

    def __init__(self, users: Sequence[dict[str, Any]] = EVERYBODY, **codes: str) -> None:
        self.users = list(users)
        self.codes = codes
        self.calls: list[str] = []
        self.wait = 0.0

    def _refuse(self, method: str) -> None:
        self.calls.append(method)
        if code := self.codes.get(method):
            raise refused(code)

    async def auth_test(self) -> dict[str, Any]:
        return {"user_id": "U0BOT", "bot_id": "B0", "team_id": "T1"}

    async def users_info(self, *, user: str, include_locale: bool) -> dict[str, Any]:
        for one in self.users:
            if one["id"] == user:
                return {"user": one}
        raise refused("user_not_found")

    async def users_list(self, *, limit: int, cursor: str | None) -> dict[str, Any]:
        self._refuse("users_list")
        await asyncio.sleep(self.wait)
        at = int(cursor or 0)
        following = str(at + 2) if at + 2 < len(self.users) else ""
        return {"members": self.users[at : at + 2], "response_metadata": {"next_cursor": following}}

    async def users_lookupByEmail(self, *, email: str) -> dict[str, Any]:
        self._refuse("users_lookupByEmail")
        for one in self.users:
            if email == f"{one['name']}@havik.example":
                return {"user": one}
        raise refused("users_not_found")


def owners_in(slack: Slack, **contacts: str) -> Owners:
    client = cast("AsyncWebClient", slack)
    return Owners(
        client=client,
        people=People(client, clock=lambda: NOW),
        background=Background(),
        clock=lambda: NOW,
        contacts=lambda: contacts,
    )


async def found(owner: str | None, slack: Slack | None = None, **contacts: str) -> list[str]:
    persons = await owners_in(slack or Slack(), **contacts).of(owner=owner, page_id="handbook:a.md")
    return [one.id for one in persons]


@pytest.mark.parametrize(
    ("owner", "persons"),
    [
        ("Dana Levi", ["U0DANA1"]),
        ("dana  LEVI", ["U0DANA1"]),
        ("@dana", ["U0DANA1"]),
        ("dana", ["U0DANA1"]),
        ("Dana L", ["U0DANA1"]),
        ("dana@havik.example", ["U0DANA1"]),
        ("Dana Levi <dana@havik.example>", ["U0DANA1"]),
        ("mailto:Dana@Havik.example", ["U0DANA1"]),
        ("U0DANA1", ["U0DANA1"]),
        ("<@U0DANA1>", ["U0DANA1"]),
        ("Dana Levi, Bram de Vries", ["U0DANA1", "U0BRAM1"]),
        ("Dana Levi and Bram de Vries", ["U0DANA1", "U0BRAM1"]),
        ("dana@havik.example; bram@havik.example", ["U0DANA1", "U0BRAM1"]),
        ("Dana Levi / People team", ["U0DANA1"]),
        ("@alex", ["U0ALEX1"]),
        ("Alex Smith", ["U0ALEX2"]),
        ("Levi, Dana", ["U0DANA1"]),
        ("@dana, @bram", ["U0DANA1", "U0BRAM1"]),
        ("bram@havik.example, @dana", ["U0BRAM1", "U0DANA1"]),
    ],
)
async def test_a_name_is_matched_to_the_one_whom_it_means(owner: str, persons: list[str]) -> None:
    assert await found(owner) == persons


@pytest.mark.parametrize(
    "owner",
    [
        None,
        "",
        "@",
        "People team",
        "#modernisation-platform",
        "Dana",  # somebody's handle, and the first name of two
        "Kim Park",
        "Alex",
        "Levi",
        "Smith, Dana",
        "Gus Guest",
        "gus@havik.example",
        "U0GUEST",
        "Gone Person",
        "gone@havik.example",
        "Facilities",
        "nobody@elsewhere.example",
        "U0NOBODY",
    ],
)
async def test_a_team_a_guest_and_who_might_be_two_is_nobody(owner: str | None) -> None:
    users = [*EVERYBODY, a_user("U0DANA2", "dlund", "Dana Lund")]
    assert await found(owner, Slack(users)) == []


async def test_where_nobody_is_behind_the_name_the_sources_contact_is() -> None:
    assert await found("People team", handbook="@bram") == ["U0BRAM1"]
    assert await found(None, handbook="bram@havik.example") == ["U0BRAM1"]
    assert await found("Dana Levi", handbook="@bram") == ["U0DANA1"]
    assert await found("People team", shop="@bram") == []


async def test_without_the_scope_for_addresses_nobody_is_guessed_and_names_still_work() -> None:
    slack = Slack(users_lookupByEmail="missing_scope")
    assert await found("dana@havik.example", slack) == []
    assert await found("Dana Levi", slack) == ["U0DANA1"]


async def test_people_are_listed_once_an_hour_and_addresses_asked_once() -> None:
    slack = Slack()
    owners = owners_in(slack)
    for _ in range(3):
        await owners.of(owner="Dana Levi", page_id="handbook:a.md")
        await owners.of(owner="dana@havik.example", page_id="handbook:a.md")
    assert slack.calls.count("users_list") == 5
    assert slack.calls.count("users_lookupByEmail") == 1


async def test_a_list_that_comes_late_holds_up_no_answer_and_is_there_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 0.05)
    slack = Slack()
    slack.wait = 0.04
    background = Background()
    client = cast("AsyncWebClient", slack)
    owners = Owners(
        client=client, people=People(client, clock=lambda: NOW), background=background, clock=lambda: NOW
    )
    assert await owners.of(owner="Dana Levi", page_id="a:b") == ()
    await background.drain(grace_s=5)
    assert [one.id for one in await owners.of(owner="Dana Levi", page_id="a:b")] == ["U0DANA1"]


async def test_where_slack_refuses_or_lists_too_many_no_name_is_anybodys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert await found("Dana Levi", Slack(users_list="fatal_error")) == []
    monkeypatch.setattr(module, "MOST_PAGES", 3)
    assert await found("Dana Levi") == []
    assert await found("dana@havik.example") == ["U0DANA1"]
