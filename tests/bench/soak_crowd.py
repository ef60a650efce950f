"""The people of the soak: many, in many channels, threads and direct
messages, who ask, go on, correct, delete and press buttons.
"""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bot.playground import SlackLimits, Workspace, WorkspaceChannel, WorkspaceUser, sample_workspace
from bot.playground.refusal import PlaygroundError
from bot.playground.state import Change
from bot.rendering.render import HELPFUL, WHY
from tests.bench.questions import sample_questions
from tests.fakes.playground import Playground

PEOPLE, CHANNELS = 40, 24
PAGES = 30
"""Of the folder that changes all the time."""
OUTCOMES = ("answered", "failed")
WRONG_ENDS = ("twice", "lost", "failed", "outdated", "answered though deleted")
ENDS = ("once", "deleted", *WRONG_ENDS)
LIMITS = SlackLimits(rate_limited=False)
FOLLOW_UPS = (
    "and when do they expire?",
    "what does that cost?",
    "who decides about that?",
    "why?",
    "and in Leeds?",
)
GOES_ON, TO_FOOTNOTE_ALONE = 0.45, 0.1
"""How many questions go on in a thread, and how many are lines of a direct message."""
CORRECTED, DELETED, PRESSED = 0.04, 0.02, 0.1
"""How many answered questions become another one, vanish, or have a button pressed below their answer."""
OPEN_THREADS = 150
"""That are still talked in: the latest."""


def workspace() -> Workspace:
    sample = sample_workspace()
    people = tuple(
        WorkspaceUser(id=f"U0P{n:03}", name=f"person{n}", real_name=f"Person {n}") for n in range(PEOPLE)
    )
    members = (*(one.id for one in people), "U0DANA", sample.bot_user_id)
    rooms = tuple(
        WorkspaceChannel(id=f"C0R{n:03}", name=f"room{n}", members=members) for n in range(CHANNELS)
    )
    return replace(sample, people=(*sample.people, *people), channels=(*sample.channels, *rooms))


@dataclass(kw_only=True, slots=True)
class Asked:
    """`began`: `time.monotonic`. `took`: seconds to the first answer that stands below it."""

    channel: str
    thread: str
    ts: str
    user: str
    began: float
    took: float | None = None
    answer: str | None = None
    corrected: bool = False
    deleted: bool = False


