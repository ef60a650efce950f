import pytest

from kb.rewriting.sequences import items_in, resolve, step_in
from kb.text.lexicon import lexicon


@pytest.mark.parametrize(
    ("text", "question", "language", "expected"),
    [
        ("Day 6", "how about next", "en", "Day 7"),
        ("Day 6", "how about a day after that", "en", "Day 7"),
        ("Day 6", "two days after that", "en", "Day 8"),
        ("Day 9", "and the next day?", "en", "Day 10"),
        ("Phase D", "and the one before", "en", "Phase C"),
        ("Part IV", "and the next one?", "en", "Part V"),
        ("on Monday", "and the day after?", "en", "Tuesday"),
        ("on Sunday", "and the next day?", "en", "Monday"),
        ("in December", "what about the next month?", "en", "January"),
        ("Q3", "and the next quarter?", "en", "Q4"),
        ("Q4 2025", "and the next quarter?", "en", "Q1 2026"),
        ("version v2", "what is in the next version?", "en", "v3"),
        ("v1.4", "and the previous version", "en", "v1.3"),
        ("the first step", "and the next step?", "en", "second step"),
        ("Step 3", "what is the first step?", "en", "Step 1"),
        ("2024", "and the year before?", "en", "2023"),
        ("Dag 6", "en de volgende?", "nl", "Dag 7"),
        ("Fase D", "en de vorige fase?", "nl", "Fase C"),
        ("maandag", "en de dag daarna?", "nl", "dinsdag"),
        ("Tag 6", "und der nächste Tag?", "de", "Tag 7"),
        ("Phase D", "und die vorherige?", "de", "Phase C"),
        ("Montag", "und der Tag danach?", "de", "Dienstag"),
        ("Étape 2", "et la suivante ?", "fr", "Étape 3"),
        ("Paso 2", "¿y el anterior?", "es", "Paso 1"),
    ],
)
def test_a_step_leads_to_its_neighbour(text: str, question: str, language: str, expected: str) -> None:
    known = lexicon(language)
    step = step_in(question, known)
    assert step is not None
    target = resolve(step, items_in(text, known)[-1], known)
    assert target is not None
    assert target.text == expected


@pytest.mark.parametrize(
    "question",
    [
        "What do I need before surgery?",
        "What happens after the trial period ends?",
        "Do I get paid for the days before Christmas?",
        "What is houtmulch?",
    ],
)
def test_a_word_of_order_with_a_place_of_its_own_is_no_step(question: str) -> None:
    assert step_in(question, lexicon("en")) is None


def test_there_is_nothing_before_the_first() -> None:
    known = lexicon("en")
    step = step_in("and the one before", known)
    assert step is not None
    assert resolve(step, items_in("Day 1", known)[0], known) is None
    assert resolve(step, items_in("Phase A", known)[0], known) is None


def test_the_last_one_is_the_furthest_that_the_thread_knows() -> None:
    known = lexicon("en")
    items = items_in("Step 1, then Step 4, then Step 2", known)
    step = step_in("what is the last step?", known)
    assert step is not None
    target = resolve(step, items[0], known, mentioned=items)
    assert target is not None
    assert target.text == "Step 4"


@pytest.mark.parametrize("text", ["until 31 March", "costs 45 euro", "about 900 characters", "in May I ask"])
def test_plain_numbers_and_words_are_no_items(text: str) -> None:
    assert [
        item for item in items_in(text, lexicon("en")) if item.kind in ("number", "letter", "roman")
    ] == []
