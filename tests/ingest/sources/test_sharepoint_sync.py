"""What syncs make of SharePoint: what goes, what comes back, and what nothing takes out."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import SourceUnavailableError, SyncRefusedError
from ingest.sync.sync import Sync
from kb.index.embedded.index import EdgeIndex
from tests.contract.test_sources import parts_of
from tests.fakes.graph import GraphServer
from tests.fakes.graph_drive import site_group
from tests.fakes.listing import listed
from tests.fakes.sharepoint_office import LEAVE, Office


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with GraphServer() as graph:
        office = Office(graph, tmp_path)
        yield office
        await office.close()


@pytest.mark.parametrize("fault", ["secret", "consent", "site", "limits"])
async def test_an_app_that_is_let_in_no_more_or_sees_nothing_takes_nothing_out_of_the_index(
    office: Office, tmp_path: Path, fault: str
) -> None:
    for number in range(5):
        office.documents.add(f"{number}.md", f"# Page {number}\n\n{LEAVE}")
    index = EdgeIndex(tmp_path / "index")
    world: Any = office
    parts = parts_of(world, index)
    try:
        assert len((await Sync(**parts).run()).added) == 5
        held = await index.revisions()
        match fault:
            case "secret":
                office.graph.sign_in = ("7000222", "invalid_client", 401)
            case "consent":
                office.graph.refuses = (403, "accessDenied")
            case "site":
                office.graph.sites.clear()
            case "limits":
                office.graph.refuses = (429, "activityLimitReached")
        with pytest.raises(SyncRefusedError, match="office"):
            await Sync(**parts).run()
        assert await index.revisions() == held
    finally:
        await index.close()


async def test_a_closed_page_leaves_the_index_and_comes_back_when_its_group_is_named(
    office: Office, tmp_path: Path
) -> None:
    office.documents.add("Leave.md", f"# Leave\n\n{LEAVE}")
    board = office.documents.add("Minutes.md", f"# Minutes\n\n{LEAVE}", permissions=[site_group("Board")])
    index = EdgeIndex(tmp_path / "index")
    world: Any = office
    parts = parts_of(world, index)
    try:
        first = await Sync(**parts).run()
        assert (len(first.added), first.failed) == (1, [])
        (note,) = first.warned
        assert "Board" in note.reason
        assert first.named(note.path) == f"Minutes.md ({office.path(board)})"
        parts["sources"] = lambda: [office.source(readers={"HR Members": ("#hr",), "Board": ("#board",)})]
        assert (await Sync(**parts).run()).added == [office.path(board)]
        parts["sources"] = lambda: [office.source()]
        await Sync(**parts).run()
        assert office.path(board) not in " ".join(await index.revisions())
    finally:
        await index.close()


async def test_a_disk_that_keeps_nothing_makes_the_source_unavailable_and_is_named(
    office: Office, tmp_path: Path
) -> None:
    office.documents.add("Leave.md", LEAVE)
    (tmp_path / "kept" / "office.sharepoint.db").mkdir(parents=True)

    with pytest.raises(SourceUnavailableError, match="look at the disk"):
        await listed(office.source())


async def test_what_another_version_kept_is_made_anew(office: Office, tmp_path: Path) -> None:
    office.documents.add("Leave.md", LEAVE)
    before = await listed(office.source())
    (file,) = (tmp_path / "kept").glob("*.db")
    with closing(sqlite3.connect(file)) as db, db:
        db.executescript("DROP TABLE readers; ALTER TABLE items RENAME TO old; PRAGMA user_version = 99;")

    assert await listed(office.source()) == before
