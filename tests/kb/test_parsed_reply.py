"""The signs that a model's reply may carry: not told, nothing more, left open."""

from __future__ import annotations

import pytest

from kb.answering.parsed_reply import ParsedReply, finished_part, parse_reply_text
from kb.citations.citation_markers import from_markers

IDS = ("first", "second", "third")


def read(text: str) -> ParsedReply:
    return parse_reply_text(from_markers(text, IDS).sentences)


def texts(reply: ParsedReply) -> list[str]:
    return [sentence.text for sentence in reply.sentences]


@pytest.mark.parametrize(
    "said",
    [
        "NOT_IN_PASSAGES",
        "NOT\\_IN\\_PASSAGES.",
        "**NOT_IN_PASSAGES**",
        "`NOT_IN_PASSAGES`",
        "I am sorry. NOT_IN_PASSAGES",
        "Not_IN_PASSAGES",
    ],
)
def test_a_reply_with_the_sign_of_a_decline_declines(said: str) -> None:
    assert read(said) == ParsedReply(declined=True)


def test_a_decline_may_name_the_passage_that_comes_closest() -> None:
    assert read("NOT_IN_PASSAGES [2]").closest == "second"
    assert read("NOT_IN_PASSAGES [9]").closest is None


def test_a_reply_that_declines_and_cites_an_answer_answers_and_the_sign_is_not_shown() -> None:
    reply = read("You get 25 days [1]. NOT_IN_PASSAGES")
    assert (reply.declined, texts(reply)) == (False, ["You get 25 days."])


def test_there_may_be_nothing_more() -> None:
    assert read("NOTHING_MORE") == ParsedReply(nothing_more=True)
    assert not read("You get 25 days [1].\nNOTHING_MORE").nothing_more


def test_what_is_left_open_is_told_apart_from_the_answer() -> None:
    reply = read("You get 25 days [1].\n\nLEFT_OPEN The pages don't say\nwhen they expire.")
    assert (texts(reply), reply.left_open) == (
        ["You get 25 days."],
        "The pages don't say when they expire.",
    )


def test_the_sentence_of_what_is_left_open_may_stand_on_the_next_line() -> None:
    assert read("You get 25 days [1].\nLEFT_OPEN:\nThe pages don't say when.").left_open == (
        "The pages don't say when."
    )


def test_a_reply_without_signs_is_an_answer() -> None:
    assert read("You get 25 days [1].") == ParsedReply(
        sentences=from_markers("You get 25 days [1].", IDS).sentences
    )


def test_an_empty_reply_says_nothing() -> None:
    assert read("") == ParsedReply()


@pytest.mark.parametrize(
    ("written", "finished"),
    [
        ("You get", []),
        ("You get 25 days. Ask", ["You get 25 days."]),
        ("You get 25 days.\nNOT_IN", ["You get 25 days."]),
        ("You get 25 days.\nLEFT_OPEN The pages don't say. More", ["You get 25 days."]),
        ("- One\n- Two\n- Th", ["- One", "- Two"]),
    ],
)
def test_all_but_the_last_sentence_is_finished_up_to_a_sign(written: str, finished: list[str]) -> None:
    assert [one.text for one in finished_part(from_markers(written, IDS).sentences)] == finished
