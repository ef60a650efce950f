"""Votes, "Why this answer?" and App Home."""

from __future__ import annotations

import json
from typing import Any

from slack_sdk.models.blocks import Block

from bot.rendering.render import HELPFUL, NOT_HELPFUL, WHY
from bot.views.home_view import HomeContent
from kb.errors import StoreUnavailableError
from kb.models import Rewrite
from tests.fakes.answers import an_answer
from tests.fakes.office import Office


async def answered(office: Office) -> tuple[str, str]:
    """The ts of a question and of its answer."""
    ts = await office.ask("alice", "#general", "@footnote How many days of holiday do I get?")
    (answer,) = await office.answers("#general", ts)
    return ts, str(answer["ts"])


def assert_slack_knows(blocks: list[dict[str, Any]]) -> None:
    for block in blocks:
        parsed = Block.parse(block)
        assert parsed is not None
        assert json.loads(json.dumps(parsed.to_dict())) == block


async def test_a_good_vote_is_stored_and_thanked_for_once(either_office: Office) -> None:
    office = either_office
    _, answer = await answered(office)
    assert await office.slack.click("bram", "#general", answer, HELPFUL)
    await office.slack.wait_for(lambda: office.slack.ephemerals("bram"))
    assert await office.slack.click("bram", "#general", answer, HELPFUL)
    await office.settled()
    assert [one["text"] for one in office.slack.ephemerals("bram")] == [
        "Dank je! Genoteerd dat dit antwoord hielp."
    ]
    stats = await office.analytics.stats()
    assert (stats.positive, stats.negative) == (1, 0)


async def test_a_bad_vote_asks_what_was_wrong(office: Office) -> None:
    ts, answer = await answered(office)
    assert await office.slack.click("alice", "#general", answer, NOT_HELPFUL)
    view = await office.slack.wait_for(lambda: office.slack.modal("alice"))
    assert view["title"]["text"] == "What was wrong?"
    await office.slack.submit_view(
        "alice", view["id"], {"reason": {"reason": "outdated"}, "comment": {"comment": "It is 30 days now."}}
    )
    await office.slack.wait_for(lambda: office.slack.ephemerals("alice"))
    question_id = f"T0HAVIK-C0GENERAL-{ts}"
    kept = await office.analytics.one_asked(question_id)
    assert kept is not None
    assert kept.reasons == {"U0ALICE": {"reason": "outdated", "comment": "It is 30 days now."}}
    assert (await office.analytics.stats()).negative == 1
    await office.analytics.forget(question_id)
    assert await office.analytics.one_asked(question_id) is None


async def test_a_vote_that_cannot_be_stored_is_admitted(office: Office) -> None:
    _, answer = await answered(office)

    async def away(*_: object) -> bool:
        raise StoreUnavailableError("away")

    office.analytics.feedback = away  # type: ignore[method-assign,assignment]
    await office.slack.click("alice", "#general", answer, HELPFUL)
    await office.slack.wait_for(lambda: office.slack.ephemerals("alice"))
    assert office.slack.ephemerals("alice")[0]["text"] == "Sorry, your feedback could not be saved just now."


async def test_why_shows_how_the_answer_came_about(either_office: Office) -> None:
    office = either_office
    office.knowledge.answers["and when do they expire?"] = an_answer(
        rewrite=Rewrite(
            query="When do holiday days expire?",
            needs_rewrite=True,
            is_follow_up=True,
            topics=("holiday",),
            reasoning='"they" means the holiday days',
            method="heuristic",
            confidence=0.9,
            lost="late",
        ),
        question="and when do they expire?",
        notes=("extractive mode",),
    )
    ts = await office.ask("alice", "#general", "@footnote and when do they expire?")
    (answer,) = await office.answers("#general", ts)
    assert await office.slack.click("bram", "#general", answer["ts"], WHY)
    view = await office.slack.wait_for(lambda: office.slack.modal("bram"))
    said = json.dumps(view["blocks"], ensure_ascii=False)
    for part in (
        "*Question:* and when do they expire?",
        "*Searched for:* When do holiday days expire?",
        "heuristic",
        "the holiday days, sure to 90%",
        "*The model's rewrite was not used:* late",
        "*Topics of the thread:* holiday",
        "*Follow-up of the answer before:* yes",
        "answered, confidence 80%",
        "meaning 0.70 · words 4.20 · together 0.80 · final 0.80",
        "Leave policy: current",
        "Quotes from the pages",
        "search 3 ms",
    ):
        assert part in said, part


