"""What is shown of statements that disagree, and what is said about it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from kb.answering.draft import DraftSentence
from kb.answering.reply import numbered
from kb.confidence import Evidence
from kb.conflicts.settle import settle, warnings_of
from kb.freshness import FreshnessPolicy
from kb.models import PageDates
from tests.fakes.passages import a_passage, evidence_of

POLICY = FreshnessPolicy(clock=lambda: datetime(2026, 11, 27, 12, tzinfo=UTC))
OVERDUE = PageDates(reviewed=date(2024, 1, 1), review_due=date(2025, 1, 1))


def reviewed(month: int) -> PageDates:
    return PageDates(reviewed=date(2026, month, 1))


async def alike(pairs: list[tuple[str, str]]) -> list[float]:
    return [0.9] * len(pairs)


def quoting(evidence: Evidence, at: int) -> DraftSentence:
    text = evidence.hits[at].chunk.text
    return DraftSentence(text=text, hits=(at,), quotes=(text,))


def of_pages(*pages: tuple[str, str, PageDates], **more: Any) -> Evidence:
    return evidence_of(*(a_passage(text, title=title, dates=dates, **more) for title, text, dates in pages))


async def shown(evidence: Evidence, *sentences: DraftSentence) -> tuple[list[str], list[tuple[str, str]]]:
    settled = await settle(sentences, evidence, freshness=POLICY, likeness=alike)
    numbers, citations = numbered(settled.sentences, evidence, POLICY)
    warnings = warnings_of(numbers, citations, settled.disputed, evidence, POLICY)
    return [one.text for one in settled.sentences], [(one.kind, one.text) for one in warnings]


async def test_two_current_pages_are_both_quoted_the_newer_one_first_and_the_warning_names_both():
    evidence = of_pages(
        ("Wi-Fi", "Guest passwords are valid for 12 hours.", reviewed(2)),
        ("Network", "A guest password is valid for 24 hours.", reviewed(9)),
    )
    texts, warnings = await shown(evidence, quoting(evidence, 0))
    assert texts == ["- A guest password is valid for 24 hours.", "- Guest passwords are valid for 12 hours."]
    assert warnings == [
        (
            "conflict",
            "Network (reviewed 1 September 2026) and Wi-Fi (reviewed 1 February 2026) disagree.",
        )
    ]


async def test_an_answer_that_quotes_both_sides_already_repeats_neither():
    evidence = of_pages(
        ("Wi-Fi", "Guest passwords are valid for 12 hours.", reviewed(2)),
        ("Network", "A guest password is valid for 24 hours.", reviewed(9)),
    )
    texts, _ = await shown(evidence, quoting(evidence, 0), quoting(evidence, 1))
    assert len(texts) == 2


async def test_a_current_page_takes_the_word_from_an_overdue_one():
    evidence = of_pages(
        ("Wi-Fi", "Guest passwords are valid for 12 hours.", OVERDUE),
        ("Network", "A guest password is valid for 24 hours.", reviewed(9)),
    )
    assert await shown(evidence, quoting(evidence, 0)) == (["A guest password is valid for 24 hours."], [])
    assert await shown(evidence, quoting(evidence, 1)) == (["A guest password is valid for 24 hours."], [])


async def test_two_overdue_pages_that_disagree_are_both_quoted_each_with_its_warning():
    evidence = of_pages(
        ("Wi-Fi", "Guest passwords are valid for 12 hours.", OVERDUE),
        ("Network", "A guest password is valid for 24 hours.", OVERDUE),
    )
    texts, warnings = await shown(evidence, quoting(evidence, 0))
    assert len(texts) == 2
    assert [kind for kind, _ in warnings] == ["conflict", "outdated", "outdated"]


async def test_an_undated_page_disagrees_as_any_other_and_comes_last():
    evidence = of_pages(
        ("Wi-Fi", "Guest passwords are valid for 12 hours.", PageDates()),
        ("Network", "A guest password is valid for 24 hours.", reviewed(9)),
    )
    texts, warnings = await shown(evidence, quoting(evidence, 0))
    assert texts[0].startswith("- A guest password")
    assert "Wi-Fi (no date)" in warnings[0][1]


async def test_the_rest_of_a_table_stays_beside_the_row_that_is_disputed():
    table = "| What | Limit |\n|---|---|\n| Hotel, per night | 150 euros |\n| Dinner | 35 euros |"
    evidence = of_pages(
        ("Travel", table, reviewed(9)),
        ("Trips", "A hotel costs at most 120 euros a night.", reviewed(2)),
    )
    texts, _ = await shown(evidence, quoting(evidence, 0))
    assert texts == ["- Hotel, per night: 150 euros", "- A hotel costs at most 120 euros a night.", table]


async def test_a_doubt_carries_the_answer_when_half_of_its_sentences_rest_on_the_page():
    evidence = of_pages(
        ("Wi-Fi", "Cables hang in the hall.", OVERDUE), ("Network", "Ask the desk for help.", reviewed(9))
    )
    settled = await settle(
        [quoting(evidence, 0), quoting(evidence, 1), quoting(evidence, 1)],
        evidence,
        freshness=POLICY,
        likeness=alike,
    )
    sentences, citations = numbered(settled.sentences, evidence, POLICY)
    (warning,) = warnings_of(sentences, citations, (), evidence, POLICY)
    assert (warning.page.title, warning.carries) == ("Wi-Fi", False)
    sentences, citations = numbered([quoting(evidence, 0)], evidence, POLICY)
    (warning,) = warnings_of(sentences, citations, (), evidence, POLICY)
    assert warning.carries
