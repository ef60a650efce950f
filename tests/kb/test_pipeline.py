"""The steps of one question, each part of the pipeline replaced at its own seam."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pytest

from kb.answer import Checked
from kb.answering.draft import Draft, DraftSentence
from kb.answering.extract import ExtractiveDrafter
from kb.errors import (
    EmbedderUnavailableError,
    IndexUnavailableError,
    ModelRefusedError,
    ModelReplyError,
    ModelUnavailableError,
)
from kb.freshness import FreshnessPolicy
from kb.index.port import PagesWanted
from kb.lexical import LexicalEncoder
from kb.models import Audience, Chunk, Hit, Page, PageDates, Question, Rewrite, Scores, Turn
from kb.pipeline import Pipeline
from kb.rewrite import choose_rewriter
from kb.search import SearchResult, WeightedQuery
from kb.settings import Settings
from kb.versions import names_of
from kb.vocabulary import Vocabulary

TODAY = datetime(2026, 11, 27, 12, tzinfo=UTC)


def a_hit(text: str, *, title: str = "Leave policy", dense: float = 0.7, **page: Any) -> Hit:
    about = Page(
        id=title, source="s", path=f"{title}.md", title=title, url=f"https://kb.example/{title}", **page
    )
    chunk = Chunk(id=f"{title}-{text}", page=about, position=0, text=text, url=about.url)
    return Hit(chunk=chunk, scores=Scores(dense=dense, lexical=3.0, fused=dense, final=dense))


HOLIDAY = a_hit("Full-time employees get 25 days of holiday a year.")


def reviewed(year: int, month: int, day: int) -> PageDates:
    return PageDates(reviewed=date(year, month, day))


class Index:
    """Finds what it was given, and remembers what it was asked."""

    def __init__(self, *hits: Hit, error: Exception | None = None, known: Sequence[Hit] = ()) -> None:
        """`known`: hits of pages that only a search for these very pages brings."""
        self.hits, self.error, self.known = list(hits), error, list(known)
        self.asked: list[Sequence[WeightedQuery]] = []
        self.anchors: list[Sequence[str]] = []
        self.prepared: list[str] = []

    async def prepare(self, text: str) -> None:
        self.prepared.append(text)

    async def readable(self, page_ids: Collection[str], *, audience: Audience) -> frozenset[str]:
        return frozenset(page_ids)

    async def pages(self, wanted: PagesWanted, *, audience: Audience) -> list[Page]:
        return [
            hit.chunk.page for hit in self.known if not set(names_of(hit.chunk.page)).isdisjoint(wanted.named)
        ]

    async def search(
        self,
        queries: Sequence[WeightedQuery],
        *,
        audience: Audience,
        language: str,
        anchor_pages: Sequence[str] = (),
    ) -> SearchResult:
        self.asked.append(queries)
        self.anchors.append(anchor_pages)
        if self.error is not None:
            raise self.error
        wanted = [hit for hit in self.known if hit.chunk.page.id in anchor_pages]
        return SearchResult(hits=[*self.hits, *wanted], embed_ms=1.0, search_ms=1.0)


class NoRanker:
    def __init__(self, *, wanted: bool = False) -> None:
        self.wanted, self.available = wanted, False

    async def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        return list(hits)


class Embedder:
    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    async def embed_queries(self, texts: Sequence[str]) -> np.ndarray:
        return self._vectors(texts)

    async def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        return self._vectors(texts)

    def _vectors(self, texts: Sequence[str]) -> np.ndarray:
        if self._error is not None:
            raise self._error
        return np.ones((len(texts), 2), dtype=np.float32) / np.sqrt(2)


class Model:
    def __init__(self, outcome: Draft | Exception) -> None:
        self._outcome = outcome

    async def draft(self, *_: Any, **__: Any) -> Draft:
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


def a_pipeline(
    index: Index,
    *,
    model: Model | None = None,
    ranker: NoRanker | None = None,
    embedder: Embedder | None = None,
    **settings: Any,
) -> Pipeline:
    lexical = LexicalEncoder()
    configured = Settings(**settings)

    async def alike(pairs: list[tuple[str, str]]) -> list[float]:
        return [1.0] * len(pairs)

    return Pipeline(
        rewriter=choose_rewriter(configured),
        outside_rewriter=choose_rewriter(configured),
        index=index,
        searcher=index,
        ranker=ranker or NoRanker(),
        extractive=ExtractiveDrafter(
            embedder=embedder or Embedder(), coverage=lexical.coverage, max_sentences=3
        ),
        model=model,
        similarity=alike,
        lexical=lexical,
        vocabulary=Vocabulary(lexical),
        freshness=FreshnessPolicy(clock=lambda: TODAY),
        settings=configured,
        clock=lambda: TODAY,
    )


def ask(text: str = "How many days of holiday do I get?") -> Question:
    return Question(id="q1", text=text)


A_TURN = Turn(question="How many days of holiday do I get?", answer="25 days.", topics=("holiday",))


async def test_an_answer_cites_its_page_and_says_that_it_is_extractive():
    answer = await a_pipeline(Index(HOLIDAY)).answer(ask())
    assert (answer.outcome, answer.mode, answer.notes) == ("answered", "extractive", ("extractive mode",))
    assert answer.marked_text == "Full-time employees get 25 days of holiday a year. [1]"
    assert [citation.chunk.page.title for citation in answer.citations] == ["Leave policy"]


@pytest.mark.parametrize(
    "broken",
    [
        {"index": Index(error=IndexUnavailableError("down"))},
        {"index": Index(HOLIDAY), "embedder": Embedder(EmbedderUnavailableError("down"))},
    ],
)
async def test_an_outage_is_never_worded_as_not_found(broken: dict[str, Any]):
    answer = await a_pipeline(**broken).answer(ask())
    assert answer.outcome == "unavailable"
    assert answer.citations == () == answer.nearest


async def test_too_little_evidence_declines_and_offers_the_nearest_pages():
    index = Index(a_hit("Parking is free.", title="Parking", dense=0.1))
    answer = await a_pipeline(index).answer(ask("Who won the 1998 world cup?"))
    assert answer.outcome == "declined"
    assert answer.sentences == ()
    assert [page.title for page in answer.nearest] == ["Parking"]


@pytest.mark.parametrize(
    ("error", "note"),
    [
        (ModelUnavailableError("429"), "model unavailable"),
        (ModelReplyError("no JSON"), "model unavailable"),
        (ModelRefusedError("refusal"), "model refused"),
    ],
)
async def test_a_model_that_fails_is_replaced_by_quotes_with_a_note(error: Exception, note: str):
    answer = await a_pipeline(Index(HOLIDAY), model=Model(error)).answer(ask())
    assert (answer.outcome, answer.mode) == ("answered", "extractive")
    assert set(answer.notes) == {"extractive mode", note}
    assert "25 days" in answer.text


async def test_a_model_that_finds_no_answer_in_the_passages_declines():
    answer = await a_pipeline(Index(HOLIDAY), model=Model(Draft(sentences=(), declined=True))).answer(ask())
    assert (answer.outcome, answer.mode) == ("declined", "model")


async def test_a_sentence_of_the_model_with_another_number_is_removed():
    draft = Draft(
        sentences=(
            DraftSentence(text="Full-time employees get 25 days of holiday a year.", hits=(0,), quotes=("",)),
            DraftSentence(text="Full-time employees get 52 days of holiday a year.", hits=(0,), quotes=("",)),
        )
    )
    answer = await a_pipeline(Index(HOLIDAY), model=Model(draft)).answer(ask())
    assert "52" not in answer.text
    assert answer.trace.removed_sentences == ("Full-time employees get 52 days of holiday a year.",)
    assert answer.trace.checked == Checked(sentences=2, cited=2, supported=1, removed=1)
    assert "sentences removed" in answer.notes


async def test_an_answer_that_lost_nothing_says_nothing_of_it_and_marks_of_nothing_are_counted():
    sentence = DraftSentence(
        text="Full-time employees get 25 days of holiday a year.", hits=(0,), quotes=("",)
    )
    answer = await a_pipeline(
        Index(HOLIDAY), model=Model(Draft(sentences=(sentence,), dropped_markers=2))
    ).answer(ask())
    assert answer.notes == ()
    assert answer.trace.checked == Checked(sentences=1, cited=1, supported=1, removed=0, dropped_citations=2)


async def test_thanks_get_a_reply_without_a_search():
    index = Index(HOLIDAY)
    answer = await a_pipeline(index).answer(ask("thanks!"), [A_TURN])
    assert (answer.outcome, answer.small_talk) == ("chat", "thanks")
    assert index.asked == []


async def test_a_first_question_is_searched_as_it_is():
    index = Index(HOLIDAY)
    answer = await a_pipeline(index).answer(ask())
    assert index.asked == [[WeightedQuery(text="How many days of holiday do I get?", weight=1.0)]]
    assert answer.rewritten is None


async def test_a_follow_up_is_searched_in_both_wordings_with_their_weights():
    index = Index(HOLIDAY)
    answer = await a_pipeline(index).answer(ask("and when do they expire?"), [A_TURN])
    original, rewritten = index.asked[0]
    assert (original.text, original.weight) == ("and when do they expire?", 0.3)
    assert rewritten.text == answer.rewritten
    assert rewritten.weight == pytest.approx(0.7)
    assert "holiday" in rewritten.text


async def test_a_follow_up_anchors_to_the_pages_that_the_last_answer_cited_unless_anchors_are_off():
    first = a_pipeline(Index(HOLIDAY))
    turn = first.turn(await first.answer(ask()))
    for enabled, expected in ((True, ("Leave policy",)), (False, ())):
        index = Index(HOLIDAY)
        await a_pipeline(index, anchors={"enabled": enabled}).answer(ask("and when do they expire?"), [turn])
        assert tuple(index.anchors[0]) == expected


async def test_the_original_wording_is_embedded_while_a_model_rewrites():
    index = Index(HOLIDAY)
    asked: list[list[str]] = []

    class Slow:
        async def rewrite(self, question: str, turns: Sequence[Turn], *, language: str) -> Rewrite:
            await asyncio.sleep(0)
            asked.append(list(index.prepared))
            return Rewrite(query="When do holiday days expire?", needs_rewrite=True, is_follow_up=True)

    pipeline = a_pipeline(index, model=Model(ModelUnavailableError("down")))
    object.__setattr__(pipeline, "rewriter", Slow())
    await pipeline.answer(ask("and when do they expire?"), [A_TURN])
    assert asked == [["and when do they expire?"]]


async def test_a_reranker_that_is_wanted_and_absent_is_named():
    answer = await a_pipeline(Index(HOLIDAY), ranker=NoRanker(wanted=True)).answer(ask())
    assert "reranker unavailable" in answer.notes


async def test_one_warning_for_each_cited_page_that_is_overdue():
    dates = PageDates(reviewed=date(2024, 5, 3), review_due=date(2025, 5, 3))
    overdue = a_hit("Full-time employees get 25 days of holiday a year.", dates=dates)
    answer = await a_pipeline(Index(overdue)).answer(ask())
    assert [(one.kind, one.page.title, one.date) for one in answer.warnings] == [
        ("outdated", "Leave policy", date(2025, 5, 3))
    ]
    assert answer.citations[0].freshness == "outdated"


async def test_a_superseded_page_leaves_when_its_successor_is_in_the_index_though_it_was_not_found():
    old = a_hit("The mileage rate is 0.21 euros.", title="Travel", superseded_by="Rates.md")
    index = Index(old, known=[a_hit("The mileage rate is 0.25 euros.", title="Rates")])
    answer = await a_pipeline(index).answer(ask("What is the mileage rate?"))
    assert answer.marked_text == "The mileage rate is 0.25 euros. [1]"
    assert answer.warnings == ()


async def test_two_current_pages_that_disagree_are_quoted_side_by_side_the_newer_one_first():
    older = a_hit("Guest passwords are valid for 12 hours.", title="Wi-Fi", dates=reviewed(2026, 2, 1))
    newer = a_hit("Guest passwords are valid for 24 hours.", title="Network", dates=reviewed(2026, 9, 1))
    answer = await a_pipeline(Index(older, newer)).answer(ask("How long are guest passwords valid?"))
    assert answer.marked_text == (
        "- Guest passwords are valid for 24 hours. [1]\n- Guest passwords are valid for 12 hours. [2]"
    )
    assert [(one.kind, one.page.title, one.disputed) for one in answer.warnings] == [
        ("conflict", "Wi-Fi", (1, 2))
    ]


async def test_what_the_model_says_from_an_outdated_page_gives_way_to_a_current_one():
    dates = PageDates(reviewed=date(2024, 5, 3), review_due=date(2025, 5, 3))
    stale = a_hit("Guest passwords are valid for 12 hours.", title="Wi-Fi", dates=dates)
    fresh = a_hit("Guest passwords are valid for 24 hours.", title="Network", dates=reviewed(2026, 9, 1))
    said = DraftSentence(text="They are valid for 12 hours.", hits=(0,), quotes=(stale.chunk.text,))
    pipeline = a_pipeline(Index(stale, fresh), model=Model(Draft(sentences=(said,))))
    answer = await pipeline.answer(ask("How long are guest passwords valid?"))
    assert (answer.marked_text, answer.warnings) == ("Guest passwords are valid for 24 hours. [1]", ())


async def test_quotes_from_a_page_in_another_language_say_so():
    dutch = a_hit("Voltijders krijgen 25 vakantiedagen per jaar.", language="nl")
    answer = await a_pipeline(Index(dutch)).answer(ask("How many days of holiday do I get per jaar?"))
    assert "pages' language" in answer.notes
    answer = await a_pipeline(Index(HOLIDAY)).answer(ask())
    assert "pages' language" not in answer.notes


async def test_a_long_answer_is_shortened_by_whole_sentences_and_says_so():
    sentences = [f"Rule {n} says that holiday {n} has {n} days." for n in range(40)]
    whole = a_hit(" ".join(sentences))
    draft = Draft(sentences=tuple(DraftSentence(text=one, hits=(0,), quotes=(one,)) for one in sentences))
    answer = await a_pipeline(Index(whole), model=Model(draft), answer={"max_characters": 300}).answer(ask())
    assert "shortened" in answer.notes
    assert len(answer.text) <= 300
    assert answer.text.endswith("days.")
