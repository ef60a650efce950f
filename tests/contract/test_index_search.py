"""What a search of any vector index finds, for whom, and with which scores."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import date

import numpy as np
import pytest

from kb.index.port import (
    Candidate,
    FoundScores,
    IndexedChunk,
    QueryVectors,
    SparseVector,
    VectorIndex,
)
from kb.models import Audience, Chunk, PageDates
from tests.contract.indexes import (
    EVERYBODY,
    a_page,
    a_query,
    dense,
    found,
    lexical,
    put,
)

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


class TestSearch:
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