async def test_why_opens_only_where_the_answer_was_given(office: Office) -> None:
    ts, answer = await answered(office)
    trace = await office.analytics.load_trace(f"T0HAVIK-C0GENERAL-{ts}")
    await office.analytics.save_trace(f"T0HAVIK-C0GENERAL-{ts}", trace | {"channel": "G0PEOPLE"})
    await office.slack.click("alice", "#general", answer, WHY)
    view = await office.slack.wait_for(lambda: office.slack.modal("alice"))
    assert view["blocks"][0]["text"]["text"] == "I no longer have the details of this answer."


async def test_why_is_gone_once_a_page_in_it_may_not_be_read_any_more(office: Office) -> None:
    ts, answer = await answered(office)
    trace = await office.analytics.load_trace(f"T0HAVIK-C0GENERAL-{ts}")
    office.knowledge.hidden = set(trace["pages"])
    assert office.knowledge.hidden
    await office.slack.click("alice", "#general", answer, WHY)
    view = await office.slack.wait_for(lambda: office.slack.modal("alice"))
    assert view["blocks"][0]["text"]["text"] == "I no longer have the details of this answer."


async def test_why_of_a_forgotten_answer_says_that_it_is_gone(office: Office) -> None:
    ts, answer = await answered(office)
    await office.analytics.forget(f"T0HAVIK-C0GENERAL-{ts}")
    await office.slack.click("alice", "#general", answer, WHY)
    view = await office.slack.wait_for(lambda: office.slack.modal("alice"))
    assert view["blocks"][0]["text"]["text"] == "I no longer have the details of this answer."


async def test_home_says_how_to_ask_and_tells_admins_how_it_is_used(office: Office) -> None:
    await answered(office)
    await office.slack.open_home("alice")
    home = await office.slack.wait_for(lambda: office.slack.home("alice"))
    said = json.dumps(home["blocks"], ensure_ascii=False)
    assert "<@U0FOOTNOTE> How many days of holiday" in said
    assert "/kb" not in said
    await office.slack.open_home("dana")
    home = await office.slack.wait_for(lambda: office.slack.home("dana"))
    said = json.dumps(home["blocks"], ensure_ascii=False)
    assert "`/kb reindex" in said
    assert "Questions: 1" in said


SHOWN = HomeContent(
    examples=["How many days of holiday do I get, and until when can I take them? " * 2, "What is mulch?"],
    last=[("What is <mulch>?", "https://havik.example/archives/C1/p1")],
    sources=["• *handbook*: 31 pages"],
    asking="What is _mulch_?",
    views=[("footnote_show_status", "Status"), ("footnote_show_votes", "Votes")],
)


async def test_views_hold_only_blocks_that_slack_knows(office: Office) -> None:
    from bot.messages.catalog import LANGUAGES
    from bot.questions.explain import trace_payload
    from bot.questions.explanation import explanation_blocks
    from bot.questions.explanation_record import Explanation
    from bot.views.home import home_view

    stats = await office.analytics.stats()
    for language, words in LANGUAGES.items():
        assert_slack_knows(
            home_view(words, bot_user_id="U1", command="/kb", stats=stats, shown=SHOWN)["blocks"]
        )
        why = Explanation.model_validate(trace_payload(an_answer(language=language), channel="C1"))
        assert_slack_knows(explanation_blocks(why))
