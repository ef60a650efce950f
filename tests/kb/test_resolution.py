"""What is shown of statements that disagree, and what is said about it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from kb.answer import AnswerWarning
from kb.answering.answerer import number_citations
from kb.citations import DraftSentence
from kb.conflicts.resolution import Resolution, resolve_conflicts, warnings_of
from kb.models import Chunk, PageDates
from tests.fakes.asked import POLICY, alike
from tests.fakes.passages import a_passage

OVERDUE = PageDates(reviewed=date(2024, 1, 1), review_due=date(2025, 1, 1))


def reviewed(month: int) -> PageDates:
    return PageDates(reviewed=date(2026, month, 1))


def quoting(passages: Sequence[Chunk], at: int) -> DraftSentence:
    chunk = passages[at]
    return DraftSentence(text=chunk.text, cites=(chunk.id,), quotes=(chunk.text,))


def of_pages(*pages: tuple[str, str, PageDates], **more: Any) -> list[Chunk]:
    return [a_passage(text, title=title, dates=dates, **more) for title, text, dates in pages]


async def resolved(passages: Sequence[Chunk], *sentences: DraftSentence) -> Resolution:
    return await resolve_conflicts(sentences, passages, freshness=POLICY, similarity=alike)


async def shown(
    passages: Sequence[Chunk], *sentences: DraftSentence
) -> tuple[list[str], list[tuple[str, str]]]:
    resolution = await resolved(passages, *sentences)
    numbers, citations = number_citations(resolution.sentences, passages, POLICY)
    warnings = warnings_of(numbers, citations, resolution.disputed, POLICY)
    return [one.text for one in resolution.sentences], [(one.kind, one.text) for one in warnings]


async def test_two_current_pages_are_both_quoted_the_newer_one_first_and_the_warning_names_both():
    passages = of_pages(
        ("Wi-Fi", "Guest passwords are valid for 12 hours.", reviewed(2)),
        ("Network", "A guest password is valid for 24 hours.", reviewed(9)),
    )
    texts, warnings = await shown(passages, quoting(passages, 0))
    assert texts == ["- A guest password is valid for 24 hours.", "- Guest passwords are valid for 12 hours."]
    assert warnings == [
        (
            "conflict",
            "Network (reviewed 1 September 2026) and Wi-Fi (reviewed 1 February 2026) disagree.",
        )
    ]


async def test_an_answer_that_quotes_both_sides_already_repeats_neither():
    passages = of_pages(
        ("Wi-Fi", "Guest passwords are valid for 12 hours.", reviewed(2)),
        ("Network", "A guest password is valid for 24 hours.", reviewed(9)),
    )
    texts, _ = await shown(passages, quoting(passages, 0), quoting(passages, 1))
    assert len(texts) == 2


async def test_a_current_page_takes_the_word_from_an_overdue_one():
    passages = of_pages(
        ("Wi-Fi", "Guest passwords are valid for 12 hours.", OVERDUE),
        ("Network", "A guest password is valid for 24 hours.", reviewed(9)),
    )
    assert await shown(passages, quoting(passages, 0)) == (["A guest password is valid for 24 hours."], [])
    assert await shown(passages, quoting(passages, 1)) == (["A guest password is valid for 24 hours."], [])


async def test_two_overdue_pages_that_disagree_are_both_quoted_each_with_its_warning():
    passages = of_pages(
        ("Wi-Fi", "Guest passwords are valid for 12 hours.", OVERDUE),
        ("Network", "A guest password is valid for 24 hours.", OVERDUE),
    )
    texts, warnings = await shown(passages, quoting(passages, 0))
    assert len(texts) == 2
    assert [kind for kind, _ in warnings] == ["conflict", "outdated", "outdated"]


async def test_an_undated_page_disagrees_as_any_other_and_comes_last():
    passages = of_pages(
        ("Wi-Fi", "Guest passwords are valid for 12 hours.", PageDates()),
        ("Network", "A guest password is valid for 24 hours.", reviewed(9)),
    )
    texts, warnings = await shown(passages, quoting(passages, 0))
    assert texts[0].startswith("- A guest password")
    assert "Wi-Fi (no date)" in warnings[0][1]


async def test_the_rest_of_a_table_stays_beside_the_row_that_is_disputed():
    table = "| What | Limit |\n|---|---|\n| Hotel, per night | 150 euros |\n| Dinner | 35 euros |"
    passages = of_pages(
        ("Travel", table, reviewed(9)),
        ("Trips", "A hotel costs at most 120 euros a night.", reviewed(2)),
    )
    texts, _ = await shown(passages, quoting(passages, 0))
    assert texts == ["- Hotel, per night: 150 euros", "- A hotel costs at most 120 euros a night.", table]


def test_a_doubt_carries_the_answer_when_half_of_its_sentences_rest_on_the_page():
    passages = of_pages(
        ("Wi-Fi", "Cables hang in the hall.", OVERDUE), ("Network", "Ask the desk for help.", reviewed(9))
    )
    (half,) = warnings_for(passages, quoting(passages, 0), quoting(passages, 1), quoting(passages, 1))
    assert (half.page.title, half.carries) == ("Wi-Fi", False)
    (whole,) = warnings_for(passages, quoting(passages, 0))
    assert whole.carries


def warnings_for(passages: Sequence[Chunk], *said: DraftSentence) -> tuple[AnswerWarning, ...]:
    return warnings_of(*number_citations(said, passages, POLICY), (), POLICY)


async def test_what_nobody_disputes_is_left_as_it_is():
    passages = of_pages(("Wi-Fi", "Cables hang in the hall.", OVERDUE))
    sentence = quoting(passages, 0)
    assert await resolved(passages, sentence) == Resolution(sentences=(sentence,))


async def test_a_passage_that_was_read_and_not_cited_is_the_other_side_as_well():
    passages = of_pages(
        ("Wi-Fi", "Guest passwords are valid for 12 hours.", reviewed(2)),
        ("Cables", "Cables hang in the hall.", reviewed(2)),
        ("Network", "A guest password is valid for 24 hours.", reviewed(9)),
    )
    resolution = await resolved(passages, quoting(passages, 0))
    assert [one.cites for one in resolution.sentences] == [(passages[2].id,), (passages[0].id,)]
    assert resolution.disputed == ((passages[2], passages[0]),)


async def test_a_sentence_that_cites_nothing_disputes_nothing():
    passages = of_pages(("Wi-Fi", "Guest passwords are valid for 12 hours.", reviewed(2)))
    lead = DraftSentence(text="Here is how:")
    assert (await resolved(passages, lead)).sentences == (lead,)
