"""What any vector index tells of pages: by their names, their sources, passage by passage."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kb.index.port import (
    IndexedChunk,
    PagesWanted,
    VectorIndex,
)
from kb.index.server.index import ServerIndex
from kb.models import EVERYONE, Audience, Chunk
from kb.pages.versions import names_of
from tests.contract.indexes import (
    EVERYBODY,
    LEADS,
    MANIFEST,
    MakeIndex,
    a_chunk,
    a_page,
    a_query,
    dense,
    found,
    lexical,
    near,
    put,
)

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


class TestNeighbours:
    async def test_they_are_the_passages_at_the_positions_asked_for_of_each_page(
        self, index: VectorIndex
    ) -> None:
        await put(index, a_page("leave"), "leave 0", "leave 1", "leave 2", "leave 3")
        await put(index, a_page("pay"), "salary 0", "salary 1", "salary 2", "salary 3")
        assert await near(index, leave=[0, 2, 2], pay={3}) == {
            "leave": ["leave 0", "leave 2"],
            "pay": ["salary 3"],
        }

    async def test_they_come_whole(self, index: VectorIndex) -> None:
        page = a_page("leave", owner="People", version="2026")
        chunk = Chunk(id="x", page=page, position=7, text="leave", section=("A", "B"), url="https://kb/x#b")
        indexed = IndexedChunk(chunk=chunk, dense=dense("leave"), lexical=lexical("leave"))
        await index.replace_pages({"leave": [indexed]})
        assert list(await index.neighbours({"leave": [7]}, audience=EVERYBODY)) == [chunk]

    async def test_what_no_page_has_at_that_position_is_absent(self, index: VectorIndex) -> None:
        assert await near(index, leave=[0]) == {}
        await put(index, a_page("leave"), "leave 0", "leave 1")
        assert await near(index, leave=[-1, 1, 2, 10**9], nowhere=[0]) == {"leave": ["leave 1"]}
        assert await near(index, leave=[]) == {}
        assert await near(index, leave=[], pay=[0]) == {}
        assert await near(index) == {}

    async def test_a_page_that_the_audience_may_not_read_is_absent(self, index: VectorIndex) -> None:
        await put(index, a_page("leave"), "leave 0", "leave 1")
        await put(index, a_page("pay", audience=("#leads",)), "salary 0", "salary 1")
        assert await near(index, leave=[1], pay=[0, 1]) == {"leave": ["leave 1"]}
        assert await near(index, LEADS, leave=[1], pay=[1]) == {"leave": ["leave 1"], "pay": ["salary 1"]}
        assert await near(index, Audience(everyone=False), leave=[0], pay=[0]) == {}

    async def test_a_page_that_was_deleted_limited_or_shortened_meanwhile_is_as_it_is_now(
        self, index: VectorIndex
    ) -> None:
        for page in ("gone", "limited", "shorter"):
            await put(index, a_page(page), "leave 0", "leave 1")
        await index.delete_pages(["gone"])
        await put(index, a_page("limited", audience=("#leads",)), "leave 0", "leave 1")
        await put(index, a_page("shorter"), "leave anew")
        assert await near(index, gone=[0, 1], limited=[0, 1], shorter=[0, 1]) == {"shorter": ["leave anew"]}

    async def test_many_pages_come_in_one_call(self, index: VectorIndex) -> None:
        """Twelve hundred passages: more than strict mode gives at a time."""
        pages = [a_page(f"page{at}") for at in range(400)]
        await index.replace_pages(
            {page.id: [a_chunk(page, at, f"leave {at}") for at in range(4)] for page in pages}
        )
        found = await near(index, **{page.id: [1, 2, 3] for page in pages})
        assert len(found) == 400
        assert set(map(tuple, found.values())) == {("leave 1", "leave 2", "leave 3")}

    async def test_a_generation_that_is_being_built_is_not_asked(self, index: VectorIndex) -> None:
        await put(index, a_page("leave"), "leave old")
        rebuild = await index.begin_rebuild(MANIFEST)
        await put(rebuild, a_page("leave"), "leave new", "holiday new")
        assert await near(index, leave=[0, 1]) == {"leave": ["leave old"]}
        await rebuild.swap()
        assert await near(index, leave=[0, 1]) == {"leave": ["leave new", "holiday new"]}


async def test_pages_are_found_by_name_by_what_they_replace_and_by_series(make_index: MakeIndex):
    index = make_index(MANIFEST)
    old = a_page("old", title="Travel 2024")
    await put(index, old, "leave", "holiday")
    await put(index, a_page("new", title="Travel", replaces=("Travel 2024",)), "leave", "holiday")
    await put(index, a_page("v2", title="Laptop guide v2", version="2"), "laptop")
    secret = a_page("secret", title="Secret", replaces=("Travel 2024",), audience=("#leads",))
    await put(index, secret, "leave")

    async def ids(audience: Audience = EVERYBODY, **wanted: tuple[str, ...]) -> set[str]:
        return {page.id for page in await index.pages(PagesWanted(**wanted), audience=audience)}

    assert await ids() == set()
    assert await ids(named=("travel 2024",)) == {"old"}
    assert await ids(named=("kb.example/new", "old.md")) == {"new", "old"}
    assert await ids(replacing=names_of(old)) == {"new"}
    assert await ids(Audience(channels=frozenset({"#leads"})), replacing=names_of(old)) == {"new", "secret"}
    assert await ids(series=("handbook|en|laptop guide",)) == {"v2"}


async def test_what_a_page_says_of_its_standing_comes_back_whole(make_index: MakeIndex):
    index = make_index(MANIFEST)
    page = a_page("new", replaces=("Travel 2024", "https://kb.example/old"), version="2026")
    await put(index, page, "leave")
    assert await index.pages(PagesWanted(named=("new",)), audience=EVERYBODY) == [page]


async def test_the_passages_of_some_pages_are_those_that_the_audience_may_read(index: VectorIndex) -> None:
    await put(index, a_page("leave"), "leave", "holiday")
    await put(index, a_page("pay", audience=("#leads",)), "salary")
    await put(index, a_page("tea"), "price")

    async def of(*pages: str, audience: Audience = EVERYBODY) -> set[str]:
        batches = index.passages(audience=audience, of_pages=pages)
        return {chunk.id async for batch in batches for chunk in batch}

    assert await of("leave", "pay", "gone") == {"leave#0", "leave#1"}
    assert await of("pay", audience=Audience(channels=frozenset({"#leads"}))) == {"pay#0"}
    assert await of() == set()


class TestSample:
    async def test_it_holds_passages_from_all_over_with_their_vectors_whoever_may_read_them(
        self, index: VectorIndex
    ) -> None:
        for at in range(30):
            limited = ("#leads",) if at % 2 else (EVERYONE,)
            await put(index, a_page(f"page{at}", audience=limited), "leave", "holiday", "salary price")
        everything = {one.chunk.id: one for one in await index.sample(1000)}
        assert len(everything) == 90
        assert list(everything["page3#2"].dense) == pytest.approx(dense("salary price"), abs=1e-6)
        some = await index.sample(20)
        assert len({one.chunk.page.id for one in some}) > 10
        assert [one.chunk.id for one in await index.sample(20)] == [one.chunk.id for one in some]


class TestSources:
    """A place that wants to be told from some sources is told of nothing else, by whichever way it asks."""

    SHOP = Audience(sources=frozenset({"shop"}))

    @staticmethod
    async def fill(index: VectorIndex) -> None:
        for at in range(6):  # nearer to what is asked than anything of the shop
            await put(index, a_page(f"hand-{at}"), "leave leave", "leave holiday")
        await put(
            index, replace(a_page("tea", superseded_by="Hand-0"), source="shop"), "price leave", "shipping"
        )
        await put(index, replace(a_page("cost", audience=("#buyers",)), source="shop"), "price price leave")
        await put(index, replace(a_page("post"), source="wiki"), "shipping")

    async def test_every_leg_brings_of_these_sources_alone(self, index: VectorIndex) -> None:
        await self.fill(index)
        asked = [a_query("leave"), a_query("leave holiday"), a_query("price")]
        for limit in (1, 2, 20):
            for anchors in ((), ("hand-0", "tea")):
                hits = await index.search(asked, audience=self.SHOP, limit=limit, anchor_pages=anchors)
                assert {hit.chunk.page.source for hit in hits} == {"shop"}
                assert {hit.chunk.page.id for hit in hits} == {"tea"}
        several = Audience(sources=frozenset({"shop", "wiki"}), channels=frozenset({"#buyers"}))
        assert {one.split("#")[0] for one in await found(index, "shipping", several)} == {
            "tea",
            "cost",
            "post",
        }

    async def test_no_choice_is_every_source_and_an_unknown_source_is_none(self, index: VectorIndex) -> None:
        await self.fill(index)
        assert len(await found(index, "leave")) == 15
        assert await found(index, "leave", Audience(sources=frozenset({"gone"}))) == set()

    async def test_pages_neighbours_and_lists_keep_to_them(self, index: VectorIndex) -> None:
        await self.fill(index)
        wanted = PagesWanted(named=(*names_of(a_page("hand-0")), *names_of(a_page("tea"))))
        assert {page.id for page in await index.pages(wanted, audience=self.SHOP)} == {"tea"}
        assert await index.readable(["tea", "cost", "hand-0"], audience=self.SHOP) == {"tea"}
        around = await index.neighbours({"hand-0": [1], "tea": [1]}, audience=self.SHOP)
        assert {chunk.page.id for chunk in around} == {"tea"}
        listed = [chunk.page.id async for batch in index.passages(audience=self.SHOP) for chunk in batch]
        assert set(listed) == {"tea"}

    async def test_an_index_that_was_built_before_there_was_such_a_choice_has_it_too(
        self, make_index: MakeIndex, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for module in ("embedded.shard", "server.writes"):
            monkeypatch.setattr(f"kb.index.{module}.KEYWORD_FIELDS", ("audience", "page_id", "language"))
        index = make_index(MANIFEST)
        await self.fill(index)
        monkeypatch.undo()
        if isinstance(index, ServerIndex):  # strict mode refuses the field until a newer process has written
            index = make_index(MANIFEST)
        await put(index, a_page("later"), "holiday")
        assert await found(index, "leave", self.SHOP) == {"tea#0", "tea#1"}
