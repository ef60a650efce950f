"""Threads that became knowledge: somebody marked a reply as the answer, or pinned a message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from ingest.sources.markup import heading
from ingest.sources.slack.mrkdwn import to_markdown, without_styles
from ingest.sources.slack.people import Names, Pseudonyms

_SAID = frozenset({"", "thread_broadcast", "file_share", "me_message", "bot_message"})
"""Subtypes of messages in which somebody says something. All others are about the channel itself."""
_LONGEST_TITLE = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """`ts`: Slack's id of it, seconds since 1970 in front."""

    ts: str
    user: str
    text: str
    is_bot: bool
    reactions: frozenset[str]
    pinned: bool

    @property
    def day(self) -> date:
        return datetime.fromtimestamp(float(self.ts), UTC).date()


@dataclass(frozen=True, kw_only=True, slots=True)
class Thread:
    """A first message and its replies, in order."""

    ts: str
    messages: tuple[Message, ...]

    def answers(self, accepted: frozenset[str]) -> list[Message]:
        return [
            message for message in self.messages if message.ts != self.ts and message.reactions & accepted
        ]

    def is_kept(self, accepted: frozenset[str]) -> bool:
        return any(message.pinned for message in self.messages) or bool(self.answers(accepted))


def threads_of(records: Iterable[Mapping[str, Any]], *, channel: str, pins: frozenset[str]) -> list[Thread]:
    """The threads among a channel's messages; a message without replies is a thread of its own."""
    found: dict[str, dict[str, Message]] = {}
    for record in records:
        ts = str(record.get("ts", ""))
        if (
            record.get("type", "message") != "message"
            or str(record.get("subtype") or "") not in _SAID
            or not _is_ts(ts)
        ):
            continue
        message = Message(
            ts=ts,
            user=str(record.get("user") or record.get("bot_id") or ""),
            text=str(record.get("text") or ""),
            is_bot=bool(record.get("bot_id")),
            reactions=frozenset(
                str(reaction.get("name", "")).partition("::")[0] for reaction in record.get("reactions") or []
            ),
            pinned=ts in pins or channel in (record.get("pinned_to") or []),
        )
        found.setdefault(str(record.get("thread_ts") or ts), {})[ts] = message
    return [
        Thread(
            ts=ts,
            messages=tuple(
                message for _, message in sorted(messages.items(), key=lambda item: float(item[0]))
            ),
        )
        for ts, messages in found.items()
    ]


def page_of(thread: Thread, *, channel: str, people: Names | Pseudonyms, accepted: frozenset[str]) -> str:
    """The thread as a page: the question, its answer, then what else was said. Bots are heard where people marked them."""
    question = next((message for message in thread.messages if message.ts == thread.ts), None)
    if question is not None:
        people.person(question.user)  # who asks is the first person of the page
    answers = thread.answers(accepted)
    written = {
        message.ts: said
        for message in thread.messages
        if (not message.is_bot or message.pinned or message in answers or message is question)
        and (said := _said(message, people))
    }
    parts = [heading(_title(question, channel, people))]
    if question is not None and question.ts in written:
        parts.append(written.pop(question.ts))
    marked = [written.pop(answer.ts) for answer in answers if answer.ts in written]
    if marked:
        parts += [heading("Accepted answer", 2), *marked]
    if written:
        parts += [heading("Other replies", 2), *written.values()]
    return "\n\n".join(parts) + "\n" if len(parts) > 1 else ""


def _said(message: Message, people: Names | Pseudonyms) -> str:
    text = people.cleaned(to_markdown(message.text, people.person)).strip()
    return f"**{'An app' if message.is_bot else people.person(message.user)}**: {text}" if text else ""


def _title(question: Message | None, channel: str, people: Names | Pseudonyms) -> str:
    text = people.cleaned(to_markdown(question.text, people.person)) if question else ""
    first = next((line for line in (line.strip("#*_>`- ") for line in text.splitlines()) if line), "")
    first = without_styles(first)
    if not first:
        return f"A thread in #{channel}"
    return first if len(first) <= _LONGEST_TITLE else first[:_LONGEST_TITLE].rsplit(" ", 1)[0] + " …"


def _is_ts(written: str) -> bool:
    seconds, dot, micros = written.partition(".")
    return bool(dot) and seconds.isdigit() and micros.isdigit() and len(seconds) <= 11
