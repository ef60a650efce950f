"""The line below a message that tells what the app is doing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """What assistant.threads.setStatus shows in a thread until `until` (seconds since 1970)."""

    channel: str
    thread_ts: str
    text: str
    loading_messages: tuple[str, ...] = ()
    until: float


def status_body(status: Status, now: float) -> dict[str, Any]:
    return {
        "thread_ts": status.thread_ts,
        "text": status.text,
        "loading_messages": list(status.loading_messages),
        "seconds_left": max(0.0, status.until - now),
    }
