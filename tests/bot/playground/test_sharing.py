"""What people share in Slack reaches the app as Slack sends it: files,
forwarded messages, replies to the channel, forms.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import PlaygroundError, Upload
from tests.fakes.playground import Playground


@dataclass
class Heard:
    """What the app got, by type, oldest first."""

    playground: Playground
    got: list[dict[str, Any]] = field(default_factory=list)

    async def event(self, kind: str, **held: Any) -> dict[str, Any]:
        def found() -> list[dict[str, Any]]:
            return [one for one in self.got if one["type"] == kind and held.items() <= one.items()]

        (only,) = await self.playground.wait_for(found)
        return only


@pytest.fixture
async def heard(
    playground: Playground,
    new_app: Callable[[], AsyncApp],
    connect: Callable[..., AbstractAsyncContextManager[Any]],
) -> AsyncIterator[Heard]:
    app = new_app()
    ears = Heard(playground)

    async def hear(event: dict[str, Any]) -> None:
        ears.got.append(event)

    async def act(ack: Any, body: dict[str, Any]) -> None:
        await ack()
        ears.got.append(body)

    app.event("message")(hear)
    app.event("app_mention")(hear)
    app.event("app_home_opened")(hear)
    app.shortcut("ask_about_this")(act)
    async with connect(app, playground):
        yield ears


NOTES = Upload(name="notes.txt", content=b"one\ntwo\nthree\nfour\nfive\nsix\nseven")


@pytest.mark.parametrize(
    ("upload", "told"),
    [
        (
            NOTES,
            {
                "mode": "snippet",
                "mimetype": "text/plain",
                "preview": "one\ntwo\nthree\nfour\nfive",
                "lines": 7,
                "lines_more": 2,
                "preview_is_truncated": True,
            },
        ),
        (
            Upload(name="short.md", content="Één regel".encode()),
            {"mode": "snippet", "preview": "Één regel", "lines_more": 0, "preview_is_truncated": False},
        ),
        (
            Upload(name="query.sql", content=b"x" * 5_000),
            {"mode": "snippet", "preview": "x" * 1_000, "preview_is_truncated": True},
        ),
        (
            Upload(name="offer.pdf", content=b"%PDF-1.7", size=90_000),
            {"mode": "hosted", "mimetype": "application/pdf", "filetype": "pdf", "size": 90_000},
        ),
        (Upload(name="a.txt", content=b"\x00\x01"), {"mode": "hosted"}),
        (Upload(name="../../etc/passwd"), {"name": "passwd", "mode": "hosted"}),
        (Upload(name="scan", mimetype="image/png"), {"mode": "hosted", "mimetype": "image/png"}),
    ],
)
async def test_a_file_is_told_as_slack_tells_it(
    playground: Playground, heard: Heard, upload: Upload, told: dict[str, Any]
) -> None:
    await playground.attach("alice", "#general", upload, text="@footnote what does this say?")
    event = await heard.event("message", subtype="file_share")
    (file,) = event["files"]
    assert told.items() <= file.items()
    assert ("preview" in file) == (file["mode"] == "snippet")
    mention = await heard.event("app_mention")
    assert mention["files"] == event["files"]
    assert "subtype" not in mention


async def test_files_need_no_words_and_are_read_back_with_the_history(
    playground: Playground, heard: Heard, client: AsyncWebClient
) -> None:
    ts = await playground.attach("alice", "dm", NOTES, Upload(name="b.png"))
    event = await heard.event("message", ts=ts)
    assert event["text"] == ""
    assert "blocks" not in event
    read = (await client.conversations_history(channel=playground.dm("alice")))["messages"][0]
    assert [one["name"] for one in read["files"]] == ["notes.txt", "b.png"]
    with pytest.raises(PlaygroundError, match="10 files at most"):
        await playground.attach("alice", "dm", *[NOTES] * 11)


async def test_a_forwarded_message_is_an_attachment(
    playground: Playground, heard: Heard, client: AsyncWebClient
) -> None:
    asked = await playground.say("bram", "#garden-shop", "What does *mulch* cost & why?")
    ts = await playground.forward("alice", "#garden-shop", asked, "#general", "@footnote do you know?")
    event = await heard.event("message", ts=ts)
    (shared,) = event["attachments"]
    expected = {
        "is_share": True,
        "is_msg_unfurl": True,
        "author_id": "U0BRAM",
        "author_name": "Bram de Vries",
        "author_subname": "bram",
        "text": "What does *mulch* cost &amp; why?",
        "channel_id": "C0GARDEN",
        "ts": asked,
        "footer": "Posted in #garden-shop",
    }
    assert expected.items() <= shared.items()
    assert shared["from_url"].endswith(f"/archives/C0GARDEN/p{asked.replace('.', '')}")
    original = playground.messages("#garden-shop")[0]
    assert shared["message_blocks"][0]["message"]["blocks"] == original["blocks"]
    mention = await heard.event("app_mention", ts=ts)
    assert mention["attachments"] == [shared]
    read = (await client.conversations_replies(channel="C0GENERAL", ts=ts))["messages"][0]
    assert read["attachments"] == [shared]


async def test_a_mention_inside_a_forwarded_message_is_no_mention(
    playground: Playground, heard: Heard
) -> None:
    asked = await playground.say("bram", "#random", "@footnote what is mulch?")
    ts = await playground.forward("bram", "#random", asked, "#general")
    event = await heard.event("message", ts=ts)
    assert event["text"] == ""
    await playground.say("bram", "#general", "after it")
    await playground.wait_for(lambda: len(heard.got) == 2)
    assert all(one["type"] == "message" for one in heard.got)


async def test_only_what_one_sees_can_be_forwarded(playground: Playground) -> None:
    private = await playground.say("alice", "#people-leads", "Salaries rise")
    with pytest.raises(PlaygroundError):
        await playground.forward("bram", "#people-leads", private, "#general")
    with pytest.raises(PlaygroundError):
        await playground.forward("alice", "#general", private, "#garden-shop")
    ts = await playground.forward("alice", "#people-leads", private, "dm")
    assert playground.messages(playground.dm("alice"), ts)[0]["attachments"][0]["private_channel_prompt"]


async def test_a_reply_that_is_also_sent_to_the_channel_is_in_both(
    playground: Playground, heard: Heard, client: AsyncWebClient
) -> None:
    root = await playground.say("alice", "#general", "How many days?")
    ts = await playground.say("bram", "#general", "@footnote do you know?", root, broadcast=True)
    event = await heard.event("message", subtype="thread_broadcast")
    assert (event["thread_ts"], event["root"]["ts"], event["root"]["text"]) == (root, root, "How many days?")
    assert (await heard.event("app_mention"))["thread_ts"] == root
    history = (await client.conversations_history(channel="C0GENERAL"))["messages"]
    assert [one["ts"] for one in history] == [ts, root]
    thread = (await client.conversations_replies(channel="C0GENERAL", ts=root))["messages"]
    assert [one["ts"] for one in thread] == [root, ts]
    assert thread[0]["reply_count"] == 1


async def test_a_workflow_posts_as_a_bot_of_no_user(playground: Playground, heard: Heard) -> None:
    await playground.post_workflow("#general", "@footnote How many days?", name="Ask HR")
    event = await heard.event("message", subtype="bot_message")
    assert (event["username"], event["bot_id"]) == ("Ask HR", "B0WORKFLOW")
    assert "user" not in event
    mention = await heard.event("app_mention")
    assert (mention["bot_id"], mention["username"]) == ("B0WORKFLOW", "Ask HR")
    assert "user" not in mention


async def test_the_app_does_not_hear_its_own_mention(
    playground: Playground, heard: Heard, client: AsyncWebClient
) -> None:
    await client.chat_postMessage(channel="C0GENERAL", text="I am <@U0FOOTNOTE>")
    await playground.say("alice", "#general", "hello")
    await heard.event("message", user="U0ALICE")
    assert not any(one["type"] == "app_mention" for one in heard.got)


async def test_a_shortcut_brings_the_message_a_trigger_and_an_address_to_answer_to(
    playground: Playground, heard: Heard, client: AsyncWebClient
) -> None:
    root = await playground.say("bram", "#general", "How many days?")
    ts = await playground.say("chidi", "#general", "And for parents?", root)
    assert await playground.shortcut("alice", "#general", ts)
    (body,) = [one for one in heard.got if one["type"] == "message_action"]
    assert (body["user"]["id"], body["channel"]["id"], body["message_ts"]) == ("U0ALICE", "C0GENERAL", ts)
    assert (body["message"]["text"], body["message"]["thread_ts"]) == ("And for parents?", root)
    text = {"type": "plain_text", "text": "Asking"}
    view = {"type": "modal", "title": text, "blocks": [{"type": "section", "text": text}]}
    await client.views_open(trigger_id=body["trigger_id"], view=view)
    assert playground.modal("alice")
    async with (
        aiohttp.ClientSession() as session,
        session.post(body["response_url"], json={"text": "25 days"}) as response,
    ):
        assert response.status == 200
    assert [one["text"] for one in playground.ephemerals("alice")] == ["25 days"]
    with pytest.raises(PlaygroundError, match="no shortcut"):
        await playground.shortcut("alice", "#general", ts, "conquer")


async def test_a_group_message_is_one_room_of_its_people_and_the_bot(
    playground: Playground, heard: Heard, client: AsyncWebClient
) -> None:
    group = await playground.open_group("alice", "bram", "chidi")
    assert await playground.open_group("chidi", "bram", "alice") == group
    await playground.say("bram", group, "@footnote how many days?")
    event = await heard.event("message")
    assert event["channel_type"] == "mpim"
    assert (await heard.event("app_mention"))["channel"] == group
    told = (await client.conversations_info(channel=group))["channel"]
    assert (told["is_mpim"], told["is_private"], told["is_im"]) == (True, True, False)
    listed = (await client.users_conversations(user="U0BRAM", types="mpim"))["channels"]
    assert [one["id"] for one in listed] == [group]
    with pytest.raises(PlaygroundError, match="sees no channel"):
        await playground.say("dana", group, "hello?")


async def test_an_edit_without_new_words_is_none(playground: Playground, heard: Heard) -> None:
    ts = await playground.say("alice", "#general", "hello @bram")
    await playground.edit("alice", "#general", ts, "hello @bram")
    await playground.say("alice", "#general", "next")
    await heard.event("message", text="next")
    assert not any(one.get("subtype") == "message_changed" for one in heard.got)


async def test_the_messages_tab_has_prompts_of_its_own_and_threads_get_titles(
    playground: Playground, heard: Heard, client: AsyncWebClient
) -> None:
    await playground.open_home("alice", "messages")
    assert (await heard.event("app_home_opened"))["tab"] == "messages"
    dm = playground.dm("alice")
    prompts = [{"title": "Leave", "message": "How many days of leave do I get?"}]
    await client.assistant_threads_setSuggestedPrompts(channel_id=dm, title="Ask", prompts=prompts)
    assert playground.prompts("alice") == prompts
    ts = await playground.say("alice", "dm", "How many days?")
    in_thread = [{"title": "x", "message": "y"}]
    await client.assistant_threads_setSuggestedPrompts(channel_id=dm, thread_ts=ts, prompts=in_thread)
    assert playground.prompts("alice") == prompts, "an agent's threads take no prompts"
    await client.assistant_threads_setTitle(channel_id=dm, thread_ts=ts, title="Days of leave")
    assert playground.title("alice", ts) == "Days of leave"
