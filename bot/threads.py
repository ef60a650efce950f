"""A Slack thread read back as conversation turns, for when the conversation store has none.

Our own answers are recognised by their metadata, which also holds what they cited; where Slack shows none (it was
refused with the message, or another app looks on) the message's text stands in, paired with the question before it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, cast

from slack_sdk.web.async_client import AsyncWebClient

from bot.events import AnswerMark, Message, answer_mark
from bot.people import Me, People
from bot.unwrap import mentions, people_in, plain_text, without_mention
from kb.models import Outcome, Retrieved, Turn

logger = logging.getLogger(__name__)

PAGE = 200
MOST_PAGES = 25
"""5,000 messages, or 375 for an app that gets 15 a page. What is older than that is no context for a question."""

_OUTCOMES = frozenset({"answered", "declined", "unclear", "unavailable", "chat"})


class Threads:
    """Reads threads. Every method raises slack_sdk's and aiohttp's errors when Slack cannot be asked."""

    def __init__(self, client: AsyncWebClient, people: People) -> None:
        self._client = client
        self._people = people

    async def messages(self, channel: str, thread_ts: str) -> list[Message]:
        """All messages of a thread, oldest first. Slack's order and the repeats between its pages are not trusted."""
        found: dict[str, Message] = {}
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await self._client.conversations_replies(
                channel=channel, ts=thread_ts, limit=PAGE, cursor=cursor, include_all_metadata=True
            )
            for told in cast("list[dict[str, Any]]", page.get("messages") or []):
                message = Message.model_validate(told)
                found[message.ts] = message
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or None
            if cursor is None:
                break
        else:
            logger.warning(
                "thread.cut", extra={"channel": channel, "thread_ts": thread_ts, "messages": len(found)}
            )
        return sorted(found.values(), key=lambda message: order(message.ts))

    async def footnote_is_in(self, channel: str, thread_ts: str) -> bool:
        """Whether Footnote has spoken in a thread, or was spoken to and is about to."""
        me = await self._people.me()
        return any(
            me.wrote(user=message.user, bot_id=message.bot_id)
            or (message.by_a_person and mentions(message.text, me.user_id))
            for message in await self.messages(channel, thread_ts)
        )

    async def turns(self, channel: str, thread_ts: str, *, before: str) -> list[Turn]:
        """The thread's questions and answers up to the message `before`, which is not among them."""
        me = await self._people.me()
        messages = [one for one in await self.messages(channel, thread_ts) if order(one.ts) < order(before)]
        people = [person for message in messages for person in people_in(message.text)]
        names = await self._people.names(dict.fromkeys(people))
        return turns_of(messages, me=me, names=names)


def turns_of(messages: Sequence[Message], *, me: Me, names: dict[str, str]) -> list[Turn]:
    """Pairs answers with their questions. `messages` oldest first. Pure."""
    by_ts = {message.ts: message for message in messages}
    last_question: Message | None = None
    turns: dict[str, Turn] = {}
    for message in messages:
        if not me.wrote(user=message.user, bot_id=message.bot_id):
            last_question = message if message.by_a_person else last_question
            continue
        mark = answer_mark(message.metadata)
        if mark is not None and mark.state != "answered":
            continue
        if mark is None and message.streaming_state is not None and not message.has_buttons:
            continue  # a stream that was cut
        asked = by_ts.get(mark.question_ts) if mark is not None else last_question
        if asked is not None:
            words = plain_text(without_mention(asked.text, me.user_id), names)
            turns[asked.ts] = turn_from_mark(mark, question=words, text=message.text, question_ts=asked.ts)
    return list(turns.values())


def turn_from_mark(mark: AnswerMark | None, *, question: str, text: str, question_ts: str) -> Turn:
    """A turn as an answer's metadata tells it; without metadata, as the message reads."""
    if mark is None:
        return Turn(question=question, answer=plain_text(text), question_ts=question_ts)
    return Turn(
        question=question,
        answer=mark.answer if mark.answer is not None else plain_text(text),
        rewritten=mark.rewritten,
        outcome=cast("Outcome", mark.outcome) if mark.outcome in _OUTCOMES else "answered",
        retrieved=tuple(
            Retrieved(page_id=one.page_id, chunk_id=one.chunk_id, title=one.title, cited=True)
            for one in mark.cited
        ),
        question_ts=question_ts,
    )


def order(ts: str) -> tuple[int, ...]:
    """Slack's timestamps sort as numbers, not as text or floats: they have more digits than a float keeps."""
    return tuple(int(part) if part.isdigit() else 0 for part in ts.split("."))
