"""The Web API refuses what Slack refuses, and answers in Slack's shapes."""

from __future__ import annotations

from dataclasses import replace

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import PlaygroundError, SlackLimits, sample_workspace
from tests.fakes.playground import Playground
from tests.fakes.slack_errors import refusal


async def test_a_wrong_token_is_refused(playground: Playground) -> None:
    stranger = AsyncWebClient(token="xoxb-wrong", base_url=playground.api_url)
    assert await refusal(stranger.auth_test()) == "invalid_auth"
    nobody = AsyncWebClient(base_url=playground.api_url)
    assert await refusal(nobody.auth_test()) == "not_authed"


async def test_each_token_opens_only_its_own_methods(playground: Playground, client: AsyncWebClient) -> None:
    assert (
        await refusal(client.apps_connections_open(app_token="xoxb-playground")) == "not_allowed_token_type"
    )
    app = AsyncWebClient(token=playground.workspace.app_token, base_url=playground.api_url)
    assert await refusal(app.auth_test()) == "not_allowed_token_type"


async def test_auth_test_names_the_bot_and_the_scopes(client: AsyncWebClient) -> None:
    answer = await client.auth_test()
    assert (answer["user_id"], answer["bot_id"], answer["team_id"]) == ("U0FOOTNOTE", "B0FOOTNOTE", "T0HAVIK")
    assert "chat:write" in answer.headers["x-oauth-scopes"].split(",")


async def test_a_missing_scope_is_named(limits: SlackLimits) -> None:
    workspace = replace(sample_workspace(), scopes=("app_mentions:read",))
    async with Playground(workspace, limits=limits) as playground:
        client = AsyncWebClient(token=workspace.bot_token, base_url=playground.api_url)
        with pytest.raises(SlackApiError) as caught:
            await client.chat_postMessage(channel="C0GENERAL", text="hi")
    assert caught.value.response["error"] == "missing_scope"
    assert caught.value.response["needed"] == "chat:write"


async def test_an_unknown_method_is_refused(client: AsyncWebClient) -> None:
    assert await refusal(client.api_call("chat.shout")) == "unknown_method"


async def test_a_post_is_refused_where_the_bot_may_not_be(client: AsyncWebClient) -> None:
    assert await refusal(client.chat_postMessage(channel="C0RANDOM", text="hi")) == "not_in_channel"
    assert await refusal(client.chat_postMessage(channel="G0BOARD", text="hi")) == "channel_not_found"
    assert await refusal(client.chat_postMessage(channel="C0NOWHERE", text="hi")) == "channel_not_found"


async def test_a_private_channel_without_the_bot_does_not_exist(client: AsyncWebClient) -> None:
    assert await refusal(client.conversations_info(channel="G0BOARD")) == "channel_not_found"
    assert await refusal(client.conversations_history(channel="G0BOARD")) == "channel_not_found"
    for user, kind, expected in (
        ("U0EMMA", "private_channel", {"people-leads": True}),
        ("U0BRAM", "public_channel", {"general": True, "garden-shop": True, "random": False}),
    ):
        listed = await client.users_conversations(user=user, types=kind)
        assert {channel["name"]: channel["is_member"] for channel in listed["channels"]} == expected


async def test_a_message_needs_something_to_say(client: AsyncWebClient) -> None:
    assert await refusal(client.api_call("chat.postMessage", json={"channel": "C0GENERAL"})) == "no_text"
    assert await refusal(client.chat_postMessage(channel="C0GENERAL", text="x" * 40_001)) == "msg_too_long"


async def test_invalid_blocks_are_refused_over_the_wire_as_json_and_as_a_form(
    client: AsyncWebClient, playground: Playground
) -> None:
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel="C0GENERAL", text="x", blocks=[{"type": "blink"}])
    assert caught.value.response["response_metadata"]["messages"] == [
        "[ERROR] unsupported type: blink [json-pointer:/blocks/0/type]"
    ]
    form = {"token": "xoxb-playground", "channel": "C0GENERAL", "blocks": '[{"type":"blink"}]'}
    async with aiohttp.ClientSession() as session:
        async with session.post(f"{playground.api_url}chat.postMessage", data=form) as response:
            assert (await response.json())["error"] == "invalid_blocks"
        form["blocks"] = "[{"
        async with session.post(f"{playground.api_url}chat.postMessage", data=form) as response:
            assert (await response.json())["error"] == "invalid_blocks_format"


