"""What is searched for a question in parts, and for one whose step is known; the searcher is scripted."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest

from kb.config.settings import Settings
from kb.index.port import PagesWanted
from kb.models import Audience, Chunk, Hit, Page, Question, Scores, Turn
from kb.retrieval.exact_terms import REMEMBERED, _plain, _range, holds
from kb.retrieval.lexical import LexicalEncoder
from kb.retrieval.queries import WeightedQuery
from kb.retrieval.result import RetrievalResult, interleaved
from kb.retrieval.retriever import Retriever
from kb.retrieval.search import SearchResult
from kb.retrieval.vocabulary import Vocabulary
from kb.rewriting.rewriter import choose_rewriter
from kb.runtime.stopwatch import Stopwatch


def a_chunk(text: str, *, section: str = "") -> Chunk:
    page = Page(id="plan", source="s", path="plan.md", title="Study plan", url="https://kb.example/plan")
    return Chunk(
        id=text, page=page, position=0, text=text, section=(section,) if section else (), url=page.url
    )


def a_hit(text: str, *, section: str = "", score: float = 0.5) -> Hit:
    return Hit(chunk=a_chunk(text, section=section), scores=Scores(dense=score, fused=score, final=score))


class Searcher:
    """Finds what is scripted for the heaviest wording; `otherwise` for any other."""

    def __init__(self, by_query: dict[str, list[Hit]], otherwise: Sequence[Hit] = ()) -> None:
        self.by_query, self.otherwise = by_query, list(otherwise)
        self.asked: list[list[WeightedQuery]] = []
        self.every: list[bool] = []
        self.prepared: list[str] = []

    async def warm(self) -> None:
        """There is nothing to prepare."""

    async def prepare(self, text: str) -> None:
        self.prepared.append(text)

    async def languages(self) -> Sequence[str]:
        raise AssertionError("no model writes here")

    async def search(
        self,
        queries: Sequence[WeightedQuery],
        *,
        audience: Audience,
        language: str,
        anchor_pages: Sequence[str] = (),
        every: bool = False,
    ) -> SearchResult:
        self.every.append(every)
        self.asked.append(list(queries))
        best = max(queries, key=lambda query: query.weight).text
        return SearchResult(hits=self.by_query.get(best, self.otherwise), embed_ms=1.0, search_ms=1.0)

    async def readable(self, page_ids: Collection[str], *, audience: Audience) -> frozenset[str]:
        return frozenset(page_ids)

    async def pages(self, wanted: PagesWanted, *, audience: Audience) -> list[Page]:
        return []


class NoRanker:
    available = wanted = False

    async def trial(self) -> None:
        return None

    async def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        return list(hits)


async def find(searcher: Searcher, question: str, *turns: tuple[str, str]) -> RetrievalResult:
    settings, lexical = Settings(), LexicalEncoder()
    retriever = Retriever(
        rewriter=choose_rewriter(settings),
        outside_rewriter=choose_rewriter(settings),
        index=searcher,
        searcher=searcher,
        ranker=NoRanker(),
        lexical=lexical,
        vocabulary=Vocabulary(),
        settings=settings,
        asks_a_model=False,
    )
    thread = [Turn(question=asked, answer=answer) for asked, answer in turns]
    return await retriever.find(Question(id="q", text=question), thread, "en", Stopwatch())


def texts(hits: Sequence[Hit]) -> list[str]:
    return [hit.chunk.text for hit in hits]


async def test_each_part_and_the_whole_are_searched_and_the_best_of_each_goes_first() -> None:
    question = "How many days of study leave do I get and who approves it?"
    days, boss, both = a_hit("5 days"), a_hit("The manager"), a_hit("Study leave")
    searcher = Searcher(
        {
            "How many days of study leave do I get?": [days, both],
            "Who approves study leave?": [boss, days],
            question: [both, days, boss],
        }
    )
    found = await find(searcher, question)
    assert [(part.question, texts(part.hits)) for part in found.parts] == [
        ("How many days of study leave do I get?", ["5 days", "Study leave"]),
        ("Who approves study leave?", ["The manager", "5 days"]),
    ]
    assert texts(found.hits) == ["5 days", "The manager", "Study leave"]


async def test_a_part_is_searched_in_its_own_words_and_a_little_in_the_whole_questions() -> None:
    searcher = Searcher({})
    question = "What is the probation period and how long is the notice period?"
    await find(searcher, question)
    assert [(one.text, round(one.weight, 2)) for one in searcher.asked[1]] == [
        ("What is the probation period?", 0.7),
        (question, 0.3),
    ]


async def test_in_a_thread_the_question_is_embedded_while_it_is_understood_and_alone_with_its_search() -> (
    None
):
    searcher = Searcher({}, [a_hit("Days")])
    await find(searcher, "and who approves it?", ("How many days of leave do I get?", "25 days."))
    assert searcher.prepared == ["and who approves it?"]
    await find(searcher, "How many days of leave do I get?")
    assert searcher.prepared == ["and who approves it?"]


async def test_whatever_was_found_is_looked_through_for_a_step_that_must_be_held() -> None:
    searcher = Searcher({}, [a_hit("Day 5")])
    await find(searcher, "and the one before", ("What is day 7 about?", "Platforms."))
    assert all(searcher.every)
    plain = Searcher({}, [a_hit("Day 5")])
    await find(plain, "How many days of leave do I get?")
    assert not any(plain.every)


async def test_one_question_has_no_parts_and_one_search() -> None:
    searcher = Searcher({}, [a_hit("Terms")])
    found = await find(searcher, "Where can I find the terms and conditions?")
    assert (found.parts, len(searcher.asked)) == ((), 1)


async def test_passages_that_hold_the_step_go_before_those_that_do_not() -> None:
    hits = [
        a_hit("Day 7 is about platforms"),
        a_hit("Draw a model", section="Day 6: Phase C"),
        a_hit("Day 60"),
    ]
    thread = (("What is covered on Day 6?", "Phase C."), ("how about a day after tha", "Day 7: platforms."))
    found = await find(Searcher({}, hits), "and the one before", *thread)
    assert found.rewrite.required == ("Day 6",)
    assert texts(found.hits) == ["Draw a model", "Day 7 is about platforms", "Day 60"]


async def test_a_step_that_no_hit_holds_is_searched_for_by_itself() -> None:
    searcher = Searcher({"Day 7": [a_hit("Day 7: platforms"), a_hit("Day 1")]}, [a_hit("Day 6: data")])
    found = await find(searcher, "how about next", ("What is covered on Day 6?", "Phase C."))
    assert texts(found.hits) == ["Day 7: platforms", "Day 6: data"]


async def test_a_step_that_no_page_holds_changes_nothing() -> None:
    searcher = Searcher({}, [a_hit("Day 5"), a_hit("Day 6")])
    found = await find(searcher, "how about next", ("What is covered on Day 6?", "Phase C."))
    assert texts(found.hits) == ["Day 5", "Day 6"]


@pytest.mark.parametrize(
    ("term", "text", "held"),
    [
        ("Day 6", "On **Day 6** you draw", True),
        ("Day 6", "on day 6: draw", True),
        ("Day 6", "Day 60", False),
        ("Day 6", "Day 6.5", False),
        ("Day 6", "Days 5 to 7: draw", True),
        ("Day 6", "Days 7-9", False),
        ("Dag 6", "dag 5 t/m 7", True),
        ("Phase A", "in Phase A", True),
        ("Phase A", "in this phase a plan is made", False),
        ("v2.1", "since v2.1, tabs", True),
        ("2024", "in 2024", True),
    ],
)
def test_a_term_is_held_as_it_is_or_by_a_range(term: str, text: str, held: bool) -> None:
    assert holds(a_chunk(text), [term]) is held


def test_rankings_are_interleaved_and_each_passage_stands_once() -> None:
    a, b, c = a_hit("a"), a_hit("b"), a_hit("c")
    assert texts(interleaved([[a, b], [c, a], []])) == ["a", "c", "b"]
    assert texts(interleaved([[a, b]])) == ["a", "b"]


def test_ever_new_terms_do_not_pile_up() -> None:
    for number in range(2 * REMEMBERED):
        assert holds(a_chunk(f"Room {number} is free."), [f"Room {number}"])
    assert _plain.cache_info().currsize <= REMEMBERED
    assert _range.cache_info().currsize <= REMEMBERED
