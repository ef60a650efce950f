"""SharePoint and OneDrive against a server of ours that answers as
Microsoft Graph is published: what is listed and read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest

from ingest.origin import Origin
from ingest.pipeline import PagePipeline
from ingest.sources.port import PageRef
from kb.retrieval.lexical import LexicalEncoder
from tests.fakes.embedder import HashEmbedder
from tests.fakes.graph import GraphServer
from tests.fakes.graph_drive import HOST, Drive, person, site_group
from tests.fakes.listing import failure, listed, reason
from tests.fakes.sharepoint_office import LEAVE, SITE, Office


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with GraphServer() as graph:
        office = Office(graph, tmp_path)
        yield office
        await office.close()


async def test_files_of_every_library_are_listed_and_what_is_no_document_is_not(office: Office) -> None:
    folder = office.documents.add("Policies", None)
    leave = office.documents.add("Leave.md", LEAVE, into=folder)
    office.documents.add("logo.png", b"png")
    office.documents.add("Notes", None, more={"folder": None, "package": {"type": "oneNote"}})
    contracts = office.graph.library(office.site, "Contracts")
    contracts.edit("root", permissions=[site_group("HR Members")])
    terms = contracts.add("Terms.PDF", b"%PDF")

    refs = await listed(office.source())

    assert sorted(refs) == sorted([office.path(leave), f"{SITE}/{contracts.id}/{terms}.pdf"])
    assert refs[office.path(leave)].title == "Leave.md"


async def test_a_page_has_its_folders_its_address_and_its_day_of_edit(office: Office) -> None:
    folder = office.documents.add("A & B", None, into=office.documents.add("Policies", None))
    leave = office.documents.add("Leave.md", LEAVE, into=folder, modified="2026-01-31T23:30:00Z")
    source = office.source()

    raw = await source.fetch((await listed(source))[office.path(leave)])

    assert raw.parents == ("Human Resources", "Documents", "Policies", "A & B")
    assert (
        raw.url
        == source.url_of(raw.path)
        == f"https://{HOST}/sites/hr/Documents/Policies/A%20%26%20B/Leave.md"
    )
    assert (raw.edited, raw.content) == (date(2026, 1, 31), LEAVE.encode())


async def test_a_file_without_a_title_is_called_by_its_name_and_not_by_its_id(office: Office) -> None:
    leave = office.documents.add("Leave policy.txt", LEAVE)
    pipeline = PagePipeline(embedder=HashEmbedder(), lexical=LexicalEncoder())
    source = office.source()

    raw = await source.fetch(PageRef(path=office.path(leave), revision=None))
    prepared = await pipeline.prepare(raw, Origin.of(source))

    assert prepared.page.title == "Leave policy"
    assert prepared.page.id == f"office:{office.path(leave)}"


async def test_a_renamed_and_a_moved_page_stay_the_same_page_with_another_revision(office: Office) -> None:
    leave, sick = office.documents.add("Leave.md", LEAVE), office.documents.add("Sick.md", LEAVE)
    before = await listed(office.source())
    office.documents.edit(leave, name="Paid leave.md")
    office.documents.edit(sick, parent=office.documents.add("Old", None))
    source = office.source()
    after = await listed(source)

    assert sorted(after) == sorted(before)
    assert all(after[path].revision != before[path].revision for path in before)
    assert (await source.fetch(after[office.path(sick)])).parents[-1] == "Old"


async def test_a_renamed_folder_changes_the_pages_in_it_of_which_delta_tells_nothing(office: Office) -> None:
    folder = office.documents.add("Old", None)
    leave = office.documents.add("Leave.md", LEAVE, into=folder)
    before = await listed(office.source())
    office.documents.edit(folder, name="New")
    source = office.source()
    after = await listed(source)

    assert after[office.path(leave)].revision != before[office.path(leave)].revision
    raw = await source.fetch(after[office.path(leave)])
    assert (raw.parents[-1], raw.revision) == ("New", after[office.path(leave)].revision)


async def test_a_file_that_becomes_another_format_is_another_page(office: Office) -> None:
    leave = office.documents.add("Leave.md", LEAVE)
    old = office.path(leave)
    await listed(office.source())
    office.documents.edit(leave, name="Leave.html")
    source = office.source()

    assert list(await listed(source)) == [office.path(leave)] != [old]
    assert (await failure(source, PageRef(path=old, revision=None))).withdraw


async def test_what_is_in_a_deleted_folder_goes_and_what_was_moved_out_stays(office: Office) -> None:
    folder = office.documents.add("Old", None)
    inner = office.documents.add("Inner", None, into=folder)
    office.documents.add("Gone.md", LEAVE, into=inner)
    kept = office.documents.add("Kept.md", LEAVE, into=folder)
    assert len(await listed(office.source())) == 2
    office.documents.edit(kept, parent="root")
    office.documents.remove(folder)

    assert list(await listed(office.source())) == [office.path(kept)]


async def test_only_what_changed_is_asked_for_after_the_first_listing(office: Office) -> None:
    for number in range(7):
        office.documents.add(f"{number}.md", LEAVE)
    await listed(office.source())
    office.graph.asked.clear()
    await listed(office.source())

    assert (
        sum("root/delta" in path for path in office.graph.asked) == 2
    )  # one for each drive, of 4 pages at first


@pytest.mark.parametrize("status", [410, 400, 404])
async def test_a_link_that_is_too_old_leads_to_a_whole_listing(office: Office, status: int) -> None:
    gone, kept = office.documents.add("Gone.md", LEAVE), office.documents.add("Kept.md", LEAVE)
    await listed(office.source())
    del office.documents.nodes[gone]  # of which no delta tells any more
    if status == 410:
        office.documents.oldest_token = len(office.documents.log) + 1
    else:
        office.graph.fail("delta(token=", status, "invalidRequest")

    assert list(await listed(office.source())) == [office.path(kept)]


async def test_a_listing_that_breaks_off_in_the_middle_moves_no_link_on(office: Office) -> None:
    for number in range(5):
        office.documents.add(f"{number}.md", LEAVE)
    await listed(office.source())
    late = [office.documents.add(f"late {number}.md", LEAVE) for number in range(5)]
    with_next = f"/drives/{office.documents.id}/root/delta(token="
    office.graph.fail(with_next, 500)
    for _ in range(5):
        office.graph.fail(with_next, 500)
    source = office.source()
    broken = await listed(source)

    part = f"{SITE}/{office.documents.id}/"
    assert list(broken) == [part]
    assert "Documents cannot be listed" in await reason(source, broken[part])
    refs = await listed(office.source())
    assert {office.path(one) for one in late} <= set(refs)
    assert len(refs) == 10


async def test_after_a_week_everything_is_listed_anew_whatever_the_changes_tell(office: Office) -> None:
    missed = office.documents.add("Missed.md", LEAVE)
    await listed(office.source())
    del office.documents.nodes[missed]
    assert len(await listed(office.source())) == 1
    office.now += 8 * 86_400

    assert await listed(office.source()) == {}


async def test_what_is_kept_may_be_damaged_and_is_made_anew(office: Office, tmp_path: Path) -> None:
    office.documents.add("Leave.md", LEAVE)
    before = await listed(office.source())
    (file,) = (tmp_path / "kept").glob("*.db")
    file.write_bytes(b"no database at all" * 500)

    assert await listed(office.source()) == before


async def test_no_secret_and_no_address_of_a_download_is_kept_on_disk(office: Office, tmp_path: Path) -> None:
    office.documents.add("Leave.md", LEAVE)
    office.documents.edit("root", permissions=[site_group("HR Members"), person("Dana")])
    await listed(office.source())
    (file,) = (tmp_path / "kept").glob("*.db")
    with closing(sqlite3.connect(file)) as db:
        dump = "\n".join(db.iterdump())

    assert "Leave.md" in dump
    for secret in ("tempauth", office.graph.secret, "eyJ0", "Dana"):
        assert secret not in dump


async def test_a_site_may_be_named_by_its_id_and_the_root_site_by_its_host(office: Office) -> None:
    leave = office.documents.add("Leave.md", LEAVE)
    root = office.graph.site("/", "Start")
    library = office.graph.library(root)
    library.edit("root", permissions=[site_group("HR Members")])
    welcome = library.add("Welcome.md", LEAVE)
    source = office.source(sites=(office.site.id, f"https://{HOST}/"))

    assert sorted(await listed(source)) == sorted(
        [office.path(leave, place=office.site.id), office.path(welcome, library, place=HOST)]
    )


async def test_onedrives_are_read_beside_sites(office: Office) -> None:
    drive = Drive(id="b!dana-0001", name="OneDrive")
    drive.edit("root", permissions=[site_group("HR Members")])
    office.graph.onedrives["dana@acme.com"] = drive
    notes = drive.add("Notes.md", LEAVE)
    source = office.source(sites=(), onedrives=("dana@acme.com",), libraries=("Contracts",))
    refs = await listed(source)

    assert list(refs) == [f"dana@acme.com/{drive.id}/{notes}.md"]
    raw = await source.fetch(next(iter(refs.values())))
    assert raw.parents == ("OneDrive of Dana", "OneDrive")


async def test_libraries_that_are_not_chosen_are_left_out_and_a_misspelt_one_is_told(office: Office) -> None:
    office.documents.add("Leave.md", LEAVE)
    contracts = office.graph.library(office.site, "Contracts")
    contracts.edit("root", permissions=[site_group("HR Members")])
    terms = contracts.add("Terms.md", LEAVE)
    source = office.source(libraries=("contracts",))

    assert list(await listed(source)) == [f"{SITE}/{contracts.id}/{terms}.md"]
    assert source.withdraws(f"{SITE}/{office.documents.id}/x.md")
    misspelt = office.source(libraries=("Contract",))
    assert "it has: Documents, Contracts" in await reason(misspelt, (await listed(misspelt))[f"{SITE}/"])


async def test_what_the_settings_exclude_is_withdrawn_and_nothing_else(office: Office) -> None:
    folder = office.documents.add("Drafts", None)
    draft = office.documents.add("Leave.md", LEAVE, into=folder)
    sick = office.documents.add("Sick.md", LEAVE)
    source = office.source(exclude=("Drafts/",))

    assert list(await listed(source)) == [office.path(sick)]
    assert source.withdraws(office.path(draft))
    assert not source.withdraws(office.path(sick))
    assert source.withdraws(f"{HOST}/sites/other/b!x/01.md")
