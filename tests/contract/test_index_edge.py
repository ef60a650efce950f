"""What the embedded index does alone: files, processes that are killed, one folder."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kb.errors import IndexDamagedError, IndexMismatchError, IndexUnavailableError
from kb.index.embedded.index import EdgeIndex
from kb.index.port import (
    IndexCounts,
    QueryVectors,
)
from tests.contract.indexes import (
    EVERYBODY,
    MANIFEST,
    a_page,
    a_query,
    found,
    lexical,
    near,
    put,
    write_until_killed,
)

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


class TestEdgeIndex:
    async def test_what_was_written_is_there_after_reopening(self, tmp_path: Path) -> None:
        first = EdgeIndex(tmp_path, manifest=MANIFEST)
        await put(first, a_page("leave"), "leave")
        rebuild = await first.begin_rebuild(MANIFEST)
        await put(rebuild, a_page("new"), "leave", "holiday")
        await rebuild.swap()
        await first.close()
        second = EdgeIndex(tmp_path)
        assert await found(second, "leave") == {"new#0", "new#1"}
        assert await second.manifest() == MANIFEST
        await second.close()

    async def test_one_generation_is_kept_for_a_way_back(self, tmp_path: Path) -> None:
        index = EdgeIndex(tmp_path, manifest=MANIFEST)
        for at in range(4):
            rebuild = await index.begin_rebuild(MANIFEST)
            await put(rebuild, a_page(f"page-{at}"), "leave")
            await rebuild.swap()
        await index.close()
        assert sorted(one.name for one in tmp_path.iterdir()) == ["CURRENT", "gen-3", "gen-4"]
        (tmp_path / "CURRENT").write_text("gen-3\n")
        back = EdgeIndex(tmp_path)
        assert await found(back, "leave") == {"page-2#0"}
        await back.close()

    async def test_a_page_is_replaced_in_one_step_for_readers(self, tmp_path: Path) -> None:
        index = EdgeIndex(tmp_path, manifest=MANIFEST)
        await put(index, a_page("leave", revision="r0"), "leave", "holiday")
        stop = asyncio.Event()
        seen: set[str] = set()

        async def look() -> None:
            while not stop.is_set():
                hits = await index.search([a_query("leave")], audience=EVERYBODY, limit=20)
                (revision,) = {hit.chunk.page.revision for hit in hits}
                assert len(hits) == 2 + int(revision[1:]) % 2
                seen.add(revision)

        lookers = [asyncio.create_task(look()) for _ in range(3)]
        for at in range(1, 60):
            await put(index, a_page("leave", revision=f"r{at}"), *["leave", "holiday", "price"][: 2 + at % 2])
        stop.set()
        await asyncio.gather(*lookers)
        assert len(seen) > 1
        await index.close()

    async def test_a_folder_in_use_is_an_outage(self, tmp_path: Path) -> None:
        owner = EdgeIndex(tmp_path, manifest=MANIFEST)
        await put(owner, a_page("leave"), "leave")
        second = EdgeIndex(tmp_path)
        with pytest.raises(IndexUnavailableError):
            await second.counts()
        await second.close()
        assert await found(owner, "leave") == {"leave#0"}
        await owner.close()

    async def test_a_closed_index_is_an_outage_not_an_empty_answer(self, tmp_path: Path) -> None:
        index = EdgeIndex(tmp_path, manifest=MANIFEST)
        await put(index, a_page("leave"), "leave")
        await index.close()
        await index.close()
        with pytest.raises(IndexUnavailableError):
            await found(index, "leave")
        with pytest.raises(IndexUnavailableError):
            await near(index, leave=[0])

    async def test_a_damaged_generation_is_an_error_not_an_empty_answer(self, tmp_path: Path) -> None:
        (tmp_path / "gen-1").mkdir()
        (tmp_path / "CURRENT").write_text("gen-1\n")
        index = EdgeIndex(tmp_path, manifest=MANIFEST)
        with pytest.raises(IndexDamagedError, match="reindex --full"):
            await found(index, "leave")
        await index.close()

    async def test_vectors_of_another_length_are_refused_with_the_way_out(self, tmp_path: Path) -> None:
        index = EdgeIndex(tmp_path, manifest=MANIFEST)
        await put(index, a_page("leave"), "leave")
        with pytest.raises(IndexMismatchError, match="reindex in full"):
            await index.search(
                [QueryVectors(dense=[1.0, 2.0], lexical=lexical("leave"))], audience=EVERYBODY, limit=5
            )
        await index.close()

    async def test_after_kill_9_every_reported_page_is_there_and_a_half_rebuild_is_not(
        self, tmp_path: Path
    ) -> None:
        reported = write_until_killed(tmp_path / "index", after=40)
        index = EdgeIndex(tmp_path / "index", manifest=MANIFEST)
        revisions = await index.revisions()
        assert set(reported) <= set(revisions)
        assert await found(index, "leave", limit=500) >= {f"{page}#1" for page in reported}
        rebuild = await index.begin_rebuild(MANIFEST)
        assert await rebuild.counts() == IndexCounts(pages=0, chunks=0)
        await rebuild.discard()
        assert sorted(one.name for one in (tmp_path / "index").iterdir()) == ["CURRENT", "gen-1"]
        await index.close()


async def test_searches_amid_replacements_see_one_version_of_a_page_and_never_none(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path / "index", manifest=MANIFEST)
    await put(index, a_page("leave", revision="r0"), *["leave"] * 40)
    done = asyncio.Event()
    seen: list[set[tuple[str, str]]] = []

    async def replaces() -> None:
        for number in range(1, 30):
            await put(index, a_page("leave", revision=f"r{number}"), *[f"leave {number}"] * (40 - number))
        done.set()

    async def searches() -> None:
        while not done.is_set():
            hits = await index.search([a_query("leave")], audience=EVERYBODY, limit=100)
            seen.append({(hit.chunk.page.revision, hit.chunk.text) for hit in hits})

    await asyncio.gather(replaces(), searches(), searches())
    await index.close()

    assert {len(versions) for versions in seen} == {1}