async def test_only_its_own_messages_can_be_changed(client: AsyncWebClient, playground: Playground) -> None:
    theirs = await playground.say("alice", "#general", "hello")
    assert (
        await refusal(client.chat_update(channel="C0GENERAL", ts=theirs, text="x")) == "cant_update_message"
    )
    assert await refusal(client.chat_delete(channel="C0GENERAL", ts=theirs)) == "cant_delete_message"
    assert (
        await refusal(client.chat_update(channel="C0GENERAL", ts="1.000001", text="x")) == "message_not_found"
    )


async def test_an_update_keeps_the_ts_and_marks_the_edit(
    client: AsyncWebClient, playground: Playground
) -> None:
    posted = await client.chat_postMessage(
        channel="C0GENERAL", text="one", blocks=[{"type": "divider"}], metadata=METADATA
    )
    await client.chat_update(channel="C0GENERAL", ts=posted["ts"], text="two", blocks=[])
    (message,) = playground.messages("#general")
    assert (message["ts"], message["text"], "blocks" in message) == (posted["ts"], "two", False)
    assert message["edited"]["user"] == "U0FOOTNOTE"
    assert message["metadata"] == METADATA


METADATA = {"event_type": "footnote_turn", "event_payload": {"question": "q1"}}


async def test_metadata_comes_back_only_when_asked_for(client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel="C0GENERAL", text="root", metadata=METADATA)
    plain = await client.conversations_replies(channel="C0GENERAL", ts=posted["ts"])
    asked = await client.conversations_replies(
        channel="C0GENERAL", ts=posted["ts"], include_all_metadata=True
    )
    assert "metadata" not in plain["messages"][0]
    assert asked["messages"][0]["metadata"] == METADATA
    wrong = client.chat_postMessage(channel="C0GENERAL", text="x", metadata={"event_type": "x"})
    assert await refusal(wrong) == "invalid_metadata_schema"


async def test_a_reply_needs_a_thread(client: AsyncWebClient, playground: Playground) -> None:
    call = client.chat_postMessage(channel="C0GENERAL", text="x", thread_ts="1.000001")
    assert await refusal(call) == "cannot_reply_to_message"
    root = await playground.say("alice", "#general", "question")
    reply = await client.chat_postMessage(channel="C0GENERAL", text="answer", thread_ts=root)
    nested = client.chat_postMessage(channel="C0GENERAL", text="x", thread_ts=reply["ts"])
    assert await refusal(nested) == "cannot_reply_to_message"
    (shown,) = playground.messages("#general")
    assert (shown["reply_count"], shown["reply_users"]) == (1, ["U0FOOTNOTE"])
    assert [one["text"] for one in playground.messages("#general", root)] == ["question", "answer"]


async def test_a_thread_comes_in_pages(playground: Playground, client: AsyncWebClient) -> None:
    root = await playground.say("alice", "#general", "0")
    for number in range(1, 6):
        await playground.say("alice", "#general", str(number), root)
    texts: list[str] = []
    cursor = None
    while cursor != "":
        page = await client.conversations_replies(channel="C0GENERAL", ts=root, limit=4, cursor=cursor)
        texts += [one["text"] for one in page["messages"]]
        cursor = page.get("response_metadata", {}).get("next_cursor", "")
        assert page["has_more"] is bool(cursor)
    assert texts == ["0", "1", "2", "3", "4", "5"]
    assert (
        await refusal(client.conversations_replies(channel="C0GENERAL", ts=root, cursor="!"))
        == "invalid_cursor"
    )


async def test_a_small_page_limit_and_disorder_can_be_switched_on(clock) -> None:
    limits = SlackLimits(rate_limited=False, replies_page=2, replies_in_disorder=True)
    async with Playground(sample_workspace(), clock=clock, limits=limits) as playground:
        client = AsyncWebClient(token="xoxb-playground", base_url=playground.api_url)
        root = await playground.say("alice", "#general", "0")
        for number in range(1, 4):
            await playground.say("alice", "#general", str(number), root)
        first = await client.conversations_replies(channel="C0GENERAL", ts=root, limit=200)
        second = await client.conversations_replies(
            channel="C0GENERAL", ts=root, cursor=first["response_metadata"]["next_cursor"]
        )
    assert {one["text"] for one in first["messages"]} == {"0", "1"}
    assert {one["text"] for one in second["messages"]} == {"0", "2", "3"}


