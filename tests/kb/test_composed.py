"""The sources of an answer: those that it cites, once each, in the order of use."""

from __future__ import annotations

from datetime import UTC, datetime

from kb.answering.answerer import nearest_pages, number_citations
from kb.citations import DraftSentence
from kb.pages.freshness import FreshnessPolicy
from tests.fakes.asked import hits_of
from tests.fakes.passages import a_passage

POLICY = FreshnessPolicy(clock=lambda: datetime(2026, 11, 27, tzinfo=UTC), max_age_days=365)
LEAVE = a_passage("You get 25 days.", section=("Annual leave",))
LEAVE_TOO = a_passage("Ask your manager.", section=("Annual leave",), position=1)
EXPIRY = a_passage("Days expire on 31 March.", section=("Expiry",), position=2)
SHIPPING = a_passage("We ship to Canada.", title="Shipping")
PASSAGES = (LEAVE, SHIPPING, LEAVE_TOO, EXPIRY)


def said(text: str, *cited: int) -> DraftSentence:
    chunks = [PASSAGES[index] for index in cited]
    return DraftSentence(
        text=text, cites=tuple(chunk.id for chunk in chunks), quotes=tuple(chunk.text for chunk in chunks)
    )


def test_sources_are_those_cited_in_the_order_of_their_use() -> None:
    sentences, citations = number_citations(
        [said("b", 3), said("a", 0), said("b again", 3, 0)], PASSAGES, POLICY
    )

    assert [one.citations for one in sentences] == [(1,), (2,), (1, 2)]
    assert [(one.n, one.chunk.section_label, one.quote) for one in citations] == [
        (1, "Expiry", "Days expire on 31 March."),
        (2, "Annual leave", "You get 25 days."),
    ]


def test_two_passages_of_one_section_are_one_source() -> None:
    sentences, citations = number_citations([said("a", 0), said("b", 2), said("c", 0, 2)], PASSAGES, POLICY)

    assert [one.citations for one in sentences] == [(1,), (1,), (1,)]
    assert [(one.chunk, one.quote) for one in citations] == [(LEAVE, "You get 25 days.")]


def test_what_is_not_cited_is_no_source() -> None:
    assert number_citations([DraftSentence(text="Here is how:")], PASSAGES, POLICY)[1] == ()


def test_a_source_has_no_score_where_nothing_measured_one() -> None:
    (citation,) = number_citations([said("a", 0)], PASSAGES, POLICY)[1]
    assert citation.score is None


def test_the_nearest_pages_are_named_once_each_with_their_owners_and_three_at_most() -> None:
    owned = a_passage("Days expire.", title="Expiry", owner="People team")
    more = [a_passage("x", title=f"Page {at}") for at in range(4)]
    assert [(page.title, page.owner) for page in nearest_pages(hits_of(owned, LEAVE, LEAVE_TOO, *more))] == [
        ("Expiry", "People team"),
        ("Leave policy", None),
        ("Page 0", None),
    ]
