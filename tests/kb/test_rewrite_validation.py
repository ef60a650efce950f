import pytest

from kb.rewriting.validation import validate

PROMPT = (
    "You turn the last question of a conversation into one search query that can be understood without it."
)


def test_a_good_rewrite_passes() -> None:
    assert validate("en de prijs?", "Wat is de prijs van houtmulch?", language="nl", prompt=PROMPT) is None


def test_a_one_word_question_may_grow_to_a_whole_one() -> None:
    assert validate("How?", "How do I return my order to the warehouse in Utrecht?") is None


@pytest.mark.parametrize(
    ("original", "rewritten", "reason"),
    [
        ("How long?", "", "empty"),
        ("How long?", "shipping time", "too_short"),
        ("How long?", "How long does " + "it really " * 20 + "take?", "too_long"),
        ("How long?", "How long?\nShipping takes five days", "several_lines"),
        ("How long?", "Here is the standalone question: how long is shipping?", "prompt_leak"),
        ("How long?", "<question>How long does shipping take?", "prompt_leak"),
        ("How long?", "turn the last question of a conversation into one search query", "prompt_leak"),
    ],
)
def test_a_bad_rewrite_is_refused_with_its_reason(original: str, rewritten: str, reason: str) -> None:
    assert validate(original, rewritten, language="en", prompt=PROMPT) == reason


def test_another_language_is_refused() -> None:
    assert (
        validate("en de prijs?", "What is the price of the wood mulch?", language="nl") == "language_changed"
    )


def test_words_of_the_thread_are_no_leak_even_where_the_prompt_has_them() -> None:
    text = "turn the last question of a conversation into one search query"
    assert validate(text, text, prompt=PROMPT, thread=text) is None


def test_a_language_without_spaces_is_not_too_short() -> None:
    assert validate("价格？", "木屑覆盖物的价格是多少？", language="zh") is None
