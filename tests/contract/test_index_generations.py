"""Generations of any vector index: rebuilds, swaps, the model that made them, what was measured on them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from kb.calibration import Reranking
from kb.errors import IndexMismatchError, IndexUnavailableError
from kb.index.port import (
    IndexCounts,
    IndexedChunk,
    IndexManifest,
    QueryVectors,
    VectorIndex,
)
from kb.index.server.index import ServerIndex
from kb.models import Chunk
from tests.contract.indexes import (
    DIMENSION,
    EVERYBODY,
    MANIFEST,
    MakeIndex,
    a_page,
    a_query,
    found,
    lexical,
    measured,
    put,
    server_in_a_series,
)

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


class TestGenerations:
    async def test_a_rebuild_is_not_searched_before_its_swap(self, index: VectorIndex) -> None:
        await put(index, a_page("old"), "leave")
        rebuild = await index.begin_rebuild(MANIFEST)
        await put(rebuild, a_page("new"), "leave")
        assert await rebuild.counts() == IndexCounts(pages=1, chunks=1)
        assert await rebuild.revisions() == {"new": "r1"}
        assert await found(index, "leave") == {"old#0"}
        await rebuild.swap()
        assert await found(index, "leave") == {"new#0"}
        assert await index.revisions() == {"new": "r1"}

    async def test_a_swap_brings_its_manifest(self, index: VectorIndex) -> None:
        await put(index, a_page("old"), "leave")
        other = IndexManifest(embedder="other", dimension=3, chunker="v2")
        rebuild = await index.begin_rebuild(other)
        assert await index.manifest() == MANIFEST
        page = a_page("new")
        chunk = Chunk(id="new#0", page=page, position=0, text="leave", url=page.url)
        await rebuild.replace_pages(
            {"new": [IndexedChunk(chunk=chunk, dense=[1, 0, 0], lexical=lexical("leave"))]}
        )
        await rebuild.swap()
        assert await index.manifest() == other
        hits = await index.search(
            [QueryVectors(dense=[1, 0, 0], lexical=lexical("leave"))], audience=EVERYBODY, limit=5
        )
        assert [hit.chunk.id for hit in hits] == ["new#0"]

    async def test_the_first_index_is_built_by_a_rebuild_as_well(self, make_index: MakeIndex) -> None:
        index = make_index(None)
        rebuild = await index.begin_rebuild(MANIFEST)
        await put(rebuild, a_page("new"), "leave")
        assert await index.manifest() is None
        await rebuild.swap()
        assert await found(index, "leave") == {"new#0"}
        await put(index, a_page("later"), "leave")
        assert await found(index, "leave") == {"new#0", "later#0"}

    async def test_a_page_deleted_in_a_rebuild_is_not_in_its_swap(self, index: VectorIndex) -> None:
        rebuild = await index.begin_rebuild(MANIFEST)
        await put(rebuild, a_page("a"), "leave")
        await put(rebuild, a_page("b"), "leave")
        await rebuild.delete_pages(["a"])
        await rebuild.swap()
        assert await found(index, "leave") == {"b#0"}

    async def test_a_discarded_rebuild_leaves_the_live_index_alone(self, index: VectorIndex) -> None:
        await put(index, a_page("old"), "leave")
        rebuild = await index.begin_rebuild(MANIFEST)
        await put(rebuild, a_page("new"), "leave")
        await rebuild.discard()
        await rebuild.discard()
        assert await found(index, "leave") == {"old#0"}
        with pytest.raises(IndexUnavailableError):
            await rebuild.swap()
        assert await found(index, "leave") == {"old#0"}

    async def test_a_new_rebuild_starts_empty_after_one_that_was_left_behind(
        self, index: VectorIndex
    ) -> None:
        await put(index, a_page("old"), "leave")
        abandoned = await index.begin_rebuild(MANIFEST)
        await put(abandoned, a_page("half"), "leave")
        rebuild = await index.begin_rebuild(MANIFEST)
        assert await rebuild.counts() == IndexCounts(pages=0, chunks=0)
        await put(rebuild, a_page("new"), "leave")
        await rebuild.swap()
        assert await found(index, "leave") == {"new#0"}

    async def test_many_swaps_in_a_row_end_at_the_last(self, index: VectorIndex) -> None:
        for at in range(4):
            rebuild = await index.begin_rebuild(MANIFEST)
            await put(rebuild, a_page(f"page-{at}"), "leave")
            await rebuild.swap()
        assert await found(index, "leave") == {"page-3#0"}

    @server_in_a_series
    async def test_a_search_during_swaps_sees_all_of_the_old_or_all_of_the_new(
        self, index: VectorIndex
    ) -> None:
        async def fill(writer: VectorIndex, revision: str) -> None:
            for at in range(4):
                await put(writer, a_page(f"page-{at}", revision=revision), "leave", "leave holiday")

        await fill(index, "r0")
        stop = asyncio.Event()
        seen: set[str] = set()

        async def look() -> None:
            while not stop.is_set():
                hits = await index.search([a_query("leave")], audience=EVERYBODY, limit=20)
                (revision,) = {hit.chunk.page.revision for hit in hits}
                assert len(hits) == 8
                seen.add(revision)
                await asyncio.sleep(0)

        lookers = [asyncio.create_task(look()) for _ in range(3)]
        for at in (1, 2, 3):
            rebuild = await index.begin_rebuild(MANIFEST)
            await fill(rebuild, f"r{at}")
            await asyncio.sleep(0)
            await rebuild.swap()
            await asyncio.sleep(0)
        stop.set()
        await asyncio.gather(*lookers)
        assert "r0" in seen


class TestCalibration:
    async def test_it_is_kept_with_the_generation_and_goes_with_it(self, index: VectorIndex) -> None:
        await put(index, a_page("leave"), "leave", "holiday")
        assert await index.calibration() is None
        await index.calibrate(measured(2))
        await index.calibrate(measured(3))
        assert await index.calibration() == measured(3)
        rebuild = await index.begin_rebuild(MANIFEST)
        await put(rebuild, a_page("leave"), "leave")
        assert await rebuild.calibration() is None
        await rebuild.calibrate(measured(1))
        assert (await index.calibration(), await rebuild.calibration()) == (measured(3), measured(1))
        await rebuild.swap()
        assert await index.calibration() == measured(1)
        earlier = await index.open_previous()
        assert earlier is not None
        assert await earlier.calibration() == measured(3)
        await earlier.swap()
        assert await index.calibration() == measured(3)

    async def test_it_is_no_part_of_what_the_index_was_made_with(self, index: VectorIndex) -> None:
        await put(index, a_page("leave"), "leave")
        await index.calibrate(measured(reranking=Reranking(model="mini", weight=0.5, candidates=20)))
        assert await index.manifest() == MANIFEST

    async def test_an_index_that_was_never_filled_keeps_none(self, index: VectorIndex) -> None:
        await index.calibrate(measured())
        assert await index.calibration() is None
        assert list(await index.sample(5)) == []


class TestMadeWith:
    async def test_vectors_of_another_model_are_refused_and_those_of_the_indexs_own_are_not(
        self, index: VectorIndex
    ) -> None:
        await put(index, a_page("leave"), "leave")
        assert await found(index, "leave", made_with="tiny") == {"leave#0"}
        with pytest.raises(IndexMismatchError, match="made with tiny, not with other"):
            await found(index, "leave", made_with="other")

    async def test_from_the_swap_on_the_new_generations_model_is_asked_for(self, index: VectorIndex) -> None:
        await put(index, a_page("leave"), "leave")
        other = IndexManifest(embedder="other", dimension=DIMENSION, chunker="v1")
        rebuild = await index.begin_rebuild(other)
        await put(rebuild, a_page("leave"), "leave", "leave new")
        assert await found(rebuild, "leave", made_with="other") == {"leave#0", "leave#1"}
        with pytest.raises(IndexMismatchError):
            await found(rebuild, "leave", made_with="tiny")
        assert await found(index, "leave", made_with="tiny") == {"leave#0"}
        await rebuild.swap()
        assert await found(index, "leave", made_with="other") == {"leave#0", "leave#1"}
        with pytest.raises(IndexMismatchError):
            await found(index, "leave", made_with="tiny")

    async def test_another_bots_swap_on_the_server_is_noticed_by_the_next_search(
        self, served: Callable[..., ServerIndex]
    ) -> None:
        one, two = served(MANIFEST), served()
        await put(one, a_page("old"), "leave")
        assert await found(two, "leave", made_with="tiny") == {"old#0"}
        for generation in range(3):
            name = f"model{generation}"
            rebuild = await one.begin_rebuild(IndexManifest(embedder=name, dimension=DIMENSION, chunker="v1"))
            await put(rebuild, a_page(name), "leave")
            await rebuild.calibrate(measured(generation))
            await rebuild.swap()
        with pytest.raises(IndexMismatchError):
            await found(two, "leave", made_with="tiny")
        assert await found(two, "leave", made_with="model2") == {"model2#0"}
        assert await two.calibration() == measured(2)
