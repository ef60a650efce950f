"""`footnote eval speaking`: whether Footnote would speak in threads that say so, judged by what decides in the bot.

A message is judged with what stands before it in the file, not with what Footnote would have done there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from rich.console import Console
from rich.table import Table

from bot.cli.as_json import print_json
from bot.listening.speaking import Place, ThreadMessage, decide
from kb.config.slack_settings import FollowUps
from kb.errors import SettingsError

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
    """One message: `at` is its place in its thread, from 1."""

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


async def speaking(file: Path, *, follow_ups: FollowUps, as_json: bool) -> int:
    judged = list(judge(read_threads(file), follow_ups=follow_ups))
    if not judged:
        raise SettingsError(f"{file} has no message that says what is expected of it")
    if as_json:
        print_json({**counts(judged), "wrong": [asdict(one) for one in judged if not one.right]})
    else:
        _show(judged)
    return 0 if meets_target(judged) else 1


LEAST_RIGHT = 0.95
MOST_SPOKEN_WRONGLY = 0.02


def meets_target(judged: Sequence[Judged]) -> bool:
    found = counts(judged)
    return (
        found["right"] >= LEAST_RIGHT * found["messages"]
        and found["spoken_wrongly"] <= MOST_SPOKEN_WRONGLY * found["messages"]
    )


def counts(judged: Sequence[Judged]) -> dict[str, int]:
    wrong = [one for one in judged if not one.right]
    return {
        "messages": len(judged),
        "right": len(judged) - len(wrong),
        "spoken_wrongly": sum(one.speaks for one in wrong),
        "silent_wrongly": sum(not one.speaks for one in wrong),
    }


def read_threads(file: Path) -> list[WrittenThread]:
    """
    Raises:
        SettingsError: the file cannot be read, or a line of it is no thread.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file} cannot be read: {error}") from error
    threads = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            threads.append(WrittenThread.model_validate_json(line))
        except ValidationError as error:
            problem = error.errors()[0]
            where = "".join(f"{part}: " for part in problem["loc"])
            raise SettingsError(f"{file}, line {number}: {where}{problem['msg']}") from error
    return threads


def judge(threads: Sequence[WrittenThread], *, follow_ups: FollowUps = "auto") -> Iterator[Judged]:
    for thread in threads:
        said = [_said(message) for message in thread.messages]
        for at, message in enumerate(thread.messages):
            if message.expect is None:
                continue
            decision = decide(said[: at + 1], place=thread.place, follow_ups=follow_ups)
            yield Judged(
                thread=thread.id,
                at=at + 1,
                user=message.user,
                text=message.text,
                expected=message.expect,
                speaks=decision.speaks,
                reason=decision.reason,
            )


def _said(message: CaseMessage) -> ThreadMessage:
    """As `bot.listening.attention` makes it of a Slack message."""
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


def _show(judged: Sequence[Judged]) -> None:
    console = Console()
    found = counts(judged)
    for name in ("right", "spoken_wrongly", "silent_wrongly"):
        share = found[name] / found["messages"]
        console.print(f"{name.replace('_', ' ')}: {found[name]} of {found['messages']} ({share:.1%})")
    wrong = [one for one in judged if not one.right]
    if not wrong:
        return
    table = Table("thread", "message", "who", "text", "expected", "reason")
    for one in wrong:
        table.add_row(one.thread, str(one.at), one.user, one.text, one.expected, one.reason)
    console.print(table)
