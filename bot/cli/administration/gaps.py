"""`footnote gaps` and `footnote stale`: what the pages lack, and which of them ask to be looked at.

Both are for who runs Footnote, to whom every page is open. The wording of a question
is held back as everywhere: what was asked privately is counted, not quoted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from bot.cli.output import print_result, say, say_rest
from bot.cli.session.session import open_session
from bot.messages.catalog import messages_in
from bot.stats.analytics import KEEP
from kb.config.settings import Settings

SHOWN = 30
"""Gaps, or pages, that a person is shown; `--json` has them all."""
COMMENTS = 3


async def gaps(settings: Settings, *, as_json: bool, again: bool) -> int:
    async with open_session(settings, "gaps", models=True) as session:
        found = await session.gaps(again=again)
    print_result(found, partial(_show_gaps, again=again), as_json=as_json)
    return 0


async def stale(settings: Settings, *, as_json: bool) -> int:
    async with open_session(settings, "stale") as session:
        pages = await session.stale()
    print_result(pages, _show_stale, as_json=as_json)
    return 0


def _show_gaps(found: Mapping[str, Any], *, again: bool) -> None:
    messages = messages_in("en")
    if again:
        say(f"Asked anew: {found['closed_now']} of the questions are answered by now.")
    if not found["gaps"] and not found["hidden"]["times"]:
        say(messages.gaps_none.format(days=KEEP.days))
    for gap in found["gaps"][:SHOWN]:
        say(gap["question"] or messages.gap_privately, style="bold")
        if gap["wordings"][1:]:
            say(f"  {messages.gap_also.format(wordings=' · '.join(gap['wordings'][1:]))}")
        say(f"  {gap['told']}")
        if near := gap["nearest"]:
            owner = f" · {messages.owned.format(owner=near['owner'])}" if near["owner"] else ""
            say(f"  {messages.gap_nearest.format(page=near['title'])} ({near['url']}){owner}")
        for complaint in gap["complaints"]:
            reason = getattr(messages, f"reason_{complaint['reason']}", messages.reason_other)
            comments = " · ".join(f"“{comment}”" for comment in complaint["comments"][:COMMENTS])
            times = complaint["times"]
            often = f" ({messages.counted(messages.gap_times, times)})" if times > 1 else ""
            say(f"  Voted down: {reason}{often}{f': {comments}' if comments else ''}")
    say_rest(len(found["gaps"]), SHOWN)
    if hidden := found["hidden"]["times"]:
        people = messages.counted(messages.gap_people, found["hidden"]["people"])
        say(messages.gaps_hidden.format(times=messages.counted(messages.gap_times, hidden), people=people))
    if found["closed"]:
        latest = found["closed"][0]
        say(
            f"Closed: {len(found['closed'])}, the last one on {latest['closed_at'][:10]}: {latest['question']}"
        )


def _show_stale(pages: Sequence[Mapping[str, Any]]) -> None:
    messages = messages_in("en")
    if not pages:
        say(messages.stale_none)
    for page in pages[:SHOWN]:
        since = "expired" if page["reason"] == "expired" else "review overdue since"
        cited = (
            messages.counted(messages.stale_cited, page["cited"]) if page["cited"] else messages.stale_uncited
        )
        owner = messages.owned.format(owner=page["owner"]) if page["owner"] else messages.stale_no_owner
        say(page["title"], style="bold")
        say(f"  {since} {page['since']} · {cited} · {owner} · {page['url']}")
    say_rest(len(pages), SHOWN)