@dataclass(kw_only=True)
class Crowd:
    """Asks at random and keeps what became of it."""

    slack: Playground
    chance: random.Random
    asked: dict[tuple[str, str], Asked] = field(default_factory=dict)
    """By channel and ts."""
    deeds: Counter[str] = field(default_factory=Counter)
    waiting: int = 0
    _taken: list[float] = field(default_factory=list)
    _threads: deque[Asked] = field(default_factory=lambda: deque(maxlen=OPEN_THREADS))
    _answered: deque[Asked] = field(default_factory=lambda: deque(maxlen=OPEN_THREADS))

    def __post_init__(self) -> None:
        self.slack._state.listen(self._hear)
        self._openers = [f"{one}?" for one in sample_questions()]

    async def ask(self) -> None:
        luck = self.chance.random()
        if luck < GOES_ON and self._threads:
            root = self.chance.choice(self._threads)
            user = root.user if self.chance.random() < 0.6 else self._somebody()
            await self._say(
                user,
                root.channel,
                f"@footnote {self.chance.choice((*FOLLOW_UPS, self._opener()))}",
                root.thread,
            )
        elif luck < GOES_ON + TO_FOOTNOTE_ALONE:
            user = self._somebody()
            await self._say(user, self.slack.dm(user), self._opener())
        else:
            room = f"C0R{self.chance.randrange(CHANNELS):03}"
            self._threads.append(await self._say(self._somebody(), room, f"@footnote {self._opener()}"))

    async def stir(self) -> None:
        """Something else that people do, now and then."""
        luck = self.chance.random()
        if not self._answered or luck > CORRECTED + DELETED + PRESSED:
            return
        one = self.chance.choice(self._answered)
        if one.deleted or one.answer is None:
            return
        try:
            if luck < CORRECTED:
                words = self._opener()
                if words in self.slack._room(one.channel).messages[one.ts]["text"]:
                    return  # the same words, with or without a mention, are no correction: nothing is answered anew
                await self.slack.edit(one.user, one.channel, one.ts, f"@footnote {words}")
                one.corrected = True
                self.deeds["corrected"] += 1
            elif luck < CORRECTED + DELETED:
                one.deleted = True
                if one in self._threads:
                    self._threads.remove(one)
                await self.slack.delete(one.user, one.channel, one.ts)
                self.deeds["deleted"] += 1
            else:
                await self.slack.click(one.user, one.channel, one.answer, self.chance.choice((HELPFUL, WHY)))
                self.deeds["pressed"] += 1
        except PlaygroundError:
            self.deeds["not possible"] += 1  # its answer was taken away, or has no such button

    async def look_around(self) -> None:
        """What is asked for less often: commands and App Home."""
        await self.slack.command(
            self._somebody(), f"C0R{self.chance.randrange(CHANNELS):03}", "/kb", f"ask {self._opener()}"
        )
        await self.slack.command(
            "dana", "C0R000", "/kb", self.chance.choice(("status", "stats", "gaps", "stale", "sources"))
        )
        self.slack._interactions.open_home(self.chance.choice(("dana", self._somebody())))
        self.deeds["looked around"] += 1

    def outcome(self) -> dict[str, int]:
        """How many questions came to which end. `outdated`: what stands is
        the answer to the words before a correction.
        """
        standing: defaultdict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        for room in self.slack._state.rooms.values():
            for message in room.messages.values():
                if (mark := _mark(message)).get("state") in OUTCOMES:
                    standing[room.id, mark["question_ts"]].append(mark)
        ends = Counter(_end(one, standing[one.channel, one.ts]) for one in self.asked.values())
        return {"questions": len(self.asked)} | {name: ends[name] for name in ENDS}

    def taken_since_last_look(self) -> list[float]:
        """Seconds from each question to its answer."""
        taken, self._taken = self._taken, []
        return taken

    async def _say(self, user: str, channel: str, text: str, thread: str | None = None) -> Asked:
        began = time.monotonic()
        ts = await self.slack.say(user, channel, text, thread)
        one = Asked(channel=channel, thread=thread or ts, ts=ts, user=user, began=began)
        self.asked[channel, ts] = one
        self.waiting += 1
        return one

    def _hear(self, change: Change) -> None:
        mark = _mark(change.body)
        one = self.asked.get((change.channel or "", mark.get("question_ts", "")))
        if one is None or mark["state"] not in OUTCOMES:
            return
        one.answer = change.body["ts"]
        if one.took is None:
            one.took = time.monotonic() - one.began
            self.waiting -= 1
            self._taken.append(one.took)
            self._answered.append(one)

    def _somebody(self) -> str:
        return f"person{self.chance.randrange(PEOPLE)}"

    def _opener(self) -> str:
        if self.chance.random() < 0.25:
            return f"What is the limit of rule {self.chance.randrange(PAGES)}?"
        return self.chance.choice(self._openers)


@dataclass(kw_only=True)
class Wiki:
    """A folder of pages of which some change, one comes and one goes at each `turn`."""

    folder: Path
    chance: random.Random
    turns: int = 0

    def begin(self) -> None:
        self.folder.mkdir()
        for number in range(PAGES):
            self._write(number)

    def turn(self) -> None:
        self.turns += 1
        for number in self.chance.sample(range(PAGES), 3):
            self._write(number)
        self._write(PAGES + self.turns)
        self._page(PAGES + self.turns - 4).unlink(missing_ok=True)

    def _write(self, number: int) -> None:
        words = (
            "orders",
            "mulch",
            "desks",
            "travel",
            "laptops",
            "parking",
            "lunch",
            "visitors",
            "keys",
            "training",
        )
        parts = "\n\n".join(
            f"## Part {part}\n\n" + " ".join(self.chance.choices(words, k=60)) + "." for part in range(4)
        )
        rule = f"The limit of rule {number} is {self.chance.randrange(10, 900)} euros a month."
        self._page(number).write_text(f"# Rule {number}\n\n{rule}\n\n{parts}\n", encoding="utf-8")

    def _page(self, number: int) -> Path:
        return self.folder / f"rule-{number}.md"


def _end(one: Asked, marks: Sequence[dict[str, Any]]) -> str:
    answers = [mark for mark in marks if mark["state"] == "answered"]
    if one.deleted:
        return "answered though deleted" if answers else "deleted"
    if len(answers) != 1:
        return "twice" if answers else "failed" if marks else "lost"
    return "outdated" if one.corrected and "-edited-" not in answers[0]["question_id"] else "once"


def _mark(message: dict[str, Any]) -> dict[str, Any]:
    metadata = message.get("metadata") or {}
    payload: dict[str, Any] = metadata.get("event_payload") or {}
    return payload if "question_ts" in payload and message.get("bot_id") else {}
