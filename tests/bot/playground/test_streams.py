"""Streamed messages."""

from __future__ import annotations

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.playground import Playground
from tests.fakes.slack_errors import refusal


@pytest.fixture
async def stream(playground: Playground, client: AsyncWebClient) -> dict[str, str]:
    root = await playground.say("alice", "#general", "question")
    started = await client.chat_startStream(
        channel="C0GENERAL", thread_ts=root, recipient_team_id="T0HAVIK", recipient_user_id="U0ALICE"
    )
    return {"channel": "C0GENERAL", "ts": started["ts"]}


async def test_a_stream_grows_and_ends(stream, client: AsyncWebClient, playground: Playground) -> None:
    await client.chat_appendStream(**stream, markdown_text="Twenty-five ")
    await client.chat_appendStream(**stream, markdown_text="days.")
    await client.chat_stopStream(**stream)
    root = playground.messages("#general")[0]["ts"]
    message = playground.messages("#general", root)[-1]
    assert message["text"] == "Twenty-five days."
    assert [(block["type"], block["text"]) for block in message["blocks"]] == [
        ("markdown", "Twenty-five days.")
    ]
    assert (
        await refusal(client.chat_appendStream(**stream, markdown_text="x"))
        == "message_not_in_streaming_state"
    )
    assert await refusal(client.chat_stopStream(**stream)) == "message_not_in_streaming_state"


async def test_a_stalled_stream_ends_and_can_be_updated_instead(
    stream, client: AsyncWebClient, clock
) -> None:
    update = client.chat_update(**stream, text="x")
    assert await refusal(update) == "streaming_state_conflict"
    clock.move(301)
    assert (
        await refusal(client.chat_appendStream(**stream, markdown_text="x"))
        == "message_not_in_streaming_state"
    )
    await client.chat_update(**stream, text="the rest")


async def test_a_stream_in_a_channel_needs_its_recipient_and_a_thread(
    client: AsyncWebClient, playground: Playground
) -> None:
    root = await playground.say("alice", "#general", "question")
    call = client.chat_startStream(channel="C0GENERAL", thread_ts=root)
    assert await refusal(call) == "missing_recipient_team_id"
    call = client.chat_startStream(channel="C0GENERAL", thread_ts=root, recipient_team_id="T0HAVIK")
    assert await refusal(call) == "missing_recipient_user_id"
    for team, user, refused in (
        ("T0OTHER", "U0ALICE", "team_not_found"),
        ("T0HAVIK", "U0NOBODY", "user_not_found"),
    ):
        call = client.chat_startStream(
            channel="C0GENERAL", thread_ts=root, recipient_team_id=team, recipient_user_id=user
        )
        assert await refusal(call) == refused
    call = client.chat_startStream(channel="C0GENERAL", thread_ts="")
    assert await refusal(call) == "invalid_arguments"


async def test_a_stream_in_a_direct_message_needs_no_recipient(
    client: AsyncWebClient, playground: Playground
) -> None:
    dm = playground.dm("alice")
    root = await playground.say("alice", dm, "question")
    started = await client.chat_startStream(channel=dm, thread_ts=root, markdown_text="Twenty")
    assert playground.messages(dm, root)[-1]["ts"] == started["ts"]


async def test_a_stopped_stream_bears_its_metadata_and_tells_that_it_was_one(
    stream, client: AsyncWebClient, playground: Playground
) -> None:
    mark = {"event_type": "mark", "event_payload": {"state": "searching"}}
    await client.chat_stopStream(**stream, metadata=mark)
    root = playground.messages("#general")[0]["ts"]
    replies = await client.conversations_replies(channel="C0GENERAL", ts=root, include_all_metadata=True)
    told = replies["messages"][-1]
    assert (told["metadata"], told["streaming_state"]) == (mark, "completed")


async def test_what_a_stream_may_not_carry_is_refused(stream, client: AsyncWebClient) -> None:
    assert await refusal(client.chat_appendStream(**stream, markdown_text="x" * 12_001)) == "msg_too_long"
    assert await refusal(client.chat_appendStream(**stream, markdown_text="")) == "no_text"
