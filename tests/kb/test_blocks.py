"""A passage falls into blocks that can be read alone: nothing without
what leads it in, nothing without what it leads in.
"""

from __future__ import annotations

import pytest

from kb.answering.blocks import blocks_of


def texts(passage: str) -> list[str]:
    return [block.text for block in blocks_of(passage)]


def test_paragraphs_are_blocks_of_their_own() -> None:
    passage = "Parking is free. It is in the yard.\n\nBicycles stand inside."
    assert texts(passage) == ["Parking is free. It is in the yard.", "Bicycles stand inside."]


def test_a_list_keeps_the_line_that_leads_it_in_and_all_its_items() -> None:
    steps = "Send the parcel like this:\n\n1. Log in.\n2. Print the label.\n\n3. Hand it over."
    passage = f"Parcels leave at five.\n\n{steps}\n\nThe courier waits."
    assert texts(passage) == ["Parcels leave at five.", steps, "The courier waits."]
    assert blocks_of(passage)[1].kind == "list"


def test_nested_items_stay_in_their_list() -> None:
    passage = "- Laptops\n  - 13 inch\n  - 16 inch\n- Phones"
    assert texts(passage) == [passage]


def test_a_table_keeps_its_caption_and_its_rows() -> None:
    table = "Prices of 2026.\n\n| What | Price |\n|---|---|\n| Mug | 8 euros |\n| Cap | 12 euros |"
    assert texts(f"The shop is open.\nCome in.\n\n{table}") == ["The shop is open.\nCome in.", table]
    assert blocks_of(table)[0].kind == "table"


def test_code_keeps_the_sentence_before_it_and_its_fence() -> None:
    code = "Deploy with this command.\n\n```bash\nshipit --timeout 90\n```"
    assert texts(f"{code}\n\nThen wait.") == [code, "Then wait."]
    assert blocks_of(code)[0].kind == "code"


def test_a_heading_within_a_passage_leads_in_what_stands_under_it() -> None:
    passage = "**Ghent**\n\nThe desk opens at nine.\n\n**Zwolle**\n\nThe desk opens at ten."
    assert texts(passage) == ["**Ghent**\n\nThe desk opens at nine.", "**Zwolle**\n\nThe desk opens at ten."]


@pytest.mark.parametrize(
    "passage",
    [
        "Q: How long is the warranty?\nA: Two years.",
        "Vraag: Hoe lang is de garantie?\n\nAntwoord: Twee jaar.",
        "Do you want to keep the permit?\n\nSend a mail to the desk.",
        "**How long is the warranty?**\n\nTwo years.",
    ],
)
def test_a_question_stays_with_its_answer(passage: str) -> None:
    assert texts(passage) == [passage]
    assert not blocks_of(passage)[0].says_nothing


def test_two_questions_with_their_answers_are_two_blocks() -> None:
    first, second = "Q: How long is it?\nA: Two years.", "Q: Can I wash it?\nA: Yes, at 55 degrees."
    assert texts(f"{first}\n\n{second}") == [first, second]


@pytest.mark.parametrize(
    "passage",
    [
        "**Person 1**: How do I reset the label printer?",
        "Q: How long is the warranty?",
        "**Person 1**: thanks!",
        "Thank you.",
        "# Heading",
    ],
)
def test_who_only_asks_or_thanks_says_nothing(passage: str) -> None:
    (block,) = blocks_of(passage)
    assert block.says_nothing


@pytest.mark.parametrize("passage", ["No.", "Person 2: Yes.", "Ask Dana.", "- Laptops"])
def test_a_short_answer_says_something(passage: str) -> None:
    (block,) = blocks_of(passage)
    assert not block.says_nothing


def test_an_empty_passage_has_no_blocks() -> None:
    assert blocks_of("\n\n") == []
