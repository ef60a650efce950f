"""Reads a Slack thread back as conversation turns: our answers, where the conversation store has none, and what
people wrote.

Our own answers are recognised by their metadata, which also holds what they cited; where Slack shows none (it was
refused with the message, or another app looks on) the message's text stands in, paired with the question before it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, cast

from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.events import FORM_SUBTYPES, READ_SUBTYPES, AnswerMetadata, Message, answer_metadata
from bot.slack.message_text import message_text, shortened
from bot.slack.people import Me
from bot.slack.slack_text import people_in, plain_text
from kb.conversation.above import is_telling
from kb.models import Outcome, Retrieved, Turn

logger = logging.getLogger(__name__)

PAGE = 200
MOST_PAGES = 25
"""5,000 messages, or 375 for an app that gets 15 a page. What is older than that is no context for a question."""
MOST_PEOPLES_MESSAGES = 50
"""People's messages of a thread that are read for a question, the latest."""
LONGEST_PEOPLES_MESSAGE = 1000
"""Characters of one of them."""
MOST_NAMES = 20
"""People who are asked for by name, the latest: each may cost a call."""

_OUTCOMES = frozenset({"answered", "declined", "unclear", "unavailable", "chat"})


class Threads:
    """Reads threads. Every method raises slack_sdk's and aiohttp's errors when Slack cannot be asked."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client

    async def messages(self, channel: str, thread_ts: str) -> list[Message]:
        """Reads all messages of a thread, oldest first, whatever order and repeats Slack's pages have."""
        found: dict[str, Message] = {}
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await self._client.conversations_replies(
                channel=channel, ts=thread_ts, limit=PAGE, cursor=cursor, include_all_metadata=True
            )
            for payload in cast("list[dict[str, Any]]", page.get("messages") or []):
                message = Message.model_validate(payload)
                found[message.ts] = message
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or None
            if cursor is None:
                break
        else:
            logger.warning(
                "thread.cut", extra={"channel": channel, "thread_ts": thread_ts, "messages": len(found)}
            )
        return sorted(found.values(), key=lambda message: order(message.ts))


def turns_of(messages: Sequence[Message], *, me: Me, names: Mapping[str, str]) -> list[Turn]:
    """Pairs answers with their questions. `messages` oldest first. Pure."""
    by_ts = {message.ts: message for message in messages}
    last_question: Message | None = None
    turns: dict[str, Turn] = {}
    for message in messages:
        if not me.wrote(message):
            last_question = message if message.by_a_person else last_question
            continue
        metadata = answer_metadata(message.metadata)
        if metadata is not None and metadata.state != "answered":
            continue
        if metadata is None and message.streaming_state is not None and not message.has_buttons:
            continue  # a stream that was cut
        asked = by_ts.get(message_of(metadata.question_ts)) if metadata is not None else last_question
        if asked is not None:
            words = plain_text(message_text(asked, me).text, names)
            turns[asked.ts] = turn_from_metadata(
                metadata, question=words, text=message.text, question_ts=asked.ts
            )
    return list(turns.values())


def turns_of_people(
    messages: Sequence[Message], turns: Sequence[Turn], *, me: Me, names: Mapping[str, str]
) -> list[Turn]:
    """Returns what people wrote, as turns that nobody answered: the latest that say anything. Pure.

    `turns`: those that were answered. What Slack says of itself (who joined) and what we wrote is left out.
    """
    answered = {message_of(turn.question_ts or "") for turn in turns}
    found: list[Turn] = []
    for message in reversed(_from_people(messages, me)):
        if message.ts in answered:
            continue
        words = plain_text(message_text(message, me).text, names)
        if is_telling(words):
            name = names.get(message.user or "") or message.username or message.user or "somebody"
            found.append(
                Turn(
                    question=shortened(words, LONGEST_PEOPLES_MESSAGE),
                    answer="",
                    question_ts=message.ts,
                    said_by=name,
                )
            )
        if len(found) == MOST_PEOPLES_MESSAGES:
            break
    return found[::-1]


def people_named(messages: Sequence[Message], *, me: Me) -> list[str]:
    """Lists who wrote the latest messages, and who is named in them."""
    people: dict[str, None] = {}
    for message in reversed(_from_people(messages, me)[-MOST_PEOPLES_MESSAGES:]):
        people |= dict.fromkeys([*filter(None, [message.user]), *people_in(message.text)])
    return list(people)[:MOST_NAMES]


def _from_people(messages: Sequence[Message], me: Me) -> list[Message]:
    """Keeps messages of people, and of other apps, which bring what people wrote elsewhere."""
    return [
        message
        for message in messages
        if message.subtype in READ_SUBTYPES | FORM_SUBTYPES
        and message.user != "USLACKBOT"
        and not me.wrote(message)
    ]


def message_of(question_ts: str) -> str:
    """Returns the ts of a question's message, or of the one that a shortcut was used on (its own ts has an ending)."""
    return question_ts.partition("-")[0]


def turn_from_metadata(
    metadata: AnswerMetadata | None, *, question: str, text: str, question_ts: str
) -> Turn:
    """Builds a turn from an answer's metadata; without metadata, from the message's text."""
    if metadata is None:
        return Turn(question=question, answer=plain_text(text), question_ts=question_ts)
    return Turn(
        question=question,
        answer=metadata.answer if metadata.answer is not None else plain_text(text),
        rewritten=metadata.rewritten,
        outcome=cast("Outcome", metadata.outcome) if metadata.outcome in _OUTCOMES else "answered",
        retrieved=tuple(
            Retrieved(page_id=citation.page_id, chunk_id=citation.chunk_id, title=citation.title, cited=True)
            for citation in metadata.cited
        ),
        question_ts=question_ts,
    )


def order(ts: str) -> tuple[int, ...]:
    """Returns the sort key of a Slack timestamp, as numbers: it has more digits than a float keeps.

    A question about a message (`bot.questions.submission`) sorts where that message does.
    """
    return tuple(int(part) if part.isdigit() else 0 for part in ts.partition("-")[0].split("."))
