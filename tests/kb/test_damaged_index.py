"""Files of the embedded index that are cut, gone or overwritten, and
disks without room: an outage, never "not found".
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from kb.errors import IndexDamagedError, IndexUnavailableError
from kb.index.embedded import shard_files
from kb.index.embedded.generations import LEFT
from kb.index.embedded.index import EdgeIndex
from kb.index.embedded.soundness import check
from kb.index.port import IndexCounts, IndexedChunk, IndexManifest, QueryVectors, SparseVector
from kb.models import Audience
from tests.fakes.folders import copy_folder
from tests.fakes.passages import a_passage

MANIFEST = IndexManifest(embedder="hash", dimension=4, chunker="v1")
PAGES = 40
WHOLE = IndexCounts(pages=PAGES, chunks=PAGES)
Damage = Callable[[Path], None]


def half(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def gone(file: Path) -> None:
    file.unlink()


def zeros(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def noise(file: Path) -> None:
    file.write_bytes(random.Random(7).randbytes(file.stat().st_size))


def a_query() -> QueryVectors:
    return QueryVectors(dense=[0.5, 0.5, 0.5, 0.5], lexical=SparseVector(indices=(1,), values=(1.0,)))


async def fill(index: EdgeIndex) -> None:
    for number in range(PAGES):
        chunk = a_passage(f"{number} days of leave", title=f"Leave {number}", language="en")
        vectors = a_query()
        await index.replace_pages(
            {chunk.page.id: [IndexedChunk(chunk=chunk, dense=vectors.dense, lexical=vectors.lexical)]}
        )


@pytest.fixture(scope="module")
def made() -> dict[str, Path]:
    """Indexes that were made already."""
    return {}


@pytest.fixture
async def closed(tmp_path_factory: pytest.TempPathFactory, made: dict[str, Path]) -> Path:
    """An index as its bot left it."""
    if "closed" not in made:
        folder = tmp_path_factory.mktemp("closed")
        index = EdgeIndex(folder, manifest=MANIFEST)
        await fill(index)
        await index.close()
        made["closed"] = folder
    return made["closed"]


@pytest.fixture
async def killed(tmp_path_factory: pytest.TempPathFactory, made: dict[str, Path]) -> Path:
    """An index whose bot was killed after its sync: copied while it is open."""
    if "killed" not in made:
        folder = tmp_path_factory.mktemp("killed")
        index = EdgeIndex(folder / "open", manifest=MANIFEST)
        await fill(index)
        await index.settle()
        copy_folder(folder / "open", folder / "index")
        await index.close()
        made["killed"] = folder / "index"
    return made["killed"]


async def look(folder: Path) -> IndexCounts:
    """What an index of these files says, which must be the same whichever way it is asked."""
    index = EdgeIndex(folder, manifest=MANIFEST)
    try:
        counts = await index.counts()
        found = await index.search([a_query()], audience=Audience(), limit=100)
        assert len(found) == counts.chunks
        assert len(await index.revisions()) == counts.pages
        return counts
    finally:
        await index.close()


def files_of(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.stat().st_size > 1
    )


async def missed(index: Path, work: Path, damage: Damage, names: list[str]) -> list[str]:
    """The files of which the damage went unnoticed: something is missing, and nobody says so."""
    unnoticed = []
    for name in names:
        copy = work / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy_folder(index, copy)
        damage(copy / name)
        with suppress(IndexDamagedError):
            if await look(copy) != WHOLE:
                unnoticed.append(name)
    return unnoticed


@pytest.mark.series
async def test_no_file_of_a_closed_index_is_cut_in_half_unnoticed(closed: Path, tmp_path: Path) -> None:
    copy_folder(closed, tmp_path / "index")
    growing = [name for name in files_of(closed) if "/segments/" in name and name.endswith((".dat", ".mmap"))]
    noticed = [name for name in growing if is_noticed_by_its_size(tmp_path / "index", name)]
    assert len(noticed) > 50
    others = [name for name in files_of(closed) if name not in noticed]
    assert await missed(closed, tmp_path, half, others) == []


def is_noticed_by_its_size(folder: Path, name: str) -> bool:
    """Without opening the index. The file is whole again afterwards."""
    file, was = folder / name, (folder / name).read_bytes()
    if name.endswith("_journal.dat"):
        return False
    half(file)
    with pytest.raises(IndexDamagedError, match="shorter than it was"):
        check(folder / "gen-1")
    file.write_bytes(was)
    return True


@pytest.mark.parametrize("damage", [half, gone, zeros, noise])
@pytest.mark.parametrize("state", ["closed", pytest.param("killed", marks=pytest.mark.series)])
async def test_what_says_which_points_there_are_is_not_damaged_unnoticed(
    state: str, damage: Damage, tmp_path: Path, closed: Path, killed: Path
) -> None:
    index = {"closed": closed, "killed": killed}[state]
    telling = ("CURRENT", "mutable_id_tracker.mappings", "mutable_id_tracker.versions", "edge_config.json")
    telling += ("manifest.json", "first-index", "segment.json", "chunk_0.mmap")
    names = [name for name in files_of(index) if name.endswith(telling)]
    assert len(names) == len(telling)
    assert await missed(index, tmp_path, damage, names) == []


async def test_a_killed_index_whose_files_are_whole_opens(killed: Path, tmp_path: Path) -> None:
    copy_folder(killed, tmp_path / "index")
    assert await look(tmp_path / "index") == WHOLE


async def test_an_index_of_an_earlier_version_has_no_record_and_opens(closed: Path, tmp_path: Path) -> None:
    copy_folder(closed, tmp_path / "index")
    (tmp_path / "index" / "gen-1" / LEFT).unlink()
    assert await look(tmp_path / "index") == WHOLE


async def test_a_first_rebuild_that_was_killed_is_no_damage(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path / "open")
    rebuild = await index.begin_rebuild(MANIFEST)
    copy_folder(tmp_path / "open", tmp_path / "index")
    await rebuild.discard()
    await index.close()
    assert await look(tmp_path / "index") == IndexCounts(pages=0, chunks=0)


async def test_damage_stays_an_outage_until_another_generation_is_swapped_in(
    closed: Path, tmp_path: Path
) -> None:
    copy_folder(closed, tmp_path / "index")
    half(next((tmp_path / "index").rglob("mutable_id_tracker.mappings")))
    index = EdgeIndex(tmp_path / "index", manifest=MANIFEST)
    for _ in range(2):
        with pytest.raises(IndexDamagedError, match="footnote reindex --full"):
            await index.search([a_query()], audience=Audience(), limit=5)
    rebuild = await index.begin_rebuild(MANIFEST)
    with pytest.raises(IndexDamagedError):
        await index.counts()
    await rebuild.swap()
    assert await index.counts() == IndexCounts(pages=0, chunks=0)
    await index.close()


class TestADiskWithoutRoom:
    """The engine's files are sparse and mapped: without room for a page of them the kernel ends the process."""

    def leave_free(self, monkeypatch: pytest.MonkeyPatch, megabytes: int) -> None:
        told = SimpleNamespace(free=megabytes * shard_files.MB)
        monkeypatch.setattr(shard_files.shutil, "disk_usage", lambda folder: told)

    async def test_begins_no_index(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.leave_free(monkeypatch, 40)
        index = EdgeIndex(tmp_path, manifest=MANIFEST)
        with pytest.raises(IndexUnavailableError, match="40 MB left and the index needs 256 MB"):
            await fill(index)
        await index.close()

    async def test_takes_no_page_and_keeps_those_that_are_there(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        index = EdgeIndex(tmp_path, manifest=MANIFEST)
        await fill(index)
        self.leave_free(monkeypatch, 20)
        with pytest.raises(IndexUnavailableError, match="make room there"):
            await fill(index)
        assert await index.counts() == WHOLE
        await index.delete_pages(["handbook:leave-1.md"])  # what was limited goes all the same
        assert (await index.counts()).pages == PAGES - 1
        await index.close()

    async def test_opens_none_either(
        self, closed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        copy_folder(closed, tmp_path / "index")
        self.leave_free(monkeypatch, 6)
        with pytest.raises(IndexUnavailableError, match="6 MB left") as told:
            await look(tmp_path / "index")
        assert not isinstance(told.value, IndexDamagedError)
        monkeypatch.undo()
        assert await look(tmp_path / "index") == WHOLE
