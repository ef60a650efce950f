"""Describes a gap: similar questions that the pages do not answer, with what may be shown of them. Pure.

The wording of a question is told only where everybody may read it (`public`: the ids of those). One that was
asked in a direct message or a private channel is counted, without its words, its place and its comments.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.questions.answer_record import AskedQuestion, PageNear

SHOWN_WORDINGS = 3

_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Complaint:
    """What people found wrong with the answers: a reason of the feedback dialog, how often, and their comments."""

    reason: str
    times: int
    comments: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Gap:
    """Questions that are alike. `wordings`: those that may be shown, the best first; () where all are private."""

    asked: tuple[AskedQuestion, ...]
    wordings: tuple[str, ...]
    askers: int
    people: int
    """Those who asked, and those who reported it as missing."""
    channels: tuple[str, ...]
    """Ids of the public ones, where it was asked most first."""
    private: int
    """How many of them were asked in private channels and direct messages."""
    declined: int
    closest: int
    voted_down: int
    """Votes, as they stand."""
    missed_by: int
    """People who reported it as missing."""
    complaints: tuple[Complaint, ...]
    nearest: PageNear | None
    first: datetime
    last: datetime
    closed_at: datetime | None = None

    @property
    def times(self) -> int:
        return len(self.asked)


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenGaps:
    """The most frequent first. `hidden`: questions that may only be counted, and by how many people."""

    gaps: tuple[Gap, ...]
    hidden: int = 0
    hidden_people: int = 0


def is_gap(asked: AskedQuestion) -> bool:
    record = asked.record
    if record.asked_in.unasked or "nothing more" in record.notes:
        return False
    return record.outcome in ("declined", "closest") or bool(asked.missed_by) or is_voted_down(asked)


def is_voted_down(asked: AskedQuestion) -> bool:
    votes = Counter(asked.votes.values())
    return votes["bad"] > 0 and votes["bad"] >= votes["good"]


def gap_of(group: Sequence[AskedQuestion], public: frozenset[str]) -> Gap:
    shown = [question for question in group if question.question_id in public]
    outcomes = Counter(question.record.outcome for question in group)
    wordings: dict[str, str] = {}
    for question in shown:
        wordings.setdefault(shown_question(question).casefold(), shown_question(question))
    near = [question.record.nearest[0] for question in shown or group if question.record.nearest]
    times = Counter(page.page_id for page in near)
    channels = Counter(
        question.record.asked_in.channel for question in shown if question.record.asked_in.channel
    )
    closed = [question.closed_at for question in group if question.closed_at is not None]
    askers = {question.record.asked_in.user for question in group}
    return Gap(
        asked=tuple(group),
        wordings=tuple(wordings.values())[:SHOWN_WORDINGS],
        askers=len(askers),
        people=len(askers.union(*(question.missed_by for question in group))),
        channels=tuple(
            channel for channel, _ in sorted(channels.items(), key=lambda item: (-item[1], item[0]))
        ),
        private=sum(question.record.asked_in.place == "private" for question in group),
        declined=outcomes["declined"],
        closest=outcomes["closest"],
        voted_down=sum(list(question.votes.values()).count("bad") for question in group),
        missed_by=len(frozenset().union(*(question.missed_by for question in group))),
        complaints=_complaints(group, public),
        nearest=min(near, key=lambda page: (-times[page.page_id], page.page_id), default=None),
        first=min(map(age, group)),
        last=max(map(age, group)),
        closed_at=max(closed) if closed else None,
    )


def _complaints(group: Sequence[AskedQuestion], public: frozenset[str]) -> tuple[Complaint, ...]:
    times: Counter[str] = Counter()
    comments: dict[str, dict[str, None]] = {}
    for question in group:
        for user, complaint in sorted(question.reasons.items()):
            if question.votes.get(user) != "bad":
                continue  # the vote was withdrawn
            reason = complaint.get("reason") or "other"
            times[reason] += 1
            if (comment := complaint.get("comment")) and question.question_id in public:
                comments.setdefault(reason, {})[_plain(comment)] = None
    return tuple(
        Complaint(reason=reason, times=times[reason], comments=tuple(comments.get(reason, ())))
        for reason in sorted(times, key=lambda reason: (-times[reason], reason))
    )


def rank(gap: Gap) -> tuple[int, int, float, str]:
    return -gap.people, -gap.times, -gap.last.timestamp(), gap.asked[0].question_id


def shown_question(asked: AskedQuestion) -> str:
    """Returns the question as it is shown; a follow-up ("and in Ghent?") as it was understood."""
    record = asked.record
    return _plain((record.understood if record.is_follow_up else None) or record.question)


def searched(asked: AskedQuestion) -> str:
    return _plain(asked.record.rewritten or asked.record.question)


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def age(asked: AskedQuestion) -> datetime:
    assert asked.record.asked_at is not None  # only these are listed
    return asked.record.asked_at
