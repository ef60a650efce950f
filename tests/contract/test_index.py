"""What every vector index does. Two engines pass the same suite: Qdrant Edge in a folder, and a Qdrant server.

`QDRANT_URL` (and `QDRANT_API_KEY`) names a real one, on which collections of names that nobody has are made
and dropped;
without it, a server of `tests.fakes.qdrant_server` in strict mode takes its place.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient, models

from kb.calibration import Calibration, Reranking
from kb.errors import IndexDamagedError, IndexMismatchError, IndexUnavailableError
from kb.index.edge import EdgeIndex
from kb.index.port import (
    Candidate,
    FoundScores,
    IndexCounts,
    IndexedChunk,
    IndexManifest,
    PagesWanted,
    QueryVectors,
    SparseVector,
    VectorIndex,
)
from kb.index.server import ServerIndex
from kb.models import EVERYONE, Audience, Chunk, Page, PageDates
from kb.pages.versions import names_of
from tests.fakes.qdrant_server import QdrantServer

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

DIMENSION = 8
MANIFEST = IndexManifest(embedder="tiny", dimension=DIMENSION, chunker="v1")
STRICT = models.StrictModeConfig(
    enabled=True,
    max_query_limit=1000,
    unindexed_filtering_retrieve=False,
    unindexed_filtering_update=False,
    upsert_max_batchsize=500,
)
"""As Qdrant Cloud sets it, and a little stricter."""
TERMS = ["leave", "holiday", "laptop", "price", "shipping", "salary"]
EVERYBODY = Audience()


def a_page(page_id: str, *, audience: tuple[str, ...] = (EVERYONE,), **fields: object) -> Page:
    return Page(
        id=page_id,
        source="handbook",
        path=f"{page_id}.md",
        url=f"https://kb.example/{page_id}",
        audience=audience,
        **{"title": page_id.title(), "language": "en", "revision": "r1", **fields},
    )


def a_chunk(page: Page, position: int, text: str) -> IndexedChunk:
    """Passages about the same terms lie close to each other in the dense space as well."""
    chunk = Chunk(id=f"{page.id}#{position}", page=page, position=position, text=text, url=page.url)
    return IndexedChunk(chunk=chunk, dense=dense(text), lexical=lexical(text))


def dense(text: str) -> list[float]:
    vector = np.full(DIMENSION, 0.05)
    for at, term in enumerate(TERMS):
        vector[at] += text.count(term)
    return list(vector / np.linalg.norm(vector))


def lexical(text: str) -> SparseVector:
    present = [at for at, term in enumerate(TERMS) if term in text]
    return SparseVector(indices=tuple(present), values=tuple(float(text.count(TERMS[at])) for at in present))


def a_query(text: str) -> QueryVectors:
    return QueryVectors(dense=dense(text), lexical=lexical(text))


async def put(index: VectorIndex, page: Page, *texts: str) -> None:
    await index.replace_pages({page.id: [a_chunk(page, at, text) for at, text in enumerate(texts)]})


async def found(index: VectorIndex, text: str, audience: Audience = EVERYBODY, **more: object) -> set[str]:
    hits = await index.search([a_query(text)], audience=audience, **{"limit": 20, **more})
    return {hit.chunk.id for hit in hits}


MakeIndex = Callable[[IndexManifest | None], VectorIndex]


@pytest.fixture
async def served() -> AsyncIterator[Callable[..., ServerIndex]]:
    """Makes indexes on one server: `served(manifest, name="kb",
    **options)`. Indexes of one name share their collections.
    """
    url, key = os.environ.get("QDRANT_URL"), os.environ.get("QDRANT_API_KEY")
    fake = QdrantServer(strict=STRICT)
    if url is None:
        await fake.start()
    client = AsyncQdrantClient(url=url or fake.url, api_key=key, timeout=20, check_compatibility=False)
    unique = f"footnote-test-{uuid4().hex[:12]}"

    def make(manifest: IndexManifest | None = None, *, name: str = "kb", **options: object) -> ServerIndex:
        return ServerIndex(client, f"{unique}-{name}", manifest=manifest, **options)

    yield make
    if url is not None:
        for one in (await client.get_collections()).collections:
            if one.name.startswith(unique):
                await client.delete_collection(one.name)
    await client.close()
    await fake.stop()


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[MakeIndex]:
    """Makes indexes in one folder."""
    made: list[EdgeIndex] = []

    def make(manifest: IndexManifest | None) -> VectorIndex:
        made.append(EdgeIndex(tmp_path / "index", manifest=manifest))
        return made[-1]

    yield make
    for index in made:
        await index.close()


@pytest.fixture(params=["edge", "server"])
def make_index(request: pytest.FixtureRequest) -> MakeIndex:
    """The server is started for its own half alone."""
    make: MakeIndex = request.getfixturevalue({"edge": "embedded", "server": "served"}[request.param])
    return make


@pytest.fixture
async def index(make_index: MakeIndex) -> VectorIndex:
    return make_index(MANIFEST)


class TestEveryIndex:
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

    async def test_a_chunk_comes_back_as_it_went_in(self, index: VectorIndex) -> None:
        page = a_page(
            "leave",
            owner="People team",
            place="offices › Ghent",
            superseded_by="new-leave.md",
            retired="archived",
            dates=PageDates(edited=date(2026, 1, 2), review_due=date(2026, 5, 1)),
        )
        chunk = Chunk(
            id="any text / id",
            page=page,
            position=3,
            text="*leave*",
            section=("A", "B"),
            url="https://kb.example/x#b",
        )
        await index.replace_pages(
            {"leave": [IndexedChunk(chunk=chunk, dense=dense("leave"), lexical=lexical("leave"))]}
        )
        (hit,) = await index.search([a_query("leave")], audience=EVERYBODY, limit=5)
        assert hit.chunk == chunk

    async def test_every_candidate_has_both_scores_for_every_query(self, index: VectorIndex) -> None:
        await put(index, a_page("leave"), "leave leave holiday", "salary")
        await put(index, a_page("laptop"), "laptop price")
        hits = await index.search([a_query("leave"), a_query("laptop price")], audience=EVERYBODY, limit=10)
        by_id = {hit.chunk.id: hit for hit in hits}
        assert set(by_id) == {"leave#0", "leave#1", "laptop#0"}
        for name, text in (
            ("leave#0", "leave leave holiday"),
            ("leave#1", "salary"),
            ("laptop#0", "laptop price"),
        ):
            expected = (np.dot(dense("leave"), dense(text)), np.dot(dense("laptop price"), dense(text)))
            assert by_id[name].dense == pytest.approx(expected, abs=1e-5)
        assert by_id["leave#0"].lexical[0] > 0
        assert by_id["leave#0"].lexical[1] == 0
        assert by_id["laptop#0"].lexical[0] == 0
        assert by_id["laptop#0"].lexical[1] > 0
        assert by_id["leave#1"].lexical == (0, 0)

    async def test_a_passage_that_only_one_leg_found_has_its_true_score_of_the_other(
        self, index: VectorIndex
    ) -> None:
        for at in range(6):
            await put(index, a_page(f"close-{at}"), "leave holiday")
        await put(index, a_page("far"), "leave salary salary salary salary")
        only_lexical = QueryVectors(dense=dense("holiday holiday holiday leave"), lexical=lexical("salary"))
        hits = await index.search([only_lexical], audience=EVERYBODY, limit=2)
        far = next(hit for hit in hits if hit.chunk.page.id == "far")
        assert far.dense[0] == pytest.approx(
            np.dot(only_lexical.dense, dense("leave salary salary salary salary")), abs=1e-5
        )
        assert far.lexical[0] > 0
        assert len(hits) == 3

    async def test_a_query_without_terms_scores_by_meaning_alone(self, index: VectorIndex) -> None:
        await put(index, a_page("leave"), "leave")
        nothing = QueryVectors(dense=dense("leave"), lexical=SparseVector(indices=(), values=()))
        (hit,) = await index.search([nothing, a_query("leave")], audience=EVERYBODY, limit=5)
        assert hit.lexical[0] == 0
        assert hit.lexical[1] > 0

    async def test_a_rare_term_weighs_more_than_a_common_one(self, index: VectorIndex) -> None:
        for at in range(10):
            await put(index, a_page(f"common-{at}"), "leave")
        await put(index, a_page("rare"), "salary")
        hits = await index.search([a_query("leave salary")], audience=EVERYBODY, limit=20)
        scores = {hit.chunk.page.id: hit.lexical[0] for hit in hits}
        assert scores["rare"] > 2 * scores["common-0"] > 0

    async def test_a_search_without_queries_finds_nothing(self, index: VectorIndex) -> None:
        await put(index, a_page("leave"), "leave")
        assert await index.search([], audience=EVERYBODY, limit=5) == []

    async def test_an_audience_never_sees_a_page_that_it_may_not_read(self, index: VectorIndex) -> None:
        await put(index, a_page("open"), "salary")
        await put(index, a_page("leads", audience=("C0LEADS", "#people-leads")), "salary salary")
        await put(index, a_page("board", audience=("C0BOARD",)), "salary salary salary")
        assert await found(index, "salary") == {"open#0"}
        assert await found(index, "salary", Audience(channels=frozenset({"C0GENERAL"}))) == {"open#0"}
        assert await found(index, "salary", Audience(channels=frozenset({"#people-leads"}))) == {
            "open#0",
            "leads#0",
        }

    async def test_a_hidden_page_does_not_take_the_place_of_a_readable_one(self, index: VectorIndex) -> None:
        for at in range(8):
            await put(index, a_page(f"secret-{at}", audience=("C0LEADS",)), "salary salary salary")
        await put(index, a_page("open"), "salary leave laptop")
        assert await found(index, "salary", limit=1) == {"open#0"}

    async def test_anchoring_on_a_hidden_page_does_not_reveal_it(self, index: VectorIndex) -> None:
        await put(index, a_page("open"), "leave")
        await put(index, a_page("leads", audience=("C0LEADS",)), "salary")
        assert await found(index, "salary", anchor_pages=["leads"]) == {"open#0"}

    async def test_an_audience_of_nobody_reads_nothing(self, index: VectorIndex) -> None:
        await put(index, a_page("open"), "salary")
        nobody = Audience(everyone=False)
        assert await found(index, "salary", nobody, anchor_pages=["open"]) == set()
        assert await index.readable(["open"], audience=nobody) == set()
        assert [batch async for batch in index.passages(audience=nobody) if batch] == []

    async def test_it_tells_which_pages_may_be_read_now(self, index: VectorIndex) -> None:
        await put(index, a_page("open"), "salary", "leave")
        await put(index, a_page("finance", audience=("@finance", "C0LEADS")), "salary")
        asked = ["open", "finance", "gone"]
        assert await index.readable(asked, audience=EVERYBODY) == {"open"}
        assert await index.readable(asked, audience=Audience(groups=frozenset({"@finance"}))) == {
            "open",
            "finance",
        }
        assert await index.readable([], audience=EVERYBODY) == set()
        await put(index, a_page("open", audience=("C0LEADS",)), "salary")
        assert await index.readable(asked, audience=EVERYBODY) == set()

    async def test_an_anchored_page_is_found_where_the_plain_legs_miss_it(self, index: VectorIndex) -> None:
        for at in range(5):
            await put(index, a_page(f"leave-{at}"), "leave")
        await put(index, a_page("cited"), "price shipping")
        assert "cited#0" not in await found(index, "leave", limit=2)
        anchored = await index.search(
            [a_query("leave")], audience=EVERYBODY, limit=2, anchor_pages=["cited", "gone"]
        )
        cited = next(hit for hit in anchored if hit.chunk.page.id == "cited")
        assert cited.dense[0] == pytest.approx(np.dot(dense("leave"), dense("price shipping")), abs=1e-5)
        assert cited.lexical == (0,)

    async def test_what_is_read_is_chosen_by_scores(self, index: VectorIndex) -> None:
        await put(index, a_page("a"), "leave holiday", "salary")
        await put(index, a_page("b"), "leave price")
        queries = [a_query("leave"), a_query("salary")]
        seen: list[FoundScores] = []

        async def chosen(rows: Callable[[FoundScores], Sequence[int]]) -> list[Candidate]:
            def choose(scores: FoundScores) -> Sequence[int]:
                seen.append(scores)
                return rows(scores)

            return await index.search(
                queries, audience=EVERYBODY, limit=10, anchor_pages=["a"], choose=choose
            )

        (hit,) = await chosen(lambda scores: [int(scores.lexical[:, 1].argmax())])
        assert hit.chunk.id == "a#1"
        hits = await chosen(lambda scores: range(len(scores.dense)))
        scores = seen[-1]
        assert scores.dense.shape == scores.lexical.shape == (3, 2)
        for one in hits:
            assert tuple(scores.dense[one.row]) == pytest.approx(one.dense)
            assert tuple(scores.lexical[one.row]) == pytest.approx(one.lexical)
            assert scores.anchored[one.row] == (one.chunk.page.id == "a")

    async def test_without_anchors_nothing_is_anchored_and_nothing_found_is_no_choice(
        self, index: VectorIndex
    ) -> None:
        await put(index, a_page("a"), "leave")
        seen: list[bool] = []

        def choose(scores: FoundScores) -> list[int]:
            seen.extend(scores.anchored.tolist())
            return []

        assert await index.search([a_query("leave")], audience=EVERYBODY, limit=10, choose=choose) == []
        assert seen == [False]
        nobody = Audience(channels=frozenset({"C9"}), everyone=False)
        assert await index.search([a_query("leave")], audience=nobody, limit=10, choose=choose) == []
        assert seen == [False]

    async def test_a_page_replaced_between_its_scores_and_its_reading_is_met_before_or_after(
        self, index: VectorIndex
    ) -> None:
        await put(index, a_page("a", revision="r1"), *["leave"] * 20)
        loop, writes = asyncio.get_running_loop(), []

        def choose(scores: FoundScores) -> range:
            if not writes:
                replacing = put(index, a_page("a", revision="r2"), *["leave holiday"] * 20)
                writes.append(asyncio.run_coroutine_threadsafe(replacing, loop))
            return range(len(scores.dense))

        hits = await index.search([a_query("leave")], audience=EVERYBODY, limit=50, choose=choose)
        await asyncio.wrap_future(writes[0])
        assert len(hits) == 20
        assert len({hit.chunk.page.revision for hit in hits}) == 1

    async def test_a_page_deleted_between_its_scores_and_its_reading_is_absent_or_there(
        self, index: VectorIndex
    ) -> None:
        await put(index, a_page("a"), "leave")
        await put(index, a_page("b"), "leave")
        loop, deletions = asyncio.get_running_loop(), []

        def choose(scores: FoundScores) -> range:
            deletions.append(asyncio.run_coroutine_threadsafe(index.delete_pages(["a"]), loop))
            return range(len(scores.dense))

        hits = await index.search([a_query("leave")], audience=EVERYBODY, limit=50, choose=choose)
        await asyncio.gather(*map(asyncio.wrap_future, deletions))
        assert {hit.chunk.id for hit in hits} in ({"a#0", "b#0"}, {"b#0"})

    async def test_anchors_do_not_change_a_score(self, index: VectorIndex) -> None:
        await put(index, a_page("a"), "leave holiday", "salary")
        await put(index, a_page("b"), "leave price")
        plain = await index.search([a_query("leave")], audience=EVERYBODY, limit=10)
        anchored = await index.search([a_query("leave")], audience=EVERYBODY, limit=10, anchor_pages=["a"])
        assert {hit.chunk.id: hit.lexical for hit in plain} == {
            hit.chunk.id: pytest.approx(hit.lexical) for hit in anchored
        }
        assert {hit.chunk.id: hit.dense for hit in plain} == {
            hit.chunk.id: pytest.approx(hit.dense) for hit in anchored
        }

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


def write_until_killed(folder: Path, *, after: int) -> Sequence[str]:
    """Runs a writer in a process of its own and kills it, mid-write, once it has reported `after` pages."""
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(Path(__file__))],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    reported = []
    with process.stdout:
        for line in process.stdout:
            reported.append(json.loads(line))
            if len(reported) == after:
                process.send_signal(signal.SIGKILL)
                break
        reported += [json.loads(line) for line in process.stdout if line.endswith("\n")]
    process.wait()
    return reported


WRITER = """
import asyncio, importlib.util, json, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("suite", sys.argv[2])
suite = importlib.util.module_from_spec(spec)
spec.loader.exec_module(suite)

