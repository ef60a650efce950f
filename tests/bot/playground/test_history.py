"""What was said is there again after a restart; a broken file stops
nothing; nothing is kept that nobody asked to keep.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import SlackLimits, Workspace
from bot.playground.history import FILE, ROOM_MESSAGES, SET_ASIDE, History
from tests.fakes.playground import Playground


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def start(
    tmp_path: Path, workspace: Workspace, limits: SlackLimits, clock: Callable[[], float], told: list[str]
) -> Callable[[], Playground]:
    def one() -> Playground:
        history = History(tmp_path, tell=told.append)
        return Playground(workspace, clock=clock, limits=limits, history=history)

    return one


def client_of(playground: Playground) -> AsyncWebClient:
    return AsyncWebClient(token=playground.workspace.bot_token, base_url=playground.api_url)


async def test_rooms_messages_members_and_who_i_am_are_there_again(
    start: Callable[[], Playground], told: list[str]
) -> None:
    async with start() as first:
        root = await first.say("alice", "#general", "How many days?")
        client = client_of(first)
        link = f"<{first.url}kb/leave.md|Leave policy>"
        await client.chat_postMessage(
            channel="C0GENERAL",
            thread_ts=root,
            text=link,
            metadata={"event_type": "answer", "event_payload": {"id": "q1"}},
        )
        dm = first.dm("bram")
        await first.say("bram", "dm", "hello")
        group = await first.open_group("alice", "bram")
        await first.say("alice", group, "to both")
        await first.join("footnote", "#random")
        async with aiohttp.ClientSession() as browser:
            await browser.get(f"{first.url}page/workspace?user=U0BRAM")
    async with start() as again:
        thread = again.messages("#general", root)
        assert [one["text"] for one in thread] == ["How many days?", f"<{again.url}kb/leave.md|Leave policy>"]
        assert thread[1]["metadata"]["event_payload"] == {"id": "q1"}
        assert (again.messages(dm)[0]["text"], again.dm("bram")) == ("hello", dm)
        assert again.messages(group)[0]["text"] == "to both"
        assert await again.open_group("bram", "alice") == group
        await client_of(again).chat_postMessage(channel="C0RANDOM", text="still a member")
        later = await again.say("alice", "#general", "again", root)
        assert later > thread[1]["ts"]
        async with aiohttp.ClientSession() as browser, browser.get(f"{again.url}page/workspace") as page:
            assert (await page.json())["me"] == "U0BRAM"
    assert told == []


async def test_edits_and_deletions_are_kept_too(start: Callable[[], Playground]) -> None:
    async with start() as first:
        kept = await first.say("alice", "#general", "one")
        gone = await first.say("alice", "#general", "two")
        await first.edit("alice", "#general", kept, "uno")
        await first.delete("alice", "#general", gone)
    async with start() as again:
        assert [one["text"] for one in again.messages("#general")] == ["uno"]


async def test_it_is_written_while_it_runs_so_that_a_kill_loses_little(
    start: Callable[[], Playground], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.playground.history.DELAY_S", 0.01)
    async with start() as running:
        await running.say("alice", "#general", "written down")
        file = tmp_path / FILE
        await running.wait_for(lambda: file.exists() and "written down" in file.read_text())
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert not list(tmp_path.glob("*.new"))
        text = file.read_text()
        for secret in (running.workspace.bot_token, running.workspace.signing_secret):
            assert secret not in text


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"rooms": 3}',
        b'{"rooms": [{"id": "C1", "members": [], "messages": {"x": {}}}]}',
    ],
)
async def test_a_broken_file_is_set_aside_with_a_sentence(
    start: Callable[[], Playground], tmp_path: Path, told: list[str], broken: bytes
) -> None:
    (tmp_path / FILE).write_bytes(broken)
    async with start() as running:
        assert running.messages("#general") == []
        await running.say("alice", "#general", "on we go")
    assert (tmp_path / SET_ASIDE).read_bytes() == broken
    (sentence,) = told
    assert "starts empty" in sentence
    assert json.loads((tmp_path / FILE).read_text())["rooms"]


async def test_only_the_newest_messages_of_a_room_are_kept(
    start: Callable[[], Playground], tmp_path: Path
) -> None:
    async with start() as first:
        old = await first.say("alice", "#general", "oldest")
        await first.say("bram", "#general", "in its thread", old)
        for number in range(ROOM_MESSAGES):
            await first.say("alice", "#general", str(number))
        await first.say("bram", "#general", "late, in the oldest thread", old)
    async with start() as again:
        texts = [one["text"] for one in again.messages("#general")]
        assert texts == ["oldest", *(str(number) for number in range(1, ROOM_MESSAGES))]
        assert [one["text"] for one in again.messages("#general", old)] == [
            "oldest",
            "late, in the oldest thread",
        ]


async def test_a_channel_that_is_no_more_is_left_out(start: Callable[[], Playground], tmp_path: Path) -> None:
    rooms = [
        {"id": "C0GONE", "name": "gone", "members": ["U0ALICE"]},
        {"id": "D0X", "kind": "im", "members": ["U0NOBODY"]},
    ]
    (tmp_path / FILE).write_text(json.dumps({"me": "U0NOBODY", "rooms": rooms}))
    async with (
        start() as running,
        aiohttp.ClientSession() as browser,
        browser.get(f"{running.url}page/workspace?user=U0ALICE") as page,
    ):
        found = await page.json()
    assert {"C0GONE", "D0X"}.isdisjoint(one["id"] for one in found["channels"])


async def test_a_stream_that_was_cut_is_over(start: Callable[[], Playground]) -> None:
    async with start() as first:
        root = await first.say("alice", "#general", "How many days?")
        await client_of(first).chat_startStream(
            channel="C0GENERAL",
            thread_ts=root,
            markdown_text="Twenty",
            recipient_team_id="T0HAVIK",
            recipient_user_id="U0ALICE",
        )
    async with start() as again:
        assert again.messages("#general", root)[1]["streaming_state"] == "completed"


async def test_to_forget_is_to_start_anew(start: Callable[[], Playground], tmp_path: Path) -> None:
    async with start() as first:
        await first.say("alice", "#general", "hello")
    History(tmp_path, tell=print).forget()
    async with start() as again:
        assert again.messages("#general") == []


async def test_without_a_history_nothing_is_written(playground: Playground, tmp_path: Path) -> None:
    await playground.say("alice", "#general", "hello")
    await playground.stop()
    assert list(tmp_path.iterdir()) == []
