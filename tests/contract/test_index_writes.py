"""What a write to any vector index leaves, and what searches meet meanwhile."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest

from kb.errors import IndexMismatchError
from kb.index.port import (
    IndexCounts,
    VectorIndex,
)
from kb.models import PageDates
from tests.contract.indexes import (
    EVERYBODY,
    MANIFEST,
    MakeIndex,
    a_chunk,
    a_page,
    a_query,
    found,
    put,
    server_in_a_series,
)

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


class TestWrites:
    async def test_an_empty_index_answers_with_nothing(self, index: VectorIndex) -> None:
        assert await found(index, "leave") == set()
        assert await index.counts() == IndexCounts(pages=0, chunks=0)
        assert await index.revisions() == {}
        assert list(await index.languages()) == []
        assert await index.manifest() is None
        await index.delete_pages(["nowhere"])

    async def test_an_operator_sees_where_every_page_is_whoever_may_read_it(self, index: VectorIndex) -> None:
        await put(index, a_page("leave"), "leave", "holiday")
        await put(index, a_page("pay", audience=("#leads",)), "salary")
        assert {(one.page_id, one.url, one.title) for one in await index.addresses()} == {
            ("leave", "https://kb.example/leave", "Leave"),
            ("pay", "https://kb.example/pay", "Pay"),
        }

    async def test_an_operator_sees_what_is_known_of_every_page_each_once(self, index: VectorIndex) -> None:
        assert list(await index.every_page()) == []
        due = PageDates(edited=date(2020, 2, 1), review_due=date(2021, 7, 1), expires=date(2022, 1, 1))
        leave = a_page("leave", owner="People team", dates=due, superseded_by="holidays.md", version="2")
        pay = a_page("pay", audience=("#leads",))
        await put(index, leave, "leave", "holiday")
        await put(index, pay, "salary")
        assert {page.id: page for page in await index.every_page()} == {"leave": leave, "pay": pay}

    async def test_the_generation_before_is_looked_at_and_comes_back_whole(self, index: VectorIndex) -> None:
        await put(index, a_page("leave"), "leave")
        assert await index.open_previous() is None
        rebuild = await index.begin_rebuild(MANIFEST)
        await rebuild.replace_pages({"pay": [a_chunk(a_page("pay"), 0, "salary")]})
        assert [
            hit.chunk.page.id
            for hit in await rebuild.search([a_query("salary")], audience=EVERYBODY, limit=5)
        ] == ["pay"]
        assert list(await rebuild.languages()) == ["en"]
        await rebuild.swap()

        for swaps in (False, True):
            earlier = await index.open_previous()
            assert earlier is not None
            assert await earlier.manifest() == MANIFEST
            assert set(await earlier.revisions()) == {"leave"}
            await (earlier.swap() if swaps else earlier.discard())
            assert set(await index.revisions()) == ({"leave"} if swaps else {"pay"})
        assert await index.open_previous() is None
        again = await index.begin_rebuild(MANIFEST)
        await again.discard()
        assert await found(index, "leave") == {"leave#0"}

    async def test_a_write_to_an_empty_index_needs_a_manifest(self, make_index: MakeIndex) -> None:
        index = make_index(None)
        with pytest.raises(IndexMismatchError, match="reindex"):
            await put(index, a_page("leave"), "leave")

    async def test_a_first_write_builds_with_the_known_manifest(self, index: VectorIndex) -> None:
        await put(index, a_page("leave"), "leave")
        assert await index.manifest() == MANIFEST

    async def test_replacing_a_page_leaves_nothing_of_the_old_one(self, index: VectorIndex) -> None:
        await put(index, a_page("leave"), "leave", "holiday", "salary")
        await put(index, a_page("other"), "laptop")
        await put(index, a_page("leave", revision="r2"), "price")
        assert await found(index, "salary") == {"leave#0", "other#0"}
        assert await index.counts() == IndexCounts(pages=2, chunks=2)
        assert await index.revisions() == {"leave": "r2", "other": "r1"}
        (hit,) = [
            one
            for one in await index.search([a_query("price")], audience=EVERYBODY, limit=5)
            if one.chunk.id == "leave#0"
        ]
        assert hit.chunk.text == "price"
        assert hit.lexical[0] > 0

    async def test_replacing_a_page_twice_is_the_same_as_once(self, index: VectorIndex) -> None:
        for _ in range(3):
            await put(index, a_page("leave"), "leave", "holiday")
        assert await index.counts() == IndexCounts(pages=1, chunks=2)

    async def test_a_page_replaced_by_nothing_is_gone(self, index: VectorIndex) -> None:
        await put(index, a_page("leave"), "leave")
        await index.replace_pages({"leave": []})
        assert await found(index, "leave") == set()
        assert await index.revisions() == {}

    async def test_pages_are_replaced_together_each_by_its_own(self, index: VectorIndex) -> None:
        await put(index, a_page("leave"), "leave", "holiday")
        await put(index, a_page("pay"), "salary")
        await put(index, a_page("other"), "holiday")
        await index.replace_pages(
            {
                "leave": [a_chunk(a_page("leave", revision="r2"), 0, "leave anew")],
                "pay": [],
                "new": [a_chunk(a_page("new"), at, "salary") for at in range(2)],
            }
        )
        await index.replace_pages({})
        assert await found(index, "leave") == {"leave#0", "new#0", "new#1", "other#0"}
        assert await index.revisions() == {"leave": "r2", "new": "r1", "other": "r1"}

    async def test_a_chunk_of_another_page_is_refused(self, index: VectorIndex) -> None:
        with pytest.raises(ValueError, match="cannot replace page"):
            await index.replace_pages({"leave": [a_chunk(a_page("other"), 0, "leave")]})

    async def test_deleted_pages_are_gone_and_others_stay(self, index: VectorIndex) -> None:
        for name in ("one", "two", "three"):
            await put(index, a_page(name), "leave", "holiday")
        await index.delete_pages(["one", "three", "never-there"])
        await index.delete_pages(["one"])
        await index.delete_pages([])
        assert await found(index, "leave") == {"two#0", "two#1"}
        assert await index.counts() == IndexCounts(pages=1, chunks=2)

    async def test_limiting_a_page_to_a_channel_hides_it_at_once(self, index: VectorIndex) -> None:
        await put(index, a_page("leave"), "leave")
        await put(index, a_page("leave", audience=("C0LEADS",)), "leave")
        assert await found(index, "leave") == set()

    async def test_revisions_name_every_page_of_a_large_index(self, index: VectorIndex) -> None:
        page = a_page("long", revision="r9")
        await index.replace_pages({"long": [a_chunk(page, at, "leave") for at in range(2100)]})
        await put(index, a_page("short"), "holiday")
        assert await index.revisions() == {"long": "r9", "short": "r1"}

    async def test_passages_are_listed_whole_and_only_to_those_who_may_read_them(
        self, index: VectorIndex
    ) -> None:
        await put(index, a_page("leave"), "holiday leave", "more leave")
        await put(index, a_page("pay", audience=("#leads",)), "salary")
        listed = [chunk async for batch in index.passages(audience=EVERYBODY) for chunk in batch]
        assert sorted(chunk.text for chunk in listed) == ["holiday leave", "more leave"]
        assert {chunk.page.title for chunk in listed} == {"Leave"}

    async def test_an_empty_index_lists_no_passages(self, index: VectorIndex) -> None:
        assert [batch async for batch in index.passages(audience=EVERYBODY)] == []

    async def test_languages_come_most_frequent_first(self, index: VectorIndex) -> None:
        await put(index, a_page("a", language="nl"), "leave")
        await put(index, a_page("b", language="en"), "leave", "holiday", "price")
        await put(index, a_page("c", language="de"), "leave", "salary")
        assert list(await index.languages()) == ["en", "de", "nl"]
        await index.delete_pages(["b"])
        assert list(await index.languages()) == ["de", "nl"]

    @server_in_a_series
    async def test_a_search_never_meets_a_page_without_passages(self, index: VectorIndex) -> None:
        await put(index, a_page("leave", revision="r0"), "leave", "holiday")
        stop = asyncio.Event()

        async def look() -> int:
            searches = 0
            while not stop.is_set():
                hits = await index.search([a_query("leave")], audience=EVERYBODY, limit=20)
                assert len(hits) >= 2
                searches += 1
                await asyncio.sleep(0)
            return searches

        looker = asyncio.create_task(look())
        for at in range(1, 30):
            await put(index, a_page("leave", revision=f"r{at}"), *["leave", "holiday", "price"][: 2 + at % 2])
            await asyncio.sleep(0)
        stop.set()
        assert await looker > 0
