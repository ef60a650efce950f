"""Cited pages as Slack text: the mark at a sentence, the line in the
list of sources, and what makes a page doubtful.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from bot.messages.catalog import Messages
from bot.rendering.layout import shorten
from bot.rendering.mrkdwn import escape, link, link_target
from kb.answer import AnswerWarning, Citation
from kb.models import Page

TITLE_CHARACTERS = 90
_PLACE = re.compile(r" \([^()]{1,60}\)$")
"""What tells two pages of one title apart, as `kb.pages.labels` writes it."""
URL_CHARACTERS = 600
"""A longer address is shown without a link: ten of them would fill a message."""


def title_of(page_title: str) -> str:
    """A page's title on one line. One that is longer than people read keeps the place in brackets at its end."""
    title = " ".join(page_title.split())
    place = _PLACE.search(title)
    if place is None or len(title) <= TITLE_CHARACTERS:
        return shorten(title, TITLE_CHARACTERS)
    return f"{shorten(title[: place.start()], TITLE_CHARACTERS - len(place[0]))}{place[0]}"


def titled_link(page_title: str, url: str) -> str:
    """A page's title as a link, or as text where its address cannot be linked."""
    title = title_of(page_title)
    return link(url, title) if len(url) <= URL_CHARACTERS else escape(title)


def citation_mark(citation: Citation) -> str:
    target = link_target(citation.chunk.url)
    linked = target is not None and len(target) <= URL_CHARACTERS
    return f"<{target}|[{citation.n}]>" if linked else f"[{citation.n}]"


def source_line(citation: Citation, warning: AnswerWarning | None, words: Messages) -> str:
    """One source: where it stands, its date, what is wrong with it and who owns it then, and its score."""
    chunk = citation.chunk
    place = titled_link(chunk.page.title, chunk.url)
    if chunk.section:
        place += f" › {escape(shorten(chunk.section_label, TITLE_CHARACTERS))}"
    doubt = _doubt(citation, warning, words)
    owner = chunk.page.owner if doubt and warning else None
    told = [
        dated(chunk.page, words),
        doubt,
        words.owned.format(owner=escape(shorten(owner, TITLE_CHARACTERS))) if owner else "",
        words.percent(citation.score) if citation.score is not None else "",
    ]
    return " · ".join([f"[{citation.n}]  {place}", *(one for one in told if one)])


def warning_line(warning: AnswerWarning, cited: Mapping[int, Citation], words: Messages, today: date) -> str:
    """One sentence about a page: which one, since when, why, and whose it is."""
    if warning.kind == "conflict":
        pages = [cited[n].chunk.page for n in warning.disputed if n in cited]
        if len(pages) == 2:
            return f"⚠️ {words.conflict.format(newer=format_page(pages[0], words), older=format_page(pages[1], words))}"
    page = warning.page
    fields = {
        "title": titled_link(page.title, page.url),
        "date": words.on(warning.date) if warning.date else "",
        "ago": words.since(warning.date, today) if warning.date else "",
        "successor": successor_link(page),
        "state": escape(shorten(page.retired or "", TITLE_CHARACTERS)),
    }
    return " ".join(["⚠️", _template(warning, words).format(**fields), *owner_sentence(page, words)])


def owner_sentence(page: Page, words: Messages) -> list[str]:
    """ "Owner: People team.", as one sentence or none."""
    return [words.owner.format(owner=escape(shorten(page.owner, TITLE_CHARACTERS)))] if page.owner else []


def format_page(page: Page, words: Messages) -> str:
    """A page with its date: "*Leave policy* (reviewed 3 May 2026)"."""
    return f"*{titled_link(page.title, page.url)}* ({dated(page, words) or words.undated})"


def _template(warning: AnswerWarning, words: Messages) -> str:
    if warning.kind == "superseded":
        if warning.page.told_successor is None:
            return words.superseded_alone
        return words.older_version if warning.reason == "older_version" else words.superseded
    if warning.reason == "retired":
        return words.retired
    if warning.date is None:
        return words.undated_warning
    reasons = {
        "expired": words.expired,
        "review_overdue": words.review_overdue,
        "old_review": words.old_review,
    }
    return reasons.get(warning.reason, words.old_edit)


def _doubt(citation: Citation, warning: AnswerWarning | None, words: Messages) -> str:
    if citation.freshness == "undated":
        return words.undated
    if warning is not None and warning.date is not None and warning.reason in ("review_overdue", "expired"):
        template = words.overdue_since if warning.reason == "review_overdue" else words.expired_on
        return template.format(date=words.on(warning.date))
    if warning is not None and warning.page.successor is not None:
        template = words.later_version if warning.reason == "older_version" else words.replaced_by
        return template.format(successor=successor_link(warning.page))
    return {"outdated": words.outdated, "superseded": words.replaced}.get(citation.freshness, "")


def dated(page: Page, words: Messages) -> str:
    """When it was last reviewed, else edited: "reviewed 3 May 2024"; "" where the page tells neither."""
    dates = page.dates
    if dates.reviewed:
        return words.reviewed.format(date=words.on(dates.reviewed))
    return words.edited.format(date=words.on(dates.edited)) if dates.edited else ""


def successor_link(page: Page) -> str:
    """The page that has taken this one's place, as far as its reader may know of it; else ""."""
    return "" if page.successor is None else titled_link(page.successor.title, page.successor.url)
