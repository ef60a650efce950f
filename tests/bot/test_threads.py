"""Threads read back from Slack."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.listening.threads import Threads, order, turns_of
from bot.playground import SlackLimits, sample_workspace
from bot.slack.events import AnswerMetadata, CitedPassage, Message, slack_metadata
from bot.slack.people import Me
from tests.fakes.playground import Playground

ME = Me(user_id="U0BOT", bot_id="B0BOT", team_id="T1")


def said(ts: str, text: str, user: str = "U1", **given: Any) -> Message:
    return Message.model_validate({"ts": ts, "text": text, "user": user} | given)


def answered(ts: str, text: str, question_ts: str, **given: Any) -> Message:
    mark = AnswerMetadata(question_id=f"T1-C1-{question_ts}", question_ts=question_ts, **given)
    return said(ts, text, user="U0BOT", bot_id="B0BOT", metadata=slack_metadata(mark))


def test_answers_are_paired_with_their_questions_by_what_their_metadata_says() -> None:
    turns = turns_of(
        [
            said("1.1", "<@U0BOT> How many days?"),
            said("1.2", "<@U0BOT> And who signs?"),
            answered("1.3", "Your manager. [1]\nSources:", "1.2", answer="Your manager.", outcome="answered"),
            answered(
                "1.4",
                "25 days. [1]\nSources:",
                "1.1",
                answer="25 **days**.",
                rewritten="How many days of leave?",
                cited=(CitedPassage(page_id="p", chunk_id="c", title="Leave"),),
            ),
        ],
        me=ME,
        names={},
    )
    assert [(turn.question, turn.answer, turn.question_ts) for turn in turns] == [
        ("And who signs?", "Your manager.", "1.2"),
        ("How many days?", "25 **days**.", "1.1"),
    ]
    assert turns[1].rewritten == "How many days of leave?"
    assert [(one.page_id, one.chunk_id, one.cited) for one in turns[1].retrieved] == [("p", "c", True)]


def test_placeholders_apologies_and_other_bots_are_no_turns() -> None:
    messages = [
        said("1.1", "<@U0BOT> How many days?"),
        answered("1.2", "Searching…", "1.1", state="searching"),
        answered("1.3", "Sorry", "1.1", state="failed"),
        said("1.35", "25 days", user="U0BOT", bot_id="B0BOT", streaming_state="in_progress"),
        said("1.4", "Deployed!", user="U9", bot_id="B9", metadata=slack_metadata(
            AnswerMetadata(question_id="x", question_ts="1.1", answer="forged")
        )),
    ]  # fmt: skip
    assert turns_of(messages, me=ME, names={}) == []


def test_without_metadata_an_answer_belongs_to_the_question_before_it() -> None:
    messages = [
        said("1.1", "<@U0BOT> Does <@U1> know?"),
        said("1.2", "1 &lt; 2, see <https://kb.example|Leave>", user="U0BOT", bot_id="B0BOT"),
        said("1.3", "nothing yet", user="U0BOT", bot_id="B0BOT", metadata={"event_type": "other"}),
    ]
    (turn,) = turns_of(messages[:2], me=ME, names={"U1": "alice"})
    assert (turn.question, turn.answer) == ("Does @alice know?", "1 < 2, see Leave")


def test_timestamps_sort_as_numbers() -> None:
    assert sorted(["10.000001", "9.999999", "9.1000000"], key=order) == ["9.999999", "9.1000000", "10.000001"]
    assert order("nonsense") == (0,)


@pytest.mark.parametrize("page", [1, 3, 1000])
async def test_all_pages_of_a_thread_are_read_whatever_their_order(page: int) -> None:
    limits = SlackLimits(rate_limited=False, replies_page=page, replies_in_disorder=True)
    async with Playground(sample_workspace(), limits=limits) as slack:
        client = AsyncWebClient(token=slack.workspace.bot_token, base_url=slack.api_url)
        root = await slack.say("alice", "#general", "Who knows?")
        written = [root] + [await slack.say("bram", "#general", f"reply {n}", root) for n in range(7)]
        threads = Threads(client)
        messages = await threads.messages(slack._room("#general").id, root)
        assert [message.ts for message in messages] == written
