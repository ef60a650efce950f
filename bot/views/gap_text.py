"""Renders gaps and stale pages for admins and owners in Slack. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.messages.catalog import Messages
from bot.rendering.citation_blocks import TITLE_CHARACTERS, titled_link
from bot.rendering.layout import SECTION_CHARACTERS, Block, context, cut_lines, section, shorten
from bot.rendering.mrkdwn import escape
from bot.stats.gap import Complaint, Gap, OpenGaps
from bot.stats.stale import StalePage

SHOWN_GAPS, SHOWN_PAGES = 12, 20
SHOWN_CHANNELS, SHOWN_COMPLAINTS, SHOWN_COMMENTS = 4, 3, 2
QUESTION_CHARACTERS, COMMENT_CHARACTERS = 200, 150
MESSAGE_CHARACTERS = 11_000
"""Slack's limit is 13,200 a message; what does not fit is counted."""


def gaps_blocks(found: OpenGaps, messages: Messages, *, days: int, title: str | None = None) -> list[Block]:
    if not (found.gaps or found.hidden):
        return [section(messages.gaps_none.format(days=days))]
    shown = _that_fit([gap_text(gap, messages) for gap in found.gaps[:SHOWN_GAPS]])
    more = len(found.gaps) - len(shown)
    below = [
        *([messages.and_more.format(n=messages.number(more))] if more > 0 else []),
        *([_hidden(found, messages)] if found.hidden else []),
    ]
    return [
        section(f"*{title or messages.gaps_title}*"),
        *map(section, shown),
        *([context("\n".join(below))] if below else []),
    ]


def gap_text(gap: Gap, messages: Messages) -> str:
    first, *others = [_quoted(wording) for wording in gap.wordings] or [messages.gap_privately]
    lines = [
        f"*{first}*",
        *([messages.gap_also.format(wordings=" · ".join(others))] if others else []),
        " · ".join(counts(gap, messages, [f"<#{channel}>" for channel in gap.channels])),
        *_nearest(gap, messages),
        *(_complaint(complaint, messages) for complaint in gap.complaints[:SHOWN_COMPLAINTS]),
    ]
    return "\n".join(lines)


def counts(gap: Gap, messages: Messages, places: Sequence[str]) -> list[str]:
    """Words how often a gap was asked, by how many, in which public channels, and with what outcome."""

    def times(number: int) -> str:
        return messages.counted(messages.gap_times, number)

    where = ", ".join(places[:SHOWN_CHANNELS])
    people = messages.counted(messages.gap_people, gap.askers)
    form = messages.gap_asked_in if where else messages.gap_asked
    parts = [form.format(times=times(gap.times), people=people, places=where)]
    if gap.private and gap.wordings:
        parts.append(messages.counted(messages.gap_private, gap.private))
    if gap.declined:
        parts.append(messages.gap_declined.format(times=times(gap.declined)))
    if gap.closest:
        parts.append(messages.gap_closest.format(times=times(gap.closest)))
    if gap.voted_down:
        parts.append(messages.gap_voted_down.format(times=times(gap.voted_down)))
    if gap.missed_by:
        parts.append(messages.gap_missed.format(people=messages.counted(messages.gap_people, gap.missed_by)))
    return parts


def _nearest(gap: Gap, messages: Messages) -> list[str]:
    if gap.nearest is None:
        return []
    parts = [messages.gap_nearest.format(page=titled_link(gap.nearest.title, gap.nearest.url))]
    if gap.nearest.owner:
        parts.append(messages.owned.format(owner=escape(shorten(gap.nearest.owner, TITLE_CHARACTERS))))
    return [" · ".join(parts)]


def _complaint(complaint: Complaint, messages: Messages) -> str:
    reason = str(getattr(messages, f"reason_{complaint.reason}", messages.reason_other))
    often = f" ({messages.counted(messages.gap_times, complaint.times)})" if complaint.times > 1 else ""
    text = " · ".join(
        f"“{escape(shorten(comment, COMMENT_CHARACTERS))}”" for comment in complaint.comments[:SHOWN_COMMENTS]
    )
    return f"👎 {reason}{often}{f': {text}' if text else ''}"


def _hidden(found: OpenGaps, messages: Messages) -> str:
    return messages.gaps_hidden.format(
        times=messages.counted(messages.gap_times, found.hidden),
        people=messages.counted(messages.gap_people, found.hidden_people),
    )


def _quoted(wording: str) -> str:
    return escape(shorten(wording, QUESTION_CHARACTERS))


def stale_blocks(pages: Sequence[StalePage], messages: Messages, *, title: str | None = None) -> list[Block]:
    if not pages:
        return [section(messages.stale_none)]
    lines = _that_fit([stale_line(page, messages) for page in pages[:SHOWN_PAGES]])
    more = len(pages) - len(lines)
    return [
        section(f"*{title or messages.stale_title}*"),
        *map(section, cut_lines(lines, SECTION_CHARACTERS)),
        *([context(messages.and_more.format(n=messages.number(more)))] if more > 0 else []),
    ]


def stale_line(stale: StalePage, messages: Messages) -> str:
    template = messages.expired_on if stale.reason == "expired" else messages.overdue_since
    owner = stale.page.owner
    parts = [
        f"*{titled_link(stale.page.heading, stale.page.url)}*",
        template.format(date=messages.on(stale.since)),
        messages.counted(messages.stale_cited, stale.cited) if stale.cited else messages.stale_uncited,
        messages.owned.format(owner=escape(shorten(owner, TITLE_CHARACTERS)))
        if owner
        else messages.stale_no_owner,
    ]
    return f"• {' · '.join(parts)}"


def _that_fit(texts: Sequence[str]) -> list[str]:
    """Returns the first ones, as many as a message holds; one that no section holds is left out."""
    kept, room = [], MESSAGE_CHARACTERS
    for text in texts:
        room -= len(text)
        if room < 0:
            break
        if len(text) <= SECTION_CHARACTERS:
            kept.append(text)
    return kept
