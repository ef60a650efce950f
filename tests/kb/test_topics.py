import pytest

from kb.conversation.topics import key_topics, names_in, subject_of
from kb.text.lexicon import lexicon

EN, NL = lexicon("en"), lexicon("nl")


def test_topics_are_headings_numbered_items_and_bold_terms_in_order() -> None:
    answer = "## Week 1\nRead **the book**.\n\n## Day 6: Phase C\n1. Data\nThen do Step 2 of it."
    assert key_topics(answer, EN) == ("Week 1", "the book", "Day 6: Phase C", "Step 2")


def test_the_last_topic_of_a_long_answer_is_kept() -> None:
    answer = "## Week 1\n" + "x" * 2000 + "\n\n## Day 6: Phase C\nData."
    assert key_topics(answer, EN)[-1] == "Day 6: Phase C"


def test_at_most_five_topics_are_kept_and_they_are_the_last() -> None:
    answer = "\n".join(f"## Chapter {n}" for n in range(1, 9))
    assert key_topics(answer, EN) == ("Chapter 4", "Chapter 5", "Chapter 6", "Chapter 7", "Chapter 8")


def test_a_topic_named_twice_counts_once_where_it_was_named_last() -> None:
    assert key_topics("**ADM** is the core of **TOGAF**. The **adm** has phases.", EN) == ("TOGAF", "adm")


def test_code_long_bold_sentences_and_dates_are_no_topics() -> None:
    answer = f"```\n# Day 9\n```\n**{'very ' * 20}important** until 31 March, **Leave**"
    assert key_topics(answer, EN) == ("Leave",)


def test_names_are_found_without_capitals_of_sentence_starts() -> None:
    assert names_in("Orders go to Canada. Ada Lovelace's desk is in Room 3.", EN) == [
        "Canada",
        "Ada Lovelace",
        "Room",
    ]


@pytest.mark.parametrize(
    ("question", "kind", "text"),
    [
        ("Tell me about your premium laptops", "thing", "your premium laptops"),
        ("What's your refund policy?", "thing", "your refund policy"),
        ("How many days of holiday do I get?", "thing", "days of holiday"),
        ("I want to return my order", "action", "return my order"),
        ("Do you ship to Canada?", "action", "ship to Canada"),
        ("Do you sell MacBooks?", "thing", "MacBooks"),
        ("What does Phase B produce?", "thing", "Phase B"),
        ("When was the policy reviewed?", "thing", "the policy"),
        ("How does topic A work?", "thing", "topic A"),
    ],
)
def test_the_subject_of_a_question_is_found(question: str, kind: str, text: str) -> None:
    subject = subject_of(question, EN)
    assert subject is not None
    assert (subject.kind, subject.text) == (kind, text)


def test_a_dutch_subject_is_found() -> None:
    subject = subject_of("Wat is houtmulch?", NL)
    assert subject is not None
    assert subject.text == "houtmulch"


def test_a_question_of_reference_words_has_no_subject() -> None:
    assert subject_of("How does it work?", EN) is None


def test_who_gets_something_is_not_what_a_question_about_it_is_about():
    """ "And when do they expire?" asks for the days, not for the employee."""
    got = subject_of("How many days of annual leave does an employee get?", lexicon("en"))
    assert got is not None
    assert "annual leave" in got.text
    owner = subject_of("How many characters must a password have?", lexicon("en"))
    assert owner is not None
    assert owner.text == "a password"
