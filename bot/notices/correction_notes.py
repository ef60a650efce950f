"""Renders the note to a thread whose quoted page has changed, expired or been replaced. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from bot.messages.catalog import Messages
from bot.rendering.citation_blocks import successor_link, titled_link
from bot.rendering.layout import Block, section
from bot.rendering.mrkdwn import to_mrkdwn
from kb.models import Page

What = Literal["replaced", "expired", "changed"]
MOST_PAGES = 3
"""Pages that one note names; more would be a report."""
_ITEM = re.compile(r"^(?:> *)*(?:[-*+•]|\d{1,9}[.)])\s+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """`page` as it is now, `url` as the answer linked it. `wording`: the
    statement (Markdown) that stands there instead; "" where none clearly
    does. `since`: the day from which it does; None where that is not known.
    """

    what: What
    page: Page
    url: str
    wording: str = ""
    since: date | None = None


def note_text(findings: Sequence[Finding], messages: Messages) -> str:
    return "\n".join(_finding_text(finding, messages) for finding in findings[:MOST_PAGES])


def note_blocks(findings: Sequence[Finding], messages: Messages) -> list[Block]:
    return [section(_finding_text(finding, messages)) for finding in findings[:MOST_PAGES]]


def _finding_text(finding: Finding, messages: Messages) -> str:
    page = finding.page
    quoted = f"*{titled_link(page.title, finding.url or page.url)}*"
    match finding.what:
        case "replaced":
            successor = successor_link(page)
            if page.successor_title is None:
                return messages.correction_replaced_alone.format(page=quoted)
            return messages.correction_replaced.format(page=quoted, successor=successor)
        case "expired":
            day = messages.on(page.dates.expires) if page.dates.expires else ""
            return messages.correction_expired.format(page=quoted, date=day)
        case "changed":
            return _changed(finding, quoted, messages)


def _changed(finding: Finding, quoted: str, messages: Messages) -> str:
    if not finding.wording:
        return messages.correction_gone.format(page=quoted)
    head = (
        messages.correction_since.format(page=quoted, date=messages.on(finding.since))
        if finding.since
        else messages.correction_now.format(page=quoted)
    )
    return f"{head}\n> {to_mrkdwn(one_line(finding.wording))}"


def one_line(markdown: str) -> str:
    """Puts a sentence, an item or a row on one line (Markdown)."""
    line = " ".join(markdown.split())
    if line.startswith("|"):
        line = " · ".join(cell.strip() for cell in line.strip("|").split("|") if cell.strip())
    return _ITEM.sub("", line)
