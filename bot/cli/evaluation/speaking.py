"""`footnote eval speaking`: whether Footnote would speak in threads that say so, judged by what decides in the bot.

A message is judged with what stands before it in the file, not with what Footnote would have done there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict
from rich.markup import escape

from bot.cli.evaluation.report import Report, table
from bot.listening.reply_policy import Place, ThreadMessage, decide
from kb.config.slack_settings import FollowUps
from kb.errors import SettingsError
from kb.evaluation.case_files import read_lines

BOT = "BOT"
_MENTION = re.compile(r"<@([^<>|]+)(?:\|[^<>]*)?>|<!(?:subteam\^|here|channel|everyone)[^<>]*>")

Expected = Literal["speak", "silent"]


class CaseMessage(BaseModel):
    """`user` is "BOT" for Footnote, whose messages have an outcome; a person's may say what is expected of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    user: str
    text: str = ""
    outcome: str | None = None
    expect: Expected | None = None


class WrittenThread(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    place: Place = "channel"
    messages: tuple[CaseMessage, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """A message that was judged. `at`: its place in its thread, from 1."""

    thread: str
    at: int
    user: str
    text: str
    expected: Expected
    speaks: bool
    reason: str

    @property
    def right(self) -> bool:
        return self.speaks == (self.expected == "speak")


def speaking(file: Path, *, follow_ups: FollowUps) -> Report:
    """Judges every message that says what is expected. The exit code is 1 below the target."""
    judged = list(judge(read_lines(file, WrittenThread), follow_ups=follow_ups))
    if not judged:
        raise SettingsError(f"{file} has no message that says what is expected of it")
    total = counts(judged)
    wrong = [message for message in judged if not message.right]
    rows = table("thread", "message", "who", "text", "expected", "reason")
    for message in wrong:
        rows.add_row(
            message.thread,
            str(message.at),
            message.user,
            escape(message.text),
            message.expected,
            message.reason,
        )
    shares = [
        f"{name.replace('_', ' ')}: {total[name]} of {total['messages']} ({total[name] / total['messages']:.1%})"
        for name in ("right", "spoken_wrongly", "silent_wrongly")
    ]
    return Report(
        figures={**total, "wrong": [asdict(message) for message in wrong]},
        shown=[*shares, *([rows] if wrong else ())],
        code=0 if meets_target(judged) else 1,
    )


LEAST_RIGHT = 0.95
MOST_SPOKEN_WRONGLY = 0.02


def meets_target(judged: Sequence[Judged]) -> bool:
    total = counts(judged)
    return (
        total["right"] >= LEAST_RIGHT * total["messages"]
        and total["spoken_wrongly"] <= MOST_SPOKEN_WRONGLY * total["messages"]
    )


def counts(judged: Sequence[Judged]) -> dict[str, int]:
    wrong = [message for message in judged if not message.right]
    return {
        "messages": len(judged),
        "right": len(judged) - len(wrong),
        "spoken_wrongly": sum(message.speaks for message in wrong),
        "silent_wrongly": sum(not message.speaks for message in wrong),
    }


def judge(threads: Iterable[WrittenThread], *, follow_ups: FollowUps = "auto") -> Iterator[Judged]:
    for thread in threads:
        messages = [_thread_message(message) for message in thread.messages]
        for number, message in enumerate(thread.messages, 1):
            if message.expect is None:
                continue
            decision = decide(messages[:number], place=thread.place, follow_ups=follow_ups)
            yield Judged(
                thread=thread.id,
                at=number,
                user=message.user,
                text=message.text,
                expected=message.expect,
                speaks=decision.speaks,
                reason=decision.reason,
            )


def _thread_message(message: CaseMessage) -> ThreadMessage:
    """Makes what `bot.listening.reply_decider` makes of a Slack message."""
    mentioned = [found.group(1) for found in _MENTION.finditer(message.text)]
    of_us = message.user == BOT
    return ThreadMessage(
        user=None if of_us else message.user,
        text=re.sub(rf"<@{BOT}(?:\|[^<>]*)?>", " ", message.text),
        mentions_us=BOT in mentioned,
        addresses_others=bool(mentioned) and BOT not in mentioned,
        outcome=message.outcome,
        name=message.user,
    )
