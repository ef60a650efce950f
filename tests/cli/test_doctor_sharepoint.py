"""What `footnote doctor` says of sources on SharePoint."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.cli.checks.check import Check
from bot.cli.checks.sources import source_checks
from kb.config.settings import Settings
from tests.fakes.graph import GraphServer
from tests.fakes.graph_drive import HOST, person, site_group
from tests.fakes.sharepoint_office import SITE, Office

TITLE = f"source office, {SITE}"


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with GraphServer() as graph:
        yield Office(graph, tmp_path)


async def checked(office: Office, tmp_path: Path, **more: Any) -> dict[str, Check]:
    settings = Settings.model_validate({"data": tmp_path, "sources": [office.settings(**more)]})
    return {check.name: check for check in await source_checks(settings)}


async def test_each_library_is_told_with_the_channels_of_those_who_may_read_it(
    office: Office, tmp_path: Path
) -> None:
    found = await checked(office, tmp_path)

    assert (found[TITLE].state, found[TITLE].told) == ("ok", "Documents for #hr; Site Pages for #hr")


async def test_a_library_that_is_for_nobody_is_a_warning_that_names_the_groups_and_no_person(
    office: Office, tmp_path: Path
) -> None:
    office.documents.edit("root", permissions=[site_group("Finance"), person("Dana")])
    check = (await checked(office, tmp_path))[TITLE]

    assert check.state == "warning"
    assert "Documents for nobody" in check.told
    assert "(Finance)" in check.mend
    assert "Dana" not in repr(check)


async def test_what_is_wrong_with_the_app_or_the_settings_says_what_to_do(
    office: Office, tmp_path: Path
) -> None:
    expired = await checked(office, tmp_path, client_secret="wrong~secret")
    assert expired[TITLE].state == "broken"
    assert "SHAREPOINT_CLIENT_SECRET" in expired[TITLE].mend
    assert "wrong~secret" not in repr(expired)
    unseen = (await checked(office, tmp_path, sites=(f"https://{HOST}/sites/other",)))[
        f"source office, {HOST}/sites/other"
    ]
    assert (unseen.state, "Sites.Read.All" in unseen.mend) == ("broken", True)
    office.graph.fail("/sites/", 403, "accessDenied")
    forbidden = (await checked(office, tmp_path))[TITLE]
    assert (forbidden.state, "Sites.Read.All" in forbidden.mend) == ("broken", True)
    misspelt = (await checked(office, tmp_path, libraries=("Document",), pages=False))[TITLE]
    assert (misspelt.state, "`libraries`" in misspelt.mend) == ("broken", True)


async def test_a_doctor_does_not_wait_for_a_limit_to_end(office: Office, tmp_path: Path) -> None:
    office.graph.fail("/drives", 429, "activityLimitReached", Retry_After="300")

    assert "300 more seconds" in repr((await checked(office, tmp_path))[TITLE])


async def test_without_such_a_source_nothing_is_asked(tmp_path: Path) -> None:
    assert await source_checks(Settings.model_validate({"data": tmp_path})) == []
