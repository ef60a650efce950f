"""Builds the keys of conversations: one for each Slack thread, and one for a direct message, which goes on without
threads.
"""

from __future__ import annotations

from collections.abc import Sequence

from kb.models import ThreadKey

DIRECT = "direct"
"""In the place of a thread's timestamp: what was said at the bottom of a direct message, one line after the other."""


def thread_key(team: str, channel: str, thread_ts: str) -> ThreadKey:
    return ThreadKey(team=team, channel=channel, thread=thread_ts)


def line_key(team: str, channel: str) -> ThreadKey:
    return ThreadKey(team=team, channel=channel, thread=DIRECT)


def keys_of(team: str, channel: str, thread_ts: str, *, is_line_of_dm: bool) -> Sequence[ThreadKey]:
    """Everywhere a turn is kept: a line of a direct message also starts a thread that people may reply in."""
    key = thread_key(team, channel, thread_ts)
    return (key, line_key(team, channel)) if is_line_of_dm else (key,)