async def main():
    index = suite.EdgeIndex(Path(sys.argv[1]), manifest=suite.MANIFEST)
    await suite.put(index, suite.a_page("first"), "leave", "holiday")
    rebuild = await index.begin_rebuild(suite.MANIFEST)
    for at in range(100_000):
        page = suite.a_page(f"page-{at}")
        await suite.put(rebuild, page, "leave")
        await suite.put(index, page, "leave", "leave price")
        print(json.dumps(page.id), flush=True)

asyncio.run(main())
"""


class TestServerIndex:
    @pytest.mark.parametrize("grpc", [False, True])
    async def test_a_server_that_does_not_answer_is_an_outage(self, grpc: bool) -> None:
        client = AsyncQdrantClient(
            url="http://127.0.0.1:1", grpc_port=1, prefer_grpc=grpc, timeout=2, check_compatibility=False
        )
        index = ServerIndex(client, "kb", manifest=MANIFEST, retry_s=0)
        for call in (
            index.search([a_query("leave")], audience=EVERYBODY, limit=5),
            put(index, a_page("leave"), "leave"),
            index.delete_pages(["leave"]),
            index.revisions(),
            index.counts(),
            index.languages(),
            index.neighbours({"leave": [0]}, audience=EVERYBODY),
            index.manifest(),
            index.calibration(),
            index.calibrate(measured()),
            index.sample(5),
            index.search([a_query("leave")], audience=EVERYBODY, limit=5, made_with="tiny"),
            index.begin_rebuild(MANIFEST),
        ):
            with pytest.raises(IndexUnavailableError) as outage:
                await call
            assert outage.value.__cause__ is not None
        await index.close()

    async def test_two_bots_share_a_server_and_both_see_a_swap(
        self, served: Callable[..., ServerIndex]
    ) -> None:
        one, two = served(MANIFEST), served()
        await put(one, a_page("old"), "leave")
        assert await found(two, "leave") == {"old#0"}
        rebuild = await one.begin_rebuild(MANIFEST)
        await put(rebuild, a_page("new"), "leave")
        await rebuild.swap()
        assert await found(two, "leave") == {"new#0"}

    async def test_one_collection_is_kept_for_a_way_back_and_others_of_the_server_are_not_touched(
        self, served: Callable[..., ServerIndex]
    ) -> None:
        index = served(MANIFEST)
        neighbour = served(MANIFEST, name="kb-g1-archive")
        await put(neighbour, a_page("theirs"), "leave")
        for at in range(4):
            rebuild = await index.begin_rebuild(MANIFEST)
            await put(rebuild, a_page(f"page-{at}"), "leave")
            await rebuild.swap()
        earlier = await index.open_previous()
        assert earlier is not None
        assert set(await earlier.revisions()) == {"page-2"}
        await earlier.swap()
        assert await index.open_previous() is None
        assert await found(neighbour, "leave") == {"theirs#0"}


LEADS = Audience(channels=frozenset({"#leads"}))


async def near(
    index: VectorIndex, audience: Audience = EVERYBODY, **spots: Collection[int]
) -> dict[str, list[str]]:
    """Page id -> the texts that came, by position."""
    chunks = await index.neighbours(spots, audience=audience)
    texts: dict[str, list[str]] = {}
    for chunk in sorted(chunks, key=lambda one: one.position):
        texts.setdefault(chunk.page.id, []).append(chunk.text)
    return texts


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


def measured(passages: int = 3, **parts: object) -> Calibration:
    return Calibration(passages=passages, **parts)


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
        for module in ("shard", "server_writes"):
            monkeypatch.setattr(f"kb.index.{module}.KEYWORD_FIELDS", ("audience", "page_id", "language"))
        index = make_index(MANIFEST)
        await self.fill(index)
        monkeypatch.undo()
        if isinstance(index, ServerIndex):  # strict mode refuses the field until a newer process has written
            index = make_index(MANIFEST)
        await put(index, a_page("later"), "holiday")
        assert await found(index, "leave", self.SHOP) == {"tea#0", "tea#1"}
