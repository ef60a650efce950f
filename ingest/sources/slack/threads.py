"""Threads that became knowledge: somebody marked a reply as the answer, or pinned a message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from ingest.sources.markup import heading
from ingest.sources.slack.mrkdwn import without_styles
from ingest.sources.slack.people import Names, Pseudonyms
from ingest.sources.slack.words import Words, words_of
from kb.models import ACCEPTED_ANSWER

_SAID = frozenset({"", "thread_broadcast", "file_share", "me_message", "bot_message"})
"""Subtypes of messages by people and apps. All others are about the channel itself."""
_LONGEST_TITLE = 120
_BLOCK = re.compile(r"`{3}|[-+*] |\d{1,9}[.)] |>|\||#{1,6} ")


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """`ts`: Slack's id of it, seconds since 1970 in front. `record`: as exported. `edited`: when, like `ts`."""

    ts: str
    user: str
    record: Mapping[str, Any]
    is_bot: bool
    reactions: frozenset[str]
    pinned: bool
    edited: str

    @property
    def day(self) -> date:
        """Returns the day of its last edit."""
        return datetime.fromtimestamp(float(self.edited), UTC).date()


@dataclass(frozen=True, kw_only=True, slots=True)
class Thread:
    """A first message and its replies, in order. `unread`: replies that Slack counts and that were not read."""

    ts: str
    messages: tuple[Message, ...]
    unread: int = 0

    def answers(self, accepted: frozenset[str]) -> list[Message]:
        return [
            message for message in self.messages if message.ts != self.ts and message.reactions & accepted
        ]

    def is_kept(self, accepted: frozenset[str]) -> bool:
        return any(message.pinned for message in self.messages) or bool(self.answers(accepted))


def threads_of(records: Iterable[Mapping[str, Any]], *, channel: str, pins: frozenset[str]) -> list[Thread]:
    """Groups a channel's messages by thread; a message without replies is a thread of its own."""
    found: dict[str, dict[str, Message]] = {}
    counted: dict[str, int] = {}
    for ts, record in _as_they_stand(records).items():
        if str(record.get("subtype") or "") not in _SAID:
            continue
        message = Message(
            ts=ts,
            user=str(record.get("user") or record.get("bot_id") or ""),
            record=record,
            is_bot=bool(record.get("bot_id")),
            reactions=frozenset(
                str(reaction.get("name", "")).partition("::")[0] for reaction in record.get("reactions") or []
            ),
            pinned=ts in pins or channel in (record.get("pinned_to") or []),
            edited=_edited(record) or ts,
        )
        replies, count = record.get("replies"), record.get("reply_count")
        counted[ts] = len(replies) if isinstance(replies, list) else count if isinstance(count, int) else 0
        found.setdefault(str(record.get("thread_ts") or ts), {})[ts] = message
    return [
        Thread(
            ts=ts,
            messages=tuple(sorted(messages.values(), key=lambda message: float(message.ts))),
            unread=max(0, counted.get(ts, 0) - len(messages.keys() - {ts})),
        )
        for ts, messages in found.items()
    ]


def _as_they_stand(records: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Returns messages by ts, after all edits and deletions, which some exports log as messages of their own."""
    standing: dict[str, Mapping[str, Any]] = {}
    edits: list[Mapping[str, Any]] = []
    deleted: set[str] = set()
    for record in records:
        if record.get("type", "message") != "message":
            continue
        match record.get("subtype"):
            case "message_changed" if isinstance(record.get("message"), dict):
                edits.append(record["message"])
            case "message_deleted":
                deleted.add(str(record.get("deleted_ts", "")))
            case _ if _is_ts(ts := str(record.get("ts", ""))):
                standing[ts] = record
    for edit in edits:
        ts = str(edit.get("ts", ""))
        before = standing.get(ts)
        if before is not None and float(_edited(edit) or 0) >= float(_edited(before) or 0):
            standing[ts] = {**before, **edit}
    return {ts: record for ts, record in standing.items() if ts not in deleted}


def _edited(record: Mapping[str, Any]) -> str:
    """Returns when a message was last edited, like `ts`; empty where it was not."""
    edited = record.get("edited")
    ts = str(edited.get("ts", "")) if isinstance(edited, dict) else ""
    return ts if _is_ts(ts) else ""


def thread_page(
    thread: Thread, *, channel: str, people: Names | Pseudonyms, accepted: frozenset[str]
) -> Words:
    """Writes a thread as a page: the question, its answer, then what else was said; empty where nobody says anything.

    Bots are heard where people marked them.
    """
    question = next((message for message in thread.messages if message.ts == thread.ts), None)
    if question is not None:
        people.person(question.user)  # who asks is the first person of the page
    answers = thread.answers(accepted)
    written: dict[str, str] = {}
    notes: list[str] = []
    first = ""
    for message in thread.messages:
        if not message.is_bot or message.pinned or message in answers or message is question:
            words = words_of(message.record, people.person)
            text = people.cleaned(words.markdown).strip()
            notes += words.notes
            first = text if message is question else first
            if text:
                written[message.ts] = _spoken(message, text, people)
    parts = [heading(_title(first, channel))]
    if question is not None and question.ts in written:
        parts.append(written.pop(question.ts))
    marked = [written.pop(answer.ts) for answer in answers if answer.ts in written]
    if marked:
        parts += [heading(ACCEPTED_ANSWER, 2), *marked]
    if written:
        parts += [heading("Other replies", 2), *written.values()]
    return Words(
        markdown="\n\n".join(parts) + "\n" if len(parts) > 1 else "",
        notes=tuple(dict.fromkeys(notes)),
    )


def _spoken(message: Message, text: str, people: Names | Pseudonyms) -> str:
    """Writes who says it, and what; on the next line where it begins with a block, such as code."""
    name = f"**{'An app' if message.is_bot else people.person(message.user)}**:"
    return f"{name}\n\n{text}" if _BLOCK.match(text) else f"{name} {text}"


def _title(text: str, channel: str) -> str:
    first = next((line for line in (line.strip("#*_>`- ") for line in text.splitlines()) if line), "")
    first = without_styles(first)
    if not first:
        return f"A thread in #{channel}"
    return first if len(first) <= _LONGEST_TITLE else first[:_LONGEST_TITLE].rsplit(" ", 1)[0] + " …"


def _is_ts(written: str) -> bool:
    seconds, dot, micros = written.partition(".")
    return bool(dot) and seconds.isdigit() and micros.isdigit() and len(seconds) <= 11
