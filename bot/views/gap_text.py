"""Gaps and stale pages as an admin or an owner reads them in Slack. Pure, but for what is looked up first."""

from __future__ import annotations

from collections.abc import Sequence

from bot.messages.catalog import Messages
from bot.rendering.citation_blocks import TITLE_CHARACTERS, titled_link
from bot.rendering.layout import Block, context, section, shorten
from bot.rendering.mrkdwn import escape
from bot.stats.gap import Complaint, Gap, OpenGaps
from bot.stats.stale import StalePage

SHOWN_GAPS, SHOWN_PAGES = 12, 20
SHOWN_CHANNELS, SHOWN_COMPLAINTS, SHOWN_COMMENTS = 4, 3, 2
QUESTION_CHARACTERS, COMMENT_CHARACTERS = 200, 150
SECTION_CHARACTERS, MESSAGE_CHARACTERS = 2900, 11_000
"""Slack's limits are 3,000 a section and 13,200 a message; what does not fit is counted."""


def gaps_blocks(found: OpenGaps, words: Messages, *, days: int, title: str | None = None) -> list[Block]:
    if not (found.gaps or found.hidden):
        return [section(words.gaps_none.format(days=days))]
    shown = _that_fit([gap_text(gap, words) for gap in found.gaps[:SHOWN_GAPS]])
    more = len(found.gaps) - len(shown)
    below = [
        *([words.and_more.format(n=words.number(more))] if more > 0 else []),
        *([_hidden(found, words)] if found.hidden else []),
    ]
    return [
        section(f"*{title or words.gaps_title}*"),
        *map(section, shown),
        *([context("\n".join(below))] if below else []),
    ]


def gap_text(gap: Gap, words: Messages) -> str:
    first, *others = [_quoted(wording) for wording in gap.wordings] or [words.gap_privately]
    lines = [
        f"*{first}*",
        *([words.gap_also.format(wordings=" · ".join(others))] if others else []),
        " · ".join(counts(gap, words, [f"<#{channel}>" for channel in gap.channels])),
        *_nearest(gap, words),
        *(_complaint(one, words) for one in gap.complaints[:SHOWN_COMPLAINTS]),
    ]
    return "\n".join(lines)


def counts(gap: Gap, words: Messages, places: Sequence[str]) -> list[str]:
    """How often, by how many, in which public places, and what became of it."""

    def times(number: int) -> str:
        return words.counted(words.gap_times, number)

    where = ", ".join(places[:SHOWN_CHANNELS])
    people = words.counted(words.gap_people, gap.askers)
    form = words.gap_asked_in if where else words.gap_asked
    told = [form.format(times=times(gap.times), people=people, places=where)]
    if gap.private and gap.wordings:
        told.append(words.counted(words.gap_private, gap.private))
    if gap.declined:
        told.append(words.gap_declined.format(times=times(gap.declined)))
    if gap.closest:
        told.append(words.gap_closest.format(times=times(gap.closest)))
    if gap.voted_down:
        told.append(words.gap_voted_down.format(times=times(gap.voted_down)))
    if gap.missed_by:
        told.append(words.gap_missed.format(people=words.counted(words.gap_people, gap.missed_by)))
    return told


def _nearest(gap: Gap, words: Messages) -> list[str]:
    if gap.nearest is None:
        return []
    told = [words.gap_nearest.format(page=titled_link(gap.nearest.title, gap.nearest.url))]
    if gap.nearest.owner:
        told.append(words.owned.format(owner=escape(shorten(gap.nearest.owner, TITLE_CHARACTERS))))
    return [" · ".join(told)]


def _complaint(complaint: Complaint, words: Messages) -> str:
    reason = str(getattr(words, f"reason_{complaint.reason}", words.reason_other))
    often = f" ({words.counted(words.gap_times, complaint.times)})" if complaint.times > 1 else ""
    said = " · ".join(
        f"“{escape(shorten(one, COMMENT_CHARACTERS))}”" for one in complaint.comments[:SHOWN_COMMENTS]
    )
    return f"👎 {reason}{often}{f': {said}' if said else ''}"


def _hidden(found: OpenGaps, words: Messages) -> str:
    return words.gaps_hidden.format(
        times=words.counted(words.gap_times, found.hidden),
        people=words.counted(words.gap_people, found.hidden_people),
    )


def _quoted(wording: str) -> str:
    return escape(shorten(wording, QUESTION_CHARACTERS))


def stale_blocks(pages: Sequence[StalePage], words: Messages, *, title: str | None = None) -> list[Block]:
    if not pages:
        return [section(words.stale_none)]
    lines = _that_fit([stale_line(page, words) for page in pages[:SHOWN_PAGES]])
    more = len(pages) - len(lines)
    return [
        section(f"*{title or words.stale_title}*"),
        *(section("\n".join(part)) for part in _packed(lines)),
        *([context(words.and_more.format(n=words.number(more)))] if more > 0 else []),
    ]


def stale_line(stale: StalePage, words: Messages) -> str:
    template = words.expired_on if stale.reason == "expired" else words.overdue_since
    owner = stale.page.owner
    told = [
        f"*{titled_link(stale.page.heading, stale.page.url)}*",
        template.format(date=words.on(stale.since)),
        words.counted(words.stale_cited, stale.cited) if stale.cited else words.stale_uncited,
        words.owned.format(owner=escape(shorten(owner, TITLE_CHARACTERS))) if owner else words.stale_no_owner,
    ]
    return f"• {' · '.join(told)}"


def _that_fit(texts: Sequence[str]) -> list[str]:
    """The first ones, as many as a message holds; one that no section holds is left out."""
    kept, room = [], MESSAGE_CHARACTERS
    for text in texts:
        room -= len(text)
        if room < 0:
            break
        if len(text) <= SECTION_CHARACTERS:
            kept.append(text)
    return kept


def _packed(lines: Sequence[str]) -> list[list[str]]:
    """Lines that stand in one section together."""
    parts: list[list[str]] = []
    room = 0
    for line in lines:
        if len(line) > room:
            parts.append([])
            room = SECTION_CHARACTERS
        parts[-1].append(line)
        room -= len(line) + 1
    return parts
