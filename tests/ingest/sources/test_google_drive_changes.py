"""What becomes of a Drive that was listed, by its change logs: followed,
and never believed further than it was taken in.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import SourceUnavailableError, SyncRefusedError
from ingest.sources.google_drive.source import GoogleDriveSource
from ingest.sync.sync import Sync
from kb.config.sources import GoogleDriveSettings
from kb.index.embedded.index import EdgeIndex
from kb.index.port import QueryVectors, SparseVector
from kb.models import Audience
from kb.retrieval.lexical import LexicalEncoder
from tests.fakes.drive_state import ACCOUNT, domain, group, user
from tests.fakes.drive_world import no_sleep
from tests.fakes.embedder import HashEmbedder
from tests.fakes.google_drive import MOST, Drive
from tests.fakes.listing import listed, reason

EDITOR = user(ACCOUNT, "writer")
DAY_S = 24 * 3600


@pytest.fixture
async def drive() -> AsyncIterator[Drive]:
    async with Drive() as server:
        yield server


class Office:
    """One who syncs again and again: each time with a new source over the same folder."""

    def __init__(self, drive: Drive, folder: Path) -> None:
        self.drive, self.folder, self.now = drive, folder, 1_790_000_000.0

    def source(self, **settings: Any) -> GoogleDriveSource:
        readers = {"acme.com": ["everyone"], "hr@acme.com": ["#hr"]}
        chosen = {"key": self.drive.key(), "api_url": self.drive.url, "readers": readers, **settings}
        made = GoogleDriveSettings.model_validate({"kind": "google_drive", "name": "drive", **chosen})
        return GoogleDriveSource(made, self.folder, sleep=no_sleep, clock=lambda: self.now)

    async def sees(self, **settings: Any) -> dict[str, str | None]:
        """Path -> revision of what is listed now, without what the report tells of others."""
        source = self.source(**settings)
        try:
            refs = await listed(source)
            return {path: ref.revision for path, ref in refs.items() if not path.startswith("closed/")}
        finally:
            await source.close()

    def asked(self, what: str) -> int:
        """How often since the last time that somebody wanted to know."""
        number = sum(what in one for one in self.drive.asked)
        self.drive.asked.clear()
        return number


@pytest.fixture
def office(drive: Drive, tmp_path: Path) -> Office:
    return Office(drive, tmp_path / "kept")


def a_handbook(drive: Drive, pages: int = 5) -> tuple[str, list[str]]:
    top = drive.folder("Handbook", grants=[EDITOR, domain("acme.com")])
    return top, [drive.put(f"{number}.md", parent=top, content=b"Words.") for number in range(pages)]


async def test_after_the_first_listing_only_changes_are_asked_for(drive: Drive, office: Office) -> None:
    top, pages = a_handbook(drive)
    first = await office.sees(folders=[top])
    assert office.asked("/files?") > 2

    assert await office.sees(folders=[top]) == first
    assert office.asked("/files?") == 0
    for page in pages:
        drive.change(page, content=b"Other words.")
    drive.delete(pages[0])
    new = drive.put("new.md", parent=top, content=b"New.")
    after = await office.sees(folders=[top])

    assert sorted(after) == sorted(f"{top}/{page}" for page in (*pages[1:], new))
    assert all(after[f"{top}/{page}"] != first[f"{top}/{page}"] for page in pages[1:])
    assert office.asked("/files?") == 0


async def test_a_folder_that_comes_goes_or_moves_takes_along_what_is_in_it(
    drive: Drive, office: Office
) -> None:
    top, _ = a_handbook(drive, pages=1)
    elsewhere = drive.folder("Elsewhere", grants=[EDITOR, domain("acme.com")])
    outer = drive.folder("Outer", parent=elsewhere)
    inner = drive.folder("Inner", parent=outer)
    page = f"{top}/{drive.put('page.md', parent=inner, content=b'Words.')}"
    assert page not in await office.sees(folders=[top])

    drive.change(outer, parent=top)
    assert page in await office.sees(folders=[top])
    drive.change(inner, trashed=True)
    assert page not in await office.sees(folders=[top])
    drive.change(inner, trashed=False)
    assert page in await office.sees(folders=[top])
    drive.change(outer, parent=elsewhere)
    assert page not in await office.sees(folders=[top])


async def test_readers_of_a_folder_become_those_of_what_is_in_it_though_only_the_folder_is_told_to_have_changed(
    drive: Drive, office: Office
) -> None:
    top, (page,) = a_handbook(drive, pages=1)
    inner = drive.folder("Inner", parent=top)
    deep = drive.put("deep.md", parent=inner, content=b"Words.")
    assert len(await office.sees(folders=[top])) == 2

    drive.change(inner, limited=True)
    assert list(await office.sees(folders=[top])) == [f"{top}/{page}"]
    drive.change(inner, limited=False)
    assert len(await office.sees(folders=[top])) == 2
    drive.change(top, grants=[EDITOR, group("board@acme.com")])
    assert await office.sees(folders=[top]) == {}
    drive.change(top, grants=[EDITOR, group("hr@acme.com")])
    source = office.source(folders=[top])
    refs = await listed(source)
    assert {(await source.fetch(refs[f"{top}/{one}"])).audience for one in (page, deep)} == {("#hr",)}
    await source.close()


async def test_a_new_member_of_a_shared_drive_reads_all_of_it_and_one_who_left_nothing(
    drive: Drive, office: Office
) -> None:
    top = drive.shared_drive("Company", group("hr@acme.com"))
    pages = [drive.put(f"{number}.md", parent=top, content=b"Words.") for number in range(3)]
    before = await office.sees()
    assert sorted(before) == sorted(f"{top}/{page}" for page in pages)

    members = drive.items[top].grants
    drive.items[top].grants = [*members, domain("acme.com")]
    after = await office.sees()
    assert all(after[path] != before[path] for path in before)
    drive.items[top].grants = members[:1]
    assert await office.sees() == {}


async def test_a_file_that_is_shared_with_the_account_alone_is_followed_beside_the_shared_drives(
    drive: Drive, office: Office
) -> None:
    top = drive.shared_drive("Company", domain("acme.com"))
    inside = drive.put("inside.md", parent=top, content=b"x", grants=[user(ACCOUNT)])
    outside = drive.put("outside.md", content=b"x", grants=[EDITOR, domain("acme.com")])
    closed_drive = drive.shared_drive("Closed", domain("acme.com"), member=False)
    one = drive.put("one.md", parent=closed_drive, content=b"x", grants=[user(ACCOUNT)])
    expected = [f"account/{outside}", f"account/{one}", f"{top}/{inside}"]
    assert sorted(await office.sees()) == sorted(expected)

    drive.change(outside, grants=[domain("acme.com")])
    drive.change(one, grants=[])
    assert list(await office.sees()) == [f"{top}/{inside}"]


async def test_a_folder_of_a_shared_drive_is_read_by_members_and_by_those_with_whom_it_alone_is_shared(
    drive: Drive, office: Office
) -> None:
    for member in (True, False):
        top = drive.shared_drive(f"Company{member}", domain("acme.com"), member=member)
        folder = drive.folder("Policies", parent=top, grants=[user(ACCOUNT)])
        page = drive.put("page.md", parent=folder, content=b"x")
        drive.put("other.md", parent=top, content=b"x")
        assert list(await office.sees(folders=[folder])) == [f"{folder}/{page}"]
        drive.change(page, trashed=True)
        if member:
            assert await office.sees(folders=[folder]) == {}


async def test_a_page_token_moves_on_only_with_its_changes(drive: Drive, office: Office) -> None:
    """The second page of changes fails: the first is kept, and its changes are not asked for again."""
    top, pages = a_handbook(drive)
    await office.sees(folders=[top])
    for page in pages:
        drive.change(page, content=b"Other words.")
    second = str(1000 + drive.changes - len(pages) + MOST)
    drive.fail(f"pageToken={second}", 403, "forbidden")
    broken = office.source(folders=[top])
    with pytest.raises(SourceUnavailableError):
        await listed(broken)
    await broken.close()
    with sqlite3.connect(office.folder / "drive.drive") as db:
        (token,) = db.execute("SELECT link FROM drives").fetchone()

    after = await office.sees(folders=[top])
    assert token == second
    assert len(after) == len(pages)
    drive.asked.clear()
    assert await office.sees(folders=[top]) == after
    assert office.asked("/changes?") == 1


async def test_a_token_that_is_rejected_and_a_day_that_went_by_mean_that_all_is_listed_again(
    drive: Drive, office: Office
) -> None:
    top, pages = a_handbook(drive)
    first = await office.sees(folders=[top])
    drive.items[pages[0]].content = b"Changed, and no log says so."
    assert await office.sees(folders=[top]) == first

    drive.asked.clear()
    drive.fail("/changes?", 400, "invalid", "Invalid Value")
    second = await office.sees(folders=[top])
    assert office.asked("/files?") > 2
    assert second != first

    drive.items[pages[1]].content = b"Changed, and no log says so."
    office.now += DAY_S + 1
    assert await office.sees(folders=[top]) not in (first, second)


async def test_an_inventory_that_is_damaged_or_gone_is_made_anew(drive: Drive, office: Office) -> None:
    top, _ = a_handbook(drive)
    first = await office.sees(folders=[top])
    file = office.folder / "drive.drive"

    file.write_bytes(b"no database" * 1000)
    assert await office.sees(folders=[top]) == first
    file.unlink()
    assert await office.sees(folders=[top]) == first


async def test_folders_that_seem_to_be_in_each_other_hold_nothing(drive: Drive, office: Office) -> None:
    """As they may while they are moved: the state of one is told before that of the other."""
    top, (page,) = a_handbook(drive, pages=1)
    one = drive.folder("One", parent=top)
    two = drive.folder("Two", parent=one)
    drive.put("lost.md", parent=two, content=b"Words.")
    everywhere = await office.sees()
    assert len(everywhere) == 2
    with sqlite3.connect(office.folder / "drive.drive") as db:
        told = json.loads(db.execute("SELECT item FROM items WHERE id = ?", (one,)).fetchone()[0])
        told["parents"] = [two]
        db.execute("UPDATE items SET item = ? WHERE id = ?", (json.dumps(told), one))

    assert list(await office.sees()) == [f"account/{page}"]


async def test_another_account_starts_anew(drive: Drive, office: Office) -> None:
    top, _ = a_handbook(drive, pages=2)
    drive.people = {"dana@acme.com"}
    assert len(await office.sees(folders=[top])) == 2

    drive.items[top].grants.append(user("dana@acme.com", "writer"))
    drive.asked.clear()
    assert len(await office.sees(folders=[top], subject="dana@acme.com")) == 2
    assert office.asked("/files?") > 0


async def test_a_part_that_fails_keeps_its_pages_while_the_others_are_listed(
    drive: Drive, office: Office
) -> None:
    tops = [drive.shared_drive(name, domain("acme.com")) for name in ("One", "Two")]
    pages = [drive.put("page.md", parent=top, content=b"x") for top in tops]
    assert len(await office.sees()) == 2

    drive.fail(f"driveId={tops[0]}", 400, "badRequest")
    drive.fail(f"driveId={tops[0]}", 400, "badRequest")
    source = office.source()
    refs = await listed(source)
    assert sorted(refs) == sorted([f"{tops[0]}/", f"{tops[1]}/{pages[1]}"])
    assert "cannot be listed" in await reason(source, refs[f"{tops[0]}/"])
    await source.close()


# Whole syncs


async def readable(index: EdgeIndex) -> str:
    """What somebody reads who is in no channel."""
    ones = QueryVectors(dense=[1.0] * HashEmbedder.dimension, lexical=SparseVector(indices=(), values=()))
    return "\n".join(hit.chunk.text for hit in await index.search([ones], audience=Audience(), limit=100))


def a_sync(office: Office, index: EdgeIndex, **settings: Any) -> Sync:
    return Sync(
        index=index,
        embedder=HashEmbedder(),
        lexical=LexicalEncoder(),
        sources=lambda: [office.source(**settings)],
        clock=lambda: datetime.fromtimestamp(office.now, UTC),
    )


async def test_files_that_are_closed_leave_the_index_at_once_and_an_account_that_ended_takes_nothing_away(
    drive: Drive, office: Office, tmp_path: Path
) -> None:
    top = drive.folder("Handbook", grants=[EDITOR, domain("acme.com")])
    secrets = drive.folder("Secrets", parent=top)
    for number in range(4):
        drive.put(f"open {number}.md", parent=top, content=f"Everybody reads rule {number}.".encode())
        drive.put(f"secret {number}.md", parent=secrets, content=f"The board sold part {number}.".encode())
    index = EdgeIndex(tmp_path / "index")
    try:
        first = await a_sync(office, index, folders=[top]).run()
        assert (len(first.added), first.failed) == (8, [])

        drive.change(secrets, limited=True)
        second = await a_sync(office, index, folders=[top]).run()
        assert (len(second.removed), second.failed) == (4, [])
        assert "sold" not in await readable(index)

        held = await index.revisions()
        drive.key_is_valid = False
        with pytest.raises(SyncRefusedError, match="does not accept the service account"):
            await a_sync(office, index, folders=[top]).run()
        drive.key_is_valid = True
        drive.change(top, grants=[])
        with pytest.raises(SyncRefusedError, match="not shared with"):
            await a_sync(office, index, folders=[top]).run()
        assert await index.revisions() == held
    finally:
        await index.close()
