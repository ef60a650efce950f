import pytest

from kb.rewriting.heuristic import HeuristicRewriter
from kb.rewriting.spelling import correct, slip
from kb.text.lexicon import lexicon


def corrected(
    text: str, *, language: str = "en", thread: str = "", index: dict[str, int] | None = None
) -> str:
    vocabulary = None if index is None else lambda word: index.get(word, 0)
    return correct(text, lexicon(language), thread=thread.split(), vocabulary=vocabulary)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("wha about tha", "en", "what about that"),
        ("tel me mroe about teh ADM", "en", "tell me more about the ADM"),
        ("how abuot nxet week", "en", "how about next week"),
        ("waneer is dat", "nl", "wanneer is dat"),
        ("wei viel ist dsa", "de", "wie viel ist das"),
    ],
)
def test_function_words_are_mended(text: str, language: str, expected: str) -> None:
    assert corrected(text, language=language) == expected


@pytest.mark.parametrize(
    "name", ["sam", "ben", "tim", "wil", "sven", "mor", "lapton", "jira", "okta", "whim"]
)
def test_a_short_name_in_small_letters_does_not_become_a_word(name: str) -> None:
    text = f"what about {name}"
    assert corrected(text, thread="how do i get a laptop", index={"laptop": 9}) == text


def test_a_content_word_is_mended_by_the_thread() -> None:
    assert corrected("what about exhcanges", thread="refund exchanges") == "what about exchanges"


def test_a_content_word_is_mended_by_the_index_and_the_commonest_wins() -> None:
    assert (
        corrected("what is the retrun policy", index={"return": 9, "policy": 3})
        == "what is the return policy"
    )


@pytest.mark.parametrize(
    "word", ["form", "ballet", "ballets", "artworks", "convert", "TEH", "iPhone", "v2", "houtmulch"]
)
def test_right_words_names_and_codes_are_left_alone(word: str) -> None:
    text = f"what about the {word}"
    assert (
        corrected(text, thread="from ballets ballet artwork concert", index={"concert": 5, "artwork": 2})
        == text
    )


def test_a_word_of_the_index_is_left_alone() -> None:
    assert corrected("what is teh", index={"teh": 1}) == "what is teh"


def test_a_language_without_a_file_is_left_alone() -> None:
    assert corrected("teh mroe", language="fi") == "teh mroe"


@pytest.mark.parametrize(
    ("word", "known", "cost"),
    [
        ("tha", "that", 1),
        ("mroe", "more", 1),
        ("aboutt", "about", 1),
        ("abut", "about", 2),
        ("pride", "price", 3),
        ("xat", "that", None),
    ],
)
def test_a_likelier_slip_costs_less(word: str, known: str, cost: int | None) -> None:
    assert slip(word, known) == cost


def test_the_first_question_of_a_thread_is_mended_too() -> None:
    words = {"expense": 9, "approval": 7, "marketing": 5}
    rewriter = HeuristicRewriter(lambda word: words.get(word, 0))
    rewrite = rewriter.rewrite("expnse aproval for marketting", [], language="en")
    assert rewrite.query == "Expense approval for marketing?"
    assert (rewrite.needs_rewrite, rewrite.is_follow_up) == (True, False)
    assert not rewriter.rewrite("expense approval for marketing", [], language="en").needs_rewrite
