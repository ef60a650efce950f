"""Who may read what is in SharePoint: closed by default, opened by the table of the settings."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ingest.sources.port import PageRef
from tests.fakes.graph import GraphServer
from tests.fakes.graph_drive import all_of_the_tenant, group, link, person, site_group
from tests.fakes.listing import failure, listed
from tests.fakes.sharepoint_office import LEAVE, Office

HR_ID = "0f1e2d3c-aaaa-bbbb-cccc-000000000001"
TABLE = {
    "HR Members": ("#hr",),
    HR_ID: ("#hr-team",),
    "leads@acme.com": ("#leads", "#hr"),
    "Board Owners": ("#board",),
    "organization": ("everyone",),
}


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with GraphServer() as graph:
        office = Office(graph, tmp_path)
        yield office
        await office.close()


async def audience(office: Office, *permissions: dict[str, Any]) -> tuple[str, ...] | str | None:
    """Of a page with these permissions, as it is listed and as it is read; the reason where it is closed."""
    item = office.documents.add("Leave.md", LEAVE, permissions=list(permissions))
    source = office.source(readers=TABLE)
    ref = (await listed(source))[office.path(item)]
    if ref.revision is None:
        error = await failure(source, ref)
        assert (error.withdraw, error.left_out) == (True, True)
        assert (await failure(office.source(readers=TABLE), ref)).reason == error.reason
        return error.reason
    raw = await source.fetch(ref)
    assert raw.revision == ref.revision
    return raw.audience


@pytest.mark.parametrize(
    ("permissions", "expected"),
    [
        ([site_group("HR Members")], ("#hr",)),
        ([site_group("hr members", role="write")], ("#hr",)),
        ([group("People", HR_ID)], ("#hr-team",)),
        ([group("Leads", "another id")], ("#hr", "#leads")),
        ([site_group("HR Members"), group("People", HR_ID), person("Dana")], ("#hr", "#hr-team")),
        ([group("Board Owners", HR_ID, owners=True)], ("#board",)),
        ([link("users", group("Leads", "another id"))], ("#hr", "#leads")),
        ([link("organization")], None),
        ([all_of_the_tenant()], None),
        ([all_of_the_tenant(), site_group("HR Members")], None),
        ([link("organization", expirationDateTime="2999-01-01T00:00:00Z")], None),
        ([link("organization", expirationDateTime="0001-01-01T00:00:00Z")], None),
    ],
)
async def test_a_page_is_for_the_channels_of_the_groups_that_it_is_shared_with(
    office: Office, permissions: list[dict[str, Any]], expected: tuple[str, ...] | None
) -> None:
    assert await audience(office, *permissions) == expected


@pytest.mark.parametrize(
    ("permissions", "told"),
    [
        ([], "nobody that Graph names"),
        ([person("Dana"), person("Ruth", role="owner")], "shared with people by name,"),
        ([site_group("Finance"), group("Staff", "id of staff")], "Finance, Staff"),
        ([group("People Owners", HR_ID, owners=True)], "People Owners"),
        ([link("anonymous")], "anyone"),
        ([site_group("Organization")], "nobody that Graph names"),
        ([group("ORGANIZATION", "id of a team")], "organization@acme.com"),
        ([link("users", person("Dana"))], "people by name"),
        ([link("existingAccess")], "nobody that Graph names"),
        ([link("organization", hasPassword=True)], "nobody that Graph names"),
        ([link("organization", expirationDateTime="2020-01-01T00:00:00Z")], "nobody that Graph names"),
        ([link("organization", role="restrictedView")], "nobody that Graph names"),
        ([{"id": "1", "roles": ["read"], "grantedToV2": {"application": {"id": "1"}}}], "nobody"),
        ([{"id": "1", "roles": ["read"], "invitation": {"email": "x@y.z"}}], "nobody that Graph names"),
        (
            [{"id": "1", "grantedToV2": {"siteGroup": {"displayName": "HR Members"}}}],
            "nobody that Graph names",
        ),
        ([{"id": "1", "roles": ["read"], "grantedTo": {"user": {"displayName": "HR Members"}}}], "nobody"),
    ],
)
async def test_whoever_is_not_in_the_table_closes_the_page_and_the_report_says_with_whom_it_is_shared(
    office: Office, permissions: list[dict[str, Any]], told: str
) -> None:
    reason = await audience(office, *permissions)

    assert isinstance(reason, str)
    assert told in reason
    assert "`readers`" in reason
    assert "Dana" not in reason


async def test_permissions_in_another_form_are_not_believed_and_fail_that_page_alone(office: Office) -> None:
    odd = office.documents.add("Odd.md", LEAVE, permissions=[{"id": "1", "roles": "read"}])
    leave = office.documents.add("Leave.md", LEAVE)
    source = office.source()
    refs = await listed(source)

    assert refs[office.path(leave)].revision is not None
    error = await failure(source, refs[office.path(odd)])
    assert (error.withdraw, error.left_out) == (False, False)
    assert "form" in error.reason


async def test_a_folder_that_is_shared_otherwise_later_is_noticed_though_no_delta_names_its_files(
    office: Office,
) -> None:
    folder = office.documents.add("Board", None)
    minutes = office.documents.add("Minutes.md", LEAVE, into=folder)
    assert (await listed(office.source()))[office.path(minutes)].revision is not None
    office.documents.edit(folder, permissions=[site_group("Board")])

    assert (await listed(office.source()))[office.path(minutes)].revision is None


async def test_readers_may_be_asked_for_less_often_but_never_less_than_the_settings_say(
    office: Office,
) -> None:
    leave, sick = office.documents.add("Leave.md", LEAVE), office.documents.add("Sick.md", LEAVE)
    every = timedelta(hours=6)
    await listed(office.source(permissions_every=every))
    office.documents.nodes["root"].permissions = [site_group("Board")]
    office.documents.edit(sick, content="New words.")
    office.graph.asked.clear()
    office.now += 3600

    refs = await listed(office.source(permissions_every=every))
    assert refs[office.path(leave)].revision is not None
    assert refs[office.path(sick)].revision is None
    assert sum(path.endswith("/permissions") for path in office.graph.asked) == 1
    office.now += 6 * 3600
    assert (await listed(office.source(permissions_every=every)))[office.path(leave)].revision is None


async def test_another_table_counts_at_once_though_nobody_is_asked_again(office: Office) -> None:
    leave = office.documents.add("Leave.md", LEAVE)
    every = timedelta(days=1)
    first = await listed(office.source(permissions_every=every))
    closed = await listed(office.source(permissions_every=every, readers={}))
    wider = await listed(office.source(permissions_every=every, readers={"HR Members": ("everyone",)}))

    revisions = [refs[office.path(leave)].revision for refs in (first, closed, wider)]
    assert revisions[1] is None
    assert len(set(revisions)) == 3


async def test_a_page_that_is_closed_between_listing_and_reading_is_withdrawn(office: Office) -> None:
    leave = office.documents.add("Leave.md", LEAVE)
    source = office.source()
    ref = (await listed(source))[office.path(leave)]
    office.documents.edit(leave, permissions=[person("Dana")])

    assert (await failure(source, ref)).withdraw


async def test_that_the_app_sees_less_than_before_takes_nothing_out(office: Office) -> None:
    """Neither a refusal of one page nor one of its permissions tells that its readers were limited."""
    leave = office.documents.add("Leave.md", LEAVE)
    for where, status in (
        ("/permissions", 403),
        (f"/items/{leave}", 403),
        ("/sites/", 404),
        ("/download/", 404),
    ):
        office.graph.failing.clear()
        office.graph.fail(where, status, "accessDenied")
        error = await failure(office.source(), PageRef(path=office.path(leave), revision=None))
        assert not error.withdraw, where
        assert len(error.reason) > 10
