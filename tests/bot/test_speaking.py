"""When Footnote speaks: single replies in five languages, and the rules about who speaks with whom."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.listening.reply_policy import ThreadMessage, decide

CASES: dict[str, Any] = json.loads((Path(__file__).parent / "speaking_cases.json").read_text("utf-8"))


def alice(text: str, **given: Any) -> ThreadMessage:
    return ThreadMessage(user="alice", name="alice", text=text, **given)


def bob(text: str, **given: Any) -> ThreadMessage:
    return ThreadMessage(user="bob", name="bob", text=text, **given)


def carol(text: str, **given: Any) -> ThreadMessage:
    return ThreadMessage(user="carol", name="carol", text=text, **given)


def ours(text: str = "25 days a year.", outcome: str = "answered", **given: Any) -> ThreadMessage:
    return ThreadMessage(user=None, text=text, outcome=outcome, **given)


ASKED = alice("how many days of leave do I get?", mentions_us=True)
ASKED_BACK = ours("Do you mean Leave FAQ or Leave policy?", "unclear")


def before(language: str, kind: str) -> list[ThreadMessage]:
    told = CASES[language]["thread"]
    asked = alice(told["question"], mentions_us=True)
    declined = ours(told["declined"], "declined")
    return {
        "one person, answered": [asked, ours(told["answer"])],
        "one person, asked back": [asked, ours(told["asks_back"], "unclear")],
        "one person, declined": [asked, declined],
        "others in the thread": [carol(told["first"]), asked, ours(told["answer"])],
        "others in the thread, asked back": [
            carol(told["first"]),
            asked,
            ours(told["asks_back"], "unclear"),
        ],
        "a remark between": [asked, ours(told["answer"]), bob(told["remark"])],
        "a remark after declined": [asked, declined, bob(told["remark"])],
    }[kind]


@pytest.mark.parametrize(
    ("language", "kind"),
    [(language, kind) for language, cases in CASES.items() for kind in cases["replies"]],
)
def test_the_askers_next_words_are_read_in_the_light_of_the_thread(language: str, kind: str) -> None:
    wrong = []
    for expected, texts in CASES[language]["replies"][kind].items():
        for text in texts:
            decision = decide([*before(language, kind), alice(text)], place="channel")
            if decision.speaks != (expected == "speak"):
                wrong.append(f"{expected}: {text} ({decision.reason})")
    assert wrong == []


def reason(
    *said: ThreadMessage, place: Any = "channel", follow_ups: Any = "auto", unasked: bool = False
) -> str:
    return decide(said, place=place, follow_ups=follow_ups, unasked=unasked).reason


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        ("mentioned", [ASKED]),
        ("no_thread", [alice("how many days of leave do I get?")]),
        ("not_our_thread", [bob("lunch?"), alice("where do we get soup?")]),
        ("to_others", [ASKED, ours(), alice("can you check?", addresses_others=True)]),
        ("to_others", [ASKED, ours(), alice("Bob, how many do I have left?")]),
        ("one_person", [ASKED, ours(), alice("and for part-timers?")]),
        ("one_person", [ASKED, alice("and for part-timers?")]),
        ("answers_us", [ASKED, ASKED_BACK, alice("the policy")]),
        ("answers_us", [ASKED, ASKED_BACK, bob("the policy")]),
        ("answers_us", [ASKED, ASKED_BACK, bob("which one, alice?"), alice("the policy")]),
        ("somebody_else", [ASKED, ASKED_BACK, bob("what is the difference to parental leave?")]),
        ("goes_on", [ASKED, ours(), bob("good to know"), alice("and for part-timers?")]),
        ("somebody_else", [ASKED, ours(), bob("and for part-timers?")]),
        ("among_people", [ASKED, ours(), bob("are you leaving?"), alice("and for part-timers?")]),
        (
            "among_people",
            [ASKED, ours(), bob("it was 20"), alice("I know that one"), alice("and for part-timers?")],
        ),
        ("among_people", [ASKED, ours(), alice("look", addresses_others=True), alice("is it right?")]),
        (
            "asleep",
            [ASKED, ours(), bob("ah"), carol("so many"), bob("as always"), alice("and for part-timers?")],
        ),
        (
            "goes_on",
            [bob("ah"), carol("so"), bob("yes"), ASKED, ours(), alice("and for part-timers?")],
        ),
        ("goes_on", [bob("when is it?"), ASKED, ours(), alice("Thanks!"), alice("and for interns?")]),
        ("says_nothing", [ASKED, ours(), alice("I'll tell her")]),
    ],
)
def test_who_is_answered(expected: str, said: Sequence[ThreadMessage]) -> None:
    assert reason(*said) == expected


def test_a_direct_message_is_always_answered_and_a_group_is_a_channel() -> None:
    assert reason(alice("thanks"), place="dm") == "direct"
    assert reason(alice("how many days?"), place="group") == "no_thread"
    assert reason(ASKED, ours(), alice("and for part-timers?"), place="group") == "one_person"


def test_a_mention_that_hands_a_question_on_asks_for_whoever_put_it() -> None:
    handed_on = [bob("how many sick days are paid?"), alice("do you know?", mentions_us=True)]
    for answer in (ours(), ours(to="alice")):
        assert reason(*handed_on, answer, bob("and for interns?")) == "goes_on"
    of_her_own = [bob("how many sick days are paid?"), alice("who approves leave?", mentions_us=True)]
    assert reason(*of_her_own, ours(), bob("and for interns?")) == "somebody_else"


def test_whom_an_answer_was_for_is_believed() -> None:
    late = [ASKED, bob("which days are holidays?", mentions_us=True), ours(to="alice")]
    assert reason(*late, alice("and for part-timers?")) == "goes_on"


def test_follow_ups_can_be_everyones_or_nobodys() -> None:
    thread = [ASKED, ours(), bob("and for part-timers?")]
    assert reason(*thread, follow_ups="everyone") == "everyone"
    assert reason(*thread[:2], alice("and for interns?"), follow_ups="mention") == "mention_only"
    assert reason(ASKED, ours(), alice("and?", mentions_us=True), follow_ups="mention") == "mentioned"
    among = [ASKED, ours(), bob("are you leaving?"), carol("when does it start?")]
    assert reason(*among, follow_ups="everyone") == "among_people"


def test_whoever_is_not_alone_with_footnote_gets_no_declining() -> None:
    follow_up = alice("and for part-timers?")
    assert not decide([ASKED, ours(), follow_up], place="channel").with_others
    assert decide([bob("hi"), ASKED, ours(), follow_up], place="channel").with_others
    assert not decide([bob("hi"), ASKED], place="channel").with_others


@pytest.mark.parametrize(
    "text",
    [
        "How long is the warranty?",
        "where do I find the travel form",
        "Hoe vraag ik verlof aan?",
        "有給休暇は何日ですか？",
    ],
)
def test_a_channel_can_have_its_questions_answered_unasked(text: str) -> None:
    assert reason(alice(text)) == "no_thread"
    decision = decide([alice(text)], place="channel", unasked=True)
    assert (decision.speaks, decision.reason, decision.with_others) == (True, "unasked", True)


@pytest.mark.parametrize(
    "text",
    [
        *("Anyone up for lunch?", "Does anyone have a charger?", "Good morning!", "Lunch?", "I'm off today"),
        *("Bob, can you check?", "can you send me the link?", "shall we meet at 3?", "what do you think?"),
        *("Heeft iemand een oplader?", "Wer kommt mit?", "¿Alguien tiene el enlace?", "guys, who broke it?"),
    ],
)
def test_what_is_said_to_people_is_not_answered_unasked(text: str) -> None:
    assert not decide([alice(text)], place="channel", unasked=True).speaks
