"""Builders of queued questions."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any

from bot.queue.queued_question import QueuedQuestion

_NUMBERS = itertools.count(1)


def a_question(thread: str = "", **changes: Any) -> QueuedQuestion:
    """A question with a `ts` of its own; without a thread it starts one."""
    ts = changes.pop("ts", None) or f"1700000000.{next(_NUMBERS):06d}"
    fields: dict[str, Any] = {
        "team": "T1",
        "channel": "C1",
        "channel_type": "channel",
        "ts": ts,
        "thread_ts": thread or ts,
        "user": "U1",
        "text": "How many days of holiday do I get?",
        "mentioned": True,
        "received_at": datetime(2026, 11, 27, 12, 0, tzinfo=UTC),
    }
    return QueuedQuestion(**fields | changes)
