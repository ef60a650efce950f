"""Replies of a session as JSON, for the control socket and for `--json`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from bot.api.keys import KeyInUse
from bot.messages.catalog import Messages
from bot.queue.dead_letter_reasons import reason_in_words
from bot.queue.dead_letters import DeadLetter
from bot.stats.gap import Gap, OpenGaps
from bot.stats.grown_cases import Grown
from bot.stats.stale import StalePage
from bot.views.gap_text import counts


def letter_as_json(letter: DeadLetter) -> dict[str, Any]:
    question = letter.question
    return {
        "id": letter.id,
        "reason": letter.reason,
        "told": reason_in_words(letter.reason),
        "attempts": letter.attempts,
        "given_up_at": letter.died_at.isoformat(),
        "asked_at": question.received_at.isoformat() if question else None,
        **{name: getattr(question, name, None) for name in ("team", "channel", "thread_ts", "ts", "user")},
        "deletion": question.deleted if question else False,
    }


def gaps_as_json(found: OpenGaps, closed: list[Gap], messages: Messages) -> dict[str, Any]:
    return {
        "gaps": [_gap_as_json(gap, messages) for gap in found.gaps],
        "hidden": {"times": found.hidden, "people": found.hidden_people},
        "closed": [
            _gap_as_json(gap, messages) | {"closed_at": _time(gap.closed_at)}
            for gap in closed
            if gap.wordings
        ],
    }


def _gap_as_json(gap: Gap, messages: Messages) -> dict[str, Any]:
    near = gap.nearest
    places = _places(gap)
    return {
        "question": gap.wordings[0] if gap.wordings else None,
        "wordings": list(gap.wordings),
        "times": gap.times,
        "asked_by": gap.askers,
        "people": gap.people,
        "channels": [{"id": channel, "name": name} for channel, name in places.items()],
        "asked_privately": gap.private,
        "declined": gap.declined,
        "closest": gap.closest,
        "voted_down": gap.voted_down,
        "reported_missing_by": gap.missed_by,
        "complaints": [
            {"reason": complaint.reason, "times": complaint.times, "comments": list(complaint.comments)}
            for complaint in gap.complaints
        ],
        "nearest": near and {"title": near.title, "url": near.url, "owner": near.owner},
        "first": gap.first.isoformat(),
        "last": gap.last.isoformat(),
        "told": " · ".join(
            counts(gap, messages, [f"#{name}" if name else channel for channel, name in places.items()])
        ),
    }


def stale_as_json(page: StalePage) -> dict[str, Any]:
    return {
        "page_id": page.page.id,
        "title": page.page.heading,
        "url": page.page.url,
        "source": page.page.source,
        "owner": page.page.owner,
        "reason": page.reason,
        "since": page.since.isoformat(),
        "cited": page.cited,
    }


def key_as_json(key_in_use: KeyInUse) -> dict[str, Any]:
    """Returns every field of a key but its digest."""
    key = key_in_use.key
    return {
        "name": key.name,
        "prefix": key.prefix,
        "audience": list(key.audience),
        "sources": list(key.sources),
        "per_minute": key.per_minute,
        "created_at": key.created_at.isoformat(),
        "last_used": _time(key_in_use.last_used),
        "expires_at": _time(key.expires_at),
    }


def grown_as_json(grown: Grown) -> dict[str, Any]:
    """Returns the grown cases as the control socket carries them."""
    return {
        "cases": [case.model_dump(mode="json", exclude_defaults=True) for case in grown.cases],
        "golden": [golden.model_dump(mode="json", exclude_defaults=True) for golden in grown.golden],
        "left_out": dict(grown.left_out),
    }


def _places(gap: Gap) -> dict[str, str]:
    """Maps the ids of the gap's public channels to the names that they had when the questions were asked."""
    names = {
        question.record.asked_in.channel: question.record.asked_in.channel_name for question in gap.asked
    }
    return {channel: names.get(channel, "") for channel in gap.channels}


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None
