"""Small talk in Slack costs no search, and an answer keeps the form of
the one before; the real pipeline is behind it.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.messages.catalog import LANGUAGES
from bot.playground import SlackLimits
from kb.index.embedded.index import EdgeIndex
from tests.fakes.knowing_office import Words, knowing_office
from tests.fakes.office import Office

PAGES = {
    "tents.md": "# Renting a tent\n\nHow to rent a tent:\n\n1. Pick a tent.\n2. Pay the tent deposit.\n3. Sign for the tent.\n",
    "bikes.md": "# Renting a bike\n\nHow to rent a bike:\n\n1. Pick a bike.\n2. Pay the bike deposit.\n3. Sign for the bike.\n",
    "tea.md": "# Tea\n\nGreen tea is steeped for two minutes.\n",
}


@pytest.fixture
def embedder() -> Words:
    return Words(max_tokens=200)


@pytest.fixture
async def office(redis: Redis, limits: SlackLimits, tmp_path: Path, embedder: Words) -> AsyncIterator[Office]:
    async with knowing_office(redis, limits, tmp_path / "pages", PAGES, embedder=embedder) as office:
        yield office


@pytest.mark.parametrize(
    ("said", "language", "kind"),
    [
        ("Hello!", "en", "greeting"),
        ("Thanks a lot!", "en", "thanks"),
        ("Who are you?", "en", "who_are_you"),
        ("Hoi!", "nl", "greeting"),
        ("Dank je wel!", "nl", "thanks"),
        ("Wie ben jij?", "nl", "who_are_you"),
        ("Guten Morgen!", "de", "greeting"),
        ("Vielen Dank!", "de", "thanks"),
        ("Wer bist du?", "de", "who_are_you"),
    ],
)
async def test_small_talk_gets_one_short_reply_in_its_language_and_no_search(
    office: Office,
    embedder: Words,
    monkeypatch: pytest.MonkeyPatch,
    said: str,
    language: str,
    kind: str,
) -> None:
    searches: list[Any] = []
    search = EdgeIndex.search

    async def counted(self: EdgeIndex, *args: Any, **kwargs: Any) -> Any:
        searches.append(args)
        return await search(self, *args, **kwargs)

    monkeypatch.setattr(EdgeIndex, "search", counted)
    embedded = len(embedder.calls)
    for channel, text in (("#general", f"@footnote {said}"), (office.slack.dm("alice"), said)):
        ts = await office.ask("alice", channel, text)
        (answer,) = await office.answers(channel, ts)
        assert answer["text"] == getattr(LANGUAGES[language], kind)
        assert "kb.example" not in json.dumps(answer)
    assert searches == []
    assert len(embedder.calls) == embedded

    ts = await office.ask("alice", "#general", "@footnote How do I rent a tent?")
    await office.answers("#general", ts)
    assert searches, "what is counted is what a question makes"


async def test_a_list_that_follows_a_list_stays_one_without_a_model(office: Office) -> None:
    ts = await office.ask("alice", "#general", "@footnote How do I rent a tent?")
    (first,) = await office.answers("#general", ts)
    await office.ask("alice", "#general", "and how do I rent a bike?", ts)
    _, second = await office.answers("#general", ts, 2)
    for answer, thing in ((first, "tent"), (second, "bike")):
        steps = re.findall(r"^> (\d\. .*)", answer["text"], re.MULTILINE)
        assert [step[:2] for step in steps] == ["1.", "2.", "3."], answer["text"]
        assert f"2. Pay the {thing} deposit." in answer["text"]