async def test_history_is_newest_first_and_without_replies(
    playground: Playground, client: AsyncWebClient
) -> None:
    first = await playground.say("alice", "#general", "first")
    await playground.say("bram", "#general", "in the thread", first)
    second = await playground.say("bram", "#general", "second")
    answer = await client.conversations_history(channel="C0GENERAL")
    assert [one["text"] for one in answer["messages"]] == ["second", "first"]
    later = await client.conversations_history(channel="C0GENERAL", oldest=first)
    assert [one["ts"] for one in later["messages"]] == [second]


async def test_people_are_described_with_locale_and_rights(client: AsyncWebClient) -> None:
    bram = (await client.users_info(user="U0BRAM", include_locale=True))["user"]
    assert (bram["locale"], bram["is_admin"], bram["profile"]["email"]) == (
        "nl-NL",
        False,
        "bram@havik.example",
    )
    assert (await client.users_info(user="U0DANA"))["user"]["is_admin"] is True
    assert await refusal(client.users_info(user="U0NOBODY")) == "user_not_found"
    assert (await client.users_lookupByEmail(email="dana@havik.example"))["user"]["id"] == "U0DANA"
    assert (await client.usergroups_users_list(usergroup="S0ADMINS"))["users"] == ["U0DANA", "U0EMMA"]


async def test_an_ephemeral_message_is_seen_by_one_person(
    client: AsyncWebClient, playground: Playground
) -> None:
    await client.chat_postEphemeral(channel="C0GENERAL", user="U0ALICE", text="psst")
    assert [one["text"] for one in playground.ephemerals("alice", "#general")] == ["psst"]
    assert playground.ephemerals("bram") == []
    assert playground.messages("#general") == []
    outside = client.chat_postEphemeral(channel="G0PEOPLE", user="U0BRAM", text="psst")
    assert await refusal(outside) == "user_not_in_channel"


async def test_a_direct_message_is_opened_on_demand(client: AsyncWebClient, playground: Playground) -> None:
    opened = await client.conversations_open(users="U0ALICE")
    await client.chat_postMessage(channel="U0ALICE", text="hello")
    assert opened["channel"]["id"] == playground.dm("alice")
    assert [one["text"] for one in playground.messages(playground.dm("alice"))] == ["hello"]


async def test_reactions_are_counted(playground: Playground) -> None:
    ts = await playground.say("alice", "#general", "hello")
    for person in ("alice", "bram"):
        await playground.react(person, "#general", ts, "eyes")
    with pytest.raises(PlaygroundError, match="not possible"):
        await playground.react("bram", "#general", ts, "eyes")
    (message,) = playground.messages("#general")
    assert message["reactions"] == [{"name": "eyes", "users": ["U0ALICE", "U0BRAM"], "count": 2}]
    for person in ("alice", "bram"):
        await playground.react(person, "#general", ts, "eyes", remove=True)
    (message,) = playground.messages("#general")
    assert "reactions" not in message


async def test_a_status_ends_with_the_reply_or_after_two_minutes(
    client: AsyncWebClient, playground: Playground, clock
) -> None:
    root = await playground.say("alice", "#general", "question")
    call = {"channel_id": "C0GENERAL", "thread_ts": root}
    await client.assistant_threads_setStatus(**call, status="is searching...")
    status = playground.status("#general", root)
    assert status is not None
    assert status.text == "is searching..."
    await client.chat_postMessage(channel="C0GENERAL", text="answer", thread_ts=root)
    assert playground.status("#general", root) is None
    await client.assistant_threads_setStatus(**call, status="is thinking...")
    clock.move(121)
    assert playground.status("#general", root) is None


async def test_a_deleted_root_leaves_a_tombstone_and_a_deleted_reply_nothing(playground: Playground) -> None:
    root = await playground.say("alice", "#general", "question")
    reply = await playground.say("bram", "#general", "answer", root)
    await playground.delete("alice", "#general", root)
    assert [one.get("subtype") for one in playground.messages("#general")] == ["tombstone"]
    await playground.delete("bram", "#general", reply)
    assert [one["text"] for one in playground.messages("#general", root)] == ["This message was deleted."]


async def test_every_call_is_recorded(client: AsyncWebClient, playground: Playground) -> None:
    await client.chat_postMessage(channel="C0GENERAL", text="hello")
    await refusal(client.chat_postMessage(channel="C0NOWHERE", text="hello"))
    done, refused = playground.calls
    assert (done.method, done.arguments["text"], done.ok, done.status) == (
        "chat.postMessage",
        "hello",
        True,
        200,
    )
    assert refused.response == {"ok": False, "error": "channel_not_found"}
