"""Not there, out of reach, not for you: what each looks like in Slack, with the real pipeline behind the bot.

The assistant pane is a thread of the direct message.
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
from bot.rendering.render import WHY
from kb.errors import IndexUnavailableError
from kb.index.embedded.index import EdgeIndex
from tests.fakes.knowing_office import knowing_office
from tests.fakes.office import Office

QUESTION = "What is the severance budget?"
DUTCH = "Hoe hoog is het ontslagbudget van de afdeling?"
GERMAN = "Wie hoch ist das Abfindungsbudget der Abteilung?"
FAR = {
    "en": "Who painted the ceiling of that chapel?",
    "nl": "Wie heeft het plafond van die kapel geschilderd?",
    "de": "Wer hat die Decke jener Kapelle bemalt?",
}
"""Nothing of it stands on any page."""
PLACES = ["channel", "direct message", "assistant pane"]
SECRET = "4 million"
PAGES = {
    "tea.md": "# Tea\n\nGreen tea is steeped for two minutes.\n",
    "tents.md": "# Tents\n\nThe shop rents twelve tents in summer.\n",
    "bikes.md": "# Bikes\n\nA bike is repaired within three days, on a small budget.\n",
}
LIMITED = {
    "severance.md": "---\naudience: ['#people-leads']\n---\n# Severance\n\nThe severance budget is 4 million euros.\n"
}
FIGURE = re.compile(r"\d+(\.\d+)?")
"""Times, and scores by words: the engine counts how rare a word is over all pages, whoever may read them."""
BLOCK_ID = re.compile(r', "block_id": "[^"]*"')


@pytest.fixture
async def with_page(redis: Redis, limits: SlackLimits, tmp_path: Path) -> AsyncIterator[Office]:
    async with knowing_office(redis, limits, tmp_path / "with", PAGES | LIMITED) as office:
        yield office


@pytest.fixture
async def without_page(redis: Redis, limits: SlackLimits, tmp_path: Path) -> AsyncIterator[Office]:
    async with knowing_office(redis, limits, tmp_path / "without", PAGES) as office:
        yield office


async def asked(
    office: Office, user: str, place: str, question: str = QUESTION
) -> tuple[str, dict[str, Any]]:
    """The channel and the reply."""
    channel = "#general" if place == "channel" else office.slack.dm(user)
    if place == "assistant pane":
        root = await office.ask(user, channel, "Hello!")
        await office.answers(channel, root)
        ts = await office.ask(user, channel, question, root)
        answers = await office.answers(channel, root, 2)
        return channel, named_alike(answers[-1], ts, root)
    ts = await office.ask(user, channel, f"@footnote {question}" if place == "channel" else question)
    (answer,) = await office.answers(channel, ts)
    return channel, named_alike(answer, ts)


def named_alike(answer: dict[str, Any], *own: str) -> dict[str, Any]:
    """What Slack names by itself, times and blocks, by names that are the same everywhere."""
    text = json.dumps(answer)
    for ts in (*own, str(answer["ts"])):
        text = text.replace(ts, "TS")
    return dict(json.loads(BLOCK_ID.sub("", text))) | {"sent": answer["ts"]}


def not_found(answer: dict[str, Any], language: str) -> bool:
    """Whether it says that no page tells: with the closest page, or without."""
    words = LANGUAGES[language]
    return words.closest in answer["text"] or words.declined in answer["text"]


async def why(office: Office, user: str, channel: str, answer: dict[str, Any]) -> str:
    assert await office.slack.click(user, channel, answer["sent"], WHY)
    view = await office.slack.wait_for(lambda: office.slack.modal(user))
    return "\n".join(str(block.get("text", block.get("elements"))) for block in view["blocks"])


@pytest.mark.parametrize("place", PLACES)
async def test_a_page_that_is_not_for_the_asker_is_to_the_byte_as_one_that_does_not_exist(
    with_page: Office, without_page: Office, place: str
) -> None:
    channel, limited = await asked(with_page, "farid", place)
    other_channel, missing = await asked(without_page, "farid", place)
    for said in (limited, missing):
        assert "Severance" not in said["text"]
    assert limited["text"].encode() == missing["text"].encode()
    blocks, others = (json.dumps(said["blocks"]).encode() for said in (limited, missing))
    assert blocks == others
    assert set(limited) == set(missing)

    told = await why(with_page, "farid", channel, limited)
    told_of_missing = await why(without_page, "farid", other_channel, missing)
    assert SECRET not in told
    assert "Severance" not in told
    assert FIGURE.sub("0", told) == FIGURE.sub("0", told_of_missing)


async def test_the_same_page_answers_where_it_may_be_read(with_page: Office) -> None:
    ts = await with_page.ask("alice", "#people-leads", f"@footnote {QUESTION}")
    (answer,) = await with_page.answers("#people-leads", ts)
    assert SECRET in answer["text"]
    _, direct = await asked(with_page, "alice", "direct message")
    assert SECRET in direct["text"]


@pytest.mark.parametrize("place", PLACES)
async def test_an_outage_is_told_as_one_in_every_place_and_language_and_never_as_not_found(
    with_page: Office, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    async def away(*_: Any, **__: Any) -> Any:
        raise IndexUnavailableError("down")

    monkeypatch.setattr(EdgeIndex, "search", away)
    for language, question in (("en", QUESTION), ("nl", DUTCH), ("de", GERMAN)):
        _, answer = await asked(with_page, "farid", place, question)
        words = LANGUAGES[language]
        assert words.unavailable in answer["text"]
        for other in LANGUAGES.values():
            for nothing in (other.declined, other.closest):
                assert nothing not in json.dumps(answer, ensure_ascii=False)
            assert "kb.example" not in json.dumps(answer)


@pytest.mark.parametrize("place", PLACES)
async def test_not_found_says_nothing_of_an_outage_in_any_language(with_page: Office, place: str) -> None:
    for language, question in FAR.items():
        _, answer = await asked(with_page, "farid", place, question)
        assert not_found(answer, language)
        for other in LANGUAGES.values():
            assert other.unavailable not in json.dumps(answer, ensure_ascii=False)
