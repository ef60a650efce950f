"""Gaps: which questions are one, what may be told of them, and when they are none any more."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bot.messages.catalog import LANGUAGES, messages_in
from bot.questions.answer_record import AnswerRecord, AskedIn, AskedQuestion, PageCited, PageNear, Place
from bot.stats.gap import is_gap
from bot.stats.gaps import Gaps
from bot.views.gap_text import gap_text, gaps_blocks
from kb.answer import Answer
from kb.errors import EmbedderUnavailableError
from kb.models import Audience, Question
from tests.fakes.answers import an_answer
from tests.fakes.office import WordSimilarity

START = datetime(2026, 11, 2, 9, tzinfo=UTC)
PARKING = PageNear(
    page_id="handbook:parking.md", title="Parking", url="https://kb.example/parking", owner="Facilities"
)
LEADS = PageNear(page_id="handbook:leads.md", title="Pay of leads", url="https://kb.example/leads")
ENGLISH = messages_in("en")


def an_asked(
    question: str,
    *,
    at: int = 0,
    user: str = "U1",
    place: Place = "public",
    channel: str = "C1",
    outcome: str = "declined",
    votes: dict[str, str] | None = None,
    reasons: dict[str, dict[str, str | None]] | None = None,
    missed_by: Collection[str] = (),
    nearest: Sequence[PageNear] = (PARKING,),
    unasked: bool = False,
    **record: Any,
) -> AskedQuestion:
    """`at`: hours after the start."""
    asked_in = AskedIn(place=place, team="T1", channel=channel, ts=str(at), user=user, unasked=unasked)
    values: dict[str, Any] = {
        "question": question,
        "is_follow_up": False,
        "outcome": outcome,
        "mode": "extractive",
        "confidence": 0.2,
        "timings_ms": {},
        "asked_at": START + timedelta(hours=at),
        "asked_in": asked_in,
        "nearest": tuple(nearest),
    }
    return AskedQuestion(
        question_id=f"q{at}",
        record=AnswerRecord(**(values | record)),
        votes=dict(votes or {}),  # type: ignore[arg-type]
        reasons=dict(reasons or {}),
        missed_by=frozenset(missed_by),
        closed_at=None,
    )


class Kept:
    """The records, as `Analytics` gives them: the last one first."""

    def __init__(self, *asked: AskedQuestion) -> None:
        self.all = list(asked)
        self.closed: list[str] = []

    async def asked(self, limit: int = 100) -> list[AskedQuestion]:
        return [
            replace(one, closed_at=START) if one.question_id in self.closed else one
            for one in reversed(self.all)
        ][:limit]

    async def close(self, question_ids: Sequence[str]) -> None:
        self.closed += question_ids


class Shelf:
    def __init__(self, *readable: str) -> None:
        self._readable = frozenset(readable)

    async def readable(self, page_ids: Collection[str], *, audience: Audience) -> frozenset[str]:
        return self._readable & frozenset(page_ids)


def gaps_of(*asked: AskedQuestion, readable: Collection[str] = (PARKING.page_id,)) -> Gaps:
    return Gaps(records=Kept(*asked), similarity=WordSimilarity(), pages=Shelf(*readable))


async def test_questions_that_are_alike_are_one_gap_with_how_often_by_whom_and_where() -> None:
    found = await gaps_of(
        an_asked("is there parking in Ghent", at=1, user="U1"),
        an_asked("who fixes the coffee machine", at=2, user="U1"),
        an_asked("is there parking in Ghent please", at=3, user="U2", channel="C2", outcome="closest"),
        an_asked("Is there parking in Ghent", at=4, user="U2", channel="C2"),
    ).open()
    parking, coffee = found.gaps
    assert (parking.times, parking.people, parking.channels) == (3, 2, ("C2", "C1"))
    assert (parking.declined, parking.closest) == (2, 1)
    assert set(map(str.casefold, parking.wordings)) == {
        "is there parking in ghent",
        "is there parking in ghent please",
    }
    assert parking.nearest == PARKING
    assert (parking.first, parking.last) == (START + timedelta(hours=1), START + timedelta(hours=4))
    assert coffee.wordings == ("who fixes the coffee machine",)
    assert (found.hidden, found.hidden_people) == (0, 0)


async def test_the_same_questions_make_the_same_gaps_in_whatever_order_the_store_lists_them() -> None:
    asked = [
        an_asked(text, at=at)
        for at, text in enumerate(["a b c d", "a b c e", "x y z", "a b f g", "x y w", "a b c d e"])
    ]
    told = {
        tuple(gap.wordings for gap in (await gaps_of(*order).open()).gaps)
        for order in itertools.islice(itertools.permutations(asked), 0, 720, 60)
    }
    assert len(told) == 1


@pytest.mark.parametrize(
    ("asked", "is_one"),
    [
        (an_asked("q", outcome="declined"), True),
        (an_asked("q", outcome="closest"), True),
        (an_asked("q", outcome="answered"), False),
        (an_asked("q", outcome="unclear"), False),
        (an_asked("q", outcome="unavailable"), False),
        (an_asked("q", outcome="chat"), False),
        (an_asked("q", outcome="declined", notes=("nothing more",)), False),
        (an_asked("q", outcome="declined", unasked=True), False),
        (an_asked("q", outcome="answered", votes={"U1": "bad"}), True),
        (an_asked("q", outcome="answered", votes={"U1": "bad", "U2": "good"}), True),
        (an_asked("q", outcome="answered", votes={"U1": "bad", "U2": "good", "U3": "good"}), False),
        (an_asked("q", outcome="answered", votes={"U1": "good"}), False),
        (an_asked("q", outcome="answered", missed_by=["U1"]), True),
    ],
)
def test_a_gap_is_what_was_not_found_only_came_near_was_voted_down_or_missed(
    asked: AskedQuestion, is_one: bool
) -> None:
    assert is_gap(asked) is is_one


async def test_a_private_question_is_counted_with_its_like_and_leaves_neither_words_nor_place() -> None:
    found = await gaps_of(
        an_asked("is there parking in Ghent", at=1),
        an_asked("is there parking in Ghent for me", at=2, user="U7", place="private", channel="G9"),
        an_asked("is there parking in Ghent for Bob", at=3, user="U8", place="private", channel="D9"),
    ).open()
    [gap] = found.gaps
    assert (gap.times, gap.people, gap.private) == (3, 3, 2)
    told = gap_text(gap, ENGLISH)
    assert "asked 3 times by 3 people in <#C1> · 2 of them privately" in told
    for secret in ("for me", "Bob", "G9", "D9", "U7", "U8"):
        assert secret not in told


async def test_what_was_only_asked_privately_by_one_or_two_is_a_number_and_names_no_page() -> None:
    found = await gaps_of(
        an_asked("may I be fired while ill", at=1, user="U1", place="private", nearest=[LEADS]),
        an_asked("may I be fired while ill today", at=2, user="U2", place="private", nearest=[LEADS]),
        an_asked("how is pay set", at=3, user="U2", place="private", nearest=[LEADS]),
        readable=[LEADS.page_id],
    ).open()
    assert found.gaps == ()
    assert (found.hidden, found.hidden_people) == (3, 2)
    shown = str(gaps_blocks(found, ENGLISH, days=90))
    assert "3 times more by 2 people" in shown
    assert "fired" not in shown
    assert "Pay of leads" not in shown


async def test_what_three_asked_privately_names_its_page_and_still_no_words() -> None:
    found = await gaps_of(
        *(an_asked("may I be fired while ill", at=n, user=f"U{n}", place="private") for n in range(3))
    ).open()
    [gap] = found.gaps
    assert gap.wordings == ()
    told = gap_text(gap, ENGLISH)
    assert told.startswith("*Asked in private channels or direct messages*\nasked 3 times by 3 people")
    assert "Parking" in told
    assert "fired" not in told


async def test_a_channel_that_was_made_private_since_keeps_its_words() -> None:
    async def still_public(channel: str) -> bool:
        return channel == "C2"

    found = await gaps_of(
        an_asked("is there parking in Ghent at night", at=1, channel="C1"),
        an_asked("is there parking in Ghent", at=2, channel="C2"),
    ).open(still_public=still_public)
    [gap] = found.gaps
    assert gap.wordings == ("is there parking in Ghent",)
    assert gap.channels == ("C2",)


async def test_questions_of_the_terminal_are_for_admins_and_never_for_a_channel() -> None:
    gaps = gaps_of(an_asked("is there parking in Ghent", place="terminal", channel="", user=""))
    assert [gap.wordings for gap in (await gaps.open()).gaps] == [("is there parking in Ghent",)]
    in_channel = await gaps.open(terminal=False)
    assert (in_channel.gaps, in_channel.hidden) == ((), 1)


async def test_a_page_is_named_only_to_those_who_may_read_it() -> None:
    gaps = gaps_of(an_asked("how is pay set", nearest=[LEADS]), readable=[])
    [seen] = (await gaps.open(audience=Audience())).gaps
    assert seen.nearest is None
    assert "Pay of leads" not in gap_text(seen, ENGLISH)
    [operator] = (await gaps.open()).gaps
    assert operator.nearest == LEADS


async def test_reasons_and_comments_of_votes_are_read_without_names_and_taken_back_ones_are_not() -> None:
    found = await gaps_of(
        an_asked(
            "how long is the warranty",
            outcome="answered",
            votes={"U1": "bad", "U2": "bad", "U3": "good"},
            reasons={
                "U1": {"reason": "outdated", "comment": "It is <b>three</b> years now."},
                "U2": {"reason": "outdated", "comment": None},
                "U3": {"reason": "wrong", "comment": "no, it is right"},
            },
        ),
        an_asked(
            "how long is the warranty for me",
            at=2,
            place="private",
            outcome="answered",
            votes={"U4": "bad"},
            reasons={"U4": {"reason": "wrong", "comment": "my secret"}},
        ),
    ).open()
    told = gap_text(found.gaps[0], ENGLISH)
    assert "👎 It is out of date (2 times): “It is &lt;b&gt;three&lt;/b&gt; years now.”" in told
    assert "👎 It is wrong" in told
    for hidden in ("no, it is right", "my secret", "U1", "U4"):
        assert hidden not in told


async def test_who_reported_it_as_missing_is_counted_among_the_people() -> None:
    [gap] = (await gaps_of(an_asked("parking?", missed_by=["U1", "U5", "U6"])).open()).gaps
    assert (gap.missed_by, gap.people) == (3, 3)
    assert "reported as missing by 3 people" in gap_text(gap, ENGLISH)


async def test_a_follow_up_is_told_as_it_was_understood() -> None:
    asked = an_asked(
        "and in Ghent?",
        is_follow_up=True,
        rewritten="is there parking in Ghent",
        understood="is there parking in Ghent",
    )
    [gap] = (await gaps_of(asked).open()).gaps
    assert gap.wordings == ("is there parking in Ghent",)


async def test_a_gap_that_is_asked_again_and_answered_is_closed_and_another_is_not() -> None:
    records = Kept(
        an_asked("is there parking in Ghent", at=1),
        an_asked("who fixes the coffee machine", at=2),
        an_asked("is there parking in Ghent", at=3, outcome="answered"),
    )
    gaps = Gaps(records=records, similarity=WordSimilarity(), pages=Shelf())
    assert [gap.wordings[0] for gap in (await gaps.open()).gaps] == ["who fixes the coffee machine"]
    assert records.closed == ["q1"]
    [closed] = await gaps.closed()
    assert closed.wordings == ("is there parking in Ghent",)
    assert closed.closed_at == START


@pytest.mark.parametrize(
    "later",
    [
        an_asked("is there parking in Ghent", at=0, outcome="answered"),
        an_asked("is there parking in Ghent", at=3, outcome="answered", place="private", channel="G9"),
        an_asked("is there parking in Ghent", at=3, outcome="answered", votes={"U1": "bad"}),
        an_asked("is there parking in Zwolle", at=3, outcome="answered"),
    ],
    ids=["earlier", "elsewhere, from pages of that channel", "voted down", "another question"],
)
async def test_an_answer_closes_no_gap_when_it_is(later: AskedQuestion) -> None:
    found = await gaps_of(an_asked("is there parking in Ghent", at=1), later).open()
    assert "is there parking in Ghent" in {gap.wordings[0] for gap in found.gaps}


async def test_an_answer_that_was_voted_down_is_closed_by_another_one_not_by_the_same() -> None:
    old, new = PageCited(page_id="p", revision="1"), PageCited(page_id="p", revision="2")
    bad = an_asked("how long is the warranty", at=1, outcome="answered", votes={"U1": "bad"}, cited=(old,))

    def again(page: PageCited) -> AskedQuestion:
        return an_asked("how long is the warranty", at=2, outcome="answered", cited=(page,))

    assert len((await gaps_of(bad, again(old)).open()).gaps) == 1
    assert (await gaps_of(bad, again(new)).open()).gaps == ()


async def test_looking_again_closes_what_is_answered_by_now_and_asks_nothing_private() -> None:
    class Pipeline:
        def __init__(self) -> None:
            self.asked: list[str] = []

        async def answer(self, question: Question) -> Answer:
            self.asked.append(question.text)
            assert question.audience == Audience()
            return an_answer(outcome="answered" if "Ghent" in question.text else "declined")

    records = Kept(
        an_asked("is there parking in Ghent", at=1),
        an_asked("who fixes the coffee machine", at=2),
        an_asked("may I be fired", at=3, place="private"),
        an_asked("how long is the warranty", at=4, outcome="answered", votes={"U1": "bad"}),
    )
    pipeline = Pipeline()
    gaps = Gaps(records=records, similarity=WordSimilarity(), pages=Shelf())
    assert await gaps.look_again(pipeline) == 1
    assert records.closed == ["q1"]
    assert sorted(pipeline.asked) == ["is there parking in Ghent", "who fixes the coffee machine"]


async def test_an_embedder_that_is_away_is_told_as_that_and_not_as_no_gaps() -> None:
    class Away:
        async def among(self, texts: Sequence[str]) -> NDArray[np.float32]:
            raise EmbedderUnavailableError("away")

    gaps = Gaps(records=Kept(an_asked("q")), similarity=Away(), pages=Shelf())
    with pytest.raises(EmbedderUnavailableError):
        await gaps.open()


@pytest.mark.parametrize("language", sorted(LANGUAGES))
async def test_no_gap_no_line_and_many_are_counted_in_every_language(language: str) -> None:
    words = LANGUAGES[language]
    assert len(gaps_blocks(await gaps_of().open(), words, days=90)) == 1
    many = [
        an_asked(" ".join(f"w{n}-{part}" for part in range(60)), at=n, nearest=[PARKING]) for n in range(40)
    ]
    blocks = gaps_blocks(await gaps_of(*many).open(), words, days=90)
    assert len(blocks) <= 50
    assert all(len(block["text"]["text"]) <= 3000 for block in blocks if block["type"] == "section")
    assert "28" in str(blocks[-1])
