"""Long answers lose whole parts, and say so."""

from __future__ import annotations

from kb.answering.brevity import brief
from kb.answering.draft import DraftSentence


def said(*texts: str) -> list[DraftSentence]:
    return [DraftSentence(text=text, hits=(0,), quotes=(text,)) for text in texts]


def texts(sentences: list[DraftSentence], limit: int) -> tuple[list[str], bool]:
    kept, shortened = brief(sentences, limit=limit)
    return [sentence.text for sentence in kept], shortened


def test_an_answer_that_fits_is_left_alone() -> None:
    assert texts(said("One.", "Two."), 100) == (["One.", "Two."], False)


def test_whole_items_go_from_the_end() -> None:
    assert texts(said("Do this:", "- one", "- two", "- three"), 21) == (["Do this:", "- one", "- two"], True)


def test_what_announces_nothing_goes_as_well() -> None:
    assert texts(said("It is 5.", "The steps are:", "- a very long step"), 26) == (["It is 5."], True)


def test_a_single_piece_that_is_too_long_loses_lines_or_words_but_keeps_its_form() -> None:
    fence = "```\n" + "line\n" * 50 + "```"
    (kept,), shortened = texts(said(fence), 40)
    assert shortened
    assert kept.startswith("```\nline")
    assert kept.endswith("\n```")
    (prose,), _ = texts(said("word " * 100), 40)
    assert prose.endswith("word …")
    assert len(prose) <= 42
