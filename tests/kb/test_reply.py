"""The sources of an answer: those that it cites, once each, in the order of use."""

from __future__ import annotations

from datetime import UTC, datetime

from kb.answering.draft import DraftSentence
from kb.answering.reply import numbered
from kb.freshness import FreshnessPolicy
from tests.fakes.passages import a_passage, evidence_of

POLICY = FreshnessPolicy(clock=lambda: datetime(2026, 11, 27, tzinfo=UTC), max_age_days=365)
LEAVE = a_passage("You get 25 days.", section=("Annual leave",))
LEAVE_TOO = a_passage("Ask your manager.", section=("Annual leave",))
EXPIRY = a_passage("Days expire on 31 March.", section=("Expiry",))
SHIPPING = a_passage("We ship to Canada.", title="Shipping")
EVIDENCE = evidence_of(LEAVE, SHIPPING, LEAVE_TOO, EXPIRY)


def said(text: str, *hits: int) -> DraftSentence:
    return DraftSentence(text=text, hits=hits, quotes=tuple(EVIDENCE.hits[at].chunk.text for at in hits))


def test_sources_are_those_cited_in_the_order_of_their_use() -> None:
    sentences, citations = numbered([said("b", 3), said("a", 0), said("b again", 3, 0)], EVIDENCE, POLICY)

    assert [one.citations for one in sentences] == [(1,), (2,), (1, 2)]
    assert [(one.n, one.chunk.section_label, one.quote) for one in citations] == [
        (1, "Expiry", "Days expire on 31 March."),
        (2, "Annual leave", "You get 25 days."),
    ]


def test_two_passages_of_one_section_are_one_source() -> None:
    sentences, citations = numbered([said("a", 0), said("b", 2), said("c", 0, 2)], EVIDENCE, POLICY)

    assert [one.citations for one in sentences] == [(1,), (1,), (1,)]
    assert [(one.chunk, one.quote) for one in citations] == [(LEAVE, "You get 25 days.")]


def test_what_is_not_cited_is_no_source() -> None:
    assert numbered([DraftSentence(text="Here is how:")], EVIDENCE, POLICY)[1] == ()
