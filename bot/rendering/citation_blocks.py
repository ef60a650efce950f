"""Renders citations: the marker at a sentence, and the line in the list of sources."""

from __future__ import annotations

import re

from bot.messages.catalog import Messages
from bot.rendering.layout import shorten
from bot.rendering.mrkdwn import escape, link, link_target
from kb.answer import AnswerWarning, Citation
from kb.models import Chunk, Page

TITLE_CHARACTERS = 90
_PLACE = re.compile(r" \([^()]{1,60}\)$")
"""What tells two pages of one title apart, as `kb.pages.labels` writes it."""
_ENDS = " .:;：。"
URL_CHARACTERS = 600
"""A longer address is shown without a link: ten of them would fill a message."""


def title_of(page_title: str) -> str:
    """Returns a page's title on one line. One that is too long keeps the place in brackets at its end."""
    title = heading_of(page_title)
    place = _PLACE.search(title)
    if place is None or len(title) <= TITLE_CHARACTERS:
        return shorten(title, TITLE_CHARACTERS)
    return f"{shorten(title[: place.start()], TITLE_CHARACTERS - len(place[0]))}{place[0]}"


def heading_of(text: str) -> str:
    """Returns a title or a heading on one line, without the mark at its end: a sentence of ours goes on behind it."""
    line = " ".join(text.split())
    return line.rstrip(_ENDS) or line


def section_of(chunk: Chunk) -> str:
    """Returns the headings above a passage, from the outermost: "Annual leave › Carry-over"."""
    return shorten(" › ".join(map(heading_of, chunk.section)), TITLE_CHARACTERS)


def titled_link(page_title: str, url: str) -> str:
    """Returns a page's title as a link, or as text where its address cannot be linked."""
    title = title_of(page_title)
    return link(url, title) if len(url) <= URL_CHARACTERS else escape(title)


def citation_mark(citation: Citation) -> str:
    target = link_target(citation.chunk.url)
    linked = target is not None and len(target) <= URL_CHARACTERS
    return f"<{target}|[{citation.n}]>" if linked else f"[{citation.n}]"


def source_line(citation: Citation, warning: AnswerWarning | None, messages: Messages) -> str:
    """Renders one source: page and section, date, what makes it doubtful and who owns it then, score."""
    chunk = citation.chunk
    place = titled_link(chunk.page.title, chunk.url)
    if chunk.section:
        place += f" › {escape(section_of(chunk))}"
    doubt = _doubt(citation, warning, messages)
    owner = chunk.page.owner if doubt and warning else None
    parts = [
        dated(chunk.page, messages),
        doubt,
        messages.owned.format(owner=escape(shorten(owner, TITLE_CHARACTERS))) if owner else "",
        messages.percent(citation.score) if citation.score is not None else "",
    ]
    return " · ".join([f"[{citation.n}]  {place}", *filter(None, parts)])


def _doubt(citation: Citation, warning: AnswerWarning | None, messages: Messages) -> str:
    if citation.freshness == "undated":
        return messages.undated
    if warning is not None and warning.date is not None and warning.reason in ("review_overdue", "expired"):
        template = messages.overdue_since if warning.reason == "review_overdue" else messages.expired_on
        return template.format(date=messages.on(warning.date))
    if warning is not None and warning.page.successor is not None:
        template = messages.later_version if warning.reason == "older_version" else messages.replaced_by
        return template.format(successor=successor_link(warning.page))
    return {"outdated": messages.outdated, "superseded": messages.replaced}.get(citation.freshness, "")


def dated(page: Page, messages: Messages) -> str:
    """Words when a page was last reviewed, else edited: "reviewed 3 May 2024"; "" where it tells neither."""
    dates = page.dates
    if dates.reviewed:
        return messages.reviewed.format(date=messages.on(dates.reviewed))
    return messages.edited.format(date=messages.on(dates.edited)) if dates.edited else ""


def successor_link(page: Page) -> str:
    """Returns the page that has taken this one's place, as far as its reader may know of it; else ""."""
    return "" if page.successor is None else titled_link(page.successor.title, page.successor.url)
