"""Words the warnings about pages: which one, since when, why, and whose it is.

Pages that are merely old, or whose review is due, share a line. In a handbook whose reviews are all due, an answer
would otherwise end in as many warnings as it cites pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from itertools import groupby

from bot.messages.catalog import Messages
from bot.rendering.citation_blocks import TITLE_CHARACTERS, dated, titled_link
from bot.rendering.layout import shorten
from bot.rendering.mrkdwn import escape
from kb.answer import Answer, AnswerWarning, Citation
from kb.models import Page

SHARED = {"review_overdue": "due", "old_review": "old", "old_edit": "old"}
"""The reasons of warnings that pages share a line for, and the state that the line tells."""

Named = Callable[[str, str], str]
"""Title and address of a page -> how it is named."""


def warning_lines(
    answer: Answer,
    messages: Messages,
    today: date,
    *,
    shown: Callable[[AnswerWarning], bool] = lambda _: True,
    named: Named = titled_link,
) -> list[str]:
    """Returns a line for each warning that is `shown`, but one for all pages in a state of `SHARED`."""
    cited = {citation.n: citation for citation in answer.citations} | {
        quote.citation.n: quote.citation for quote in answer.quotes
    }
    alike: dict[str, list[AnswerWarning]] = {}
    for warning in filter(shown, answer.warnings):
        alike.setdefault(SHARED.get(warning.reason, f"{warning.reason} {id(warning)}"), []).append(warning)
    return [
        _shared_line(state, several, messages, named)
        if len(several) > 1
        else _line(several[0], cited, messages, today, named)
        for state, several in alike.items()
    ]


def format_page(page: Page, messages: Messages, *, named: Named = titled_link) -> str:
    """Returns a page with its date: "*Leave policy* (reviewed 3 May 2026)"."""
    return f"*{named(page.title, page.url)}* ({dated(page, messages) or messages.undated})"


def _shared_line(state: str, warnings: Sequence[AnswerWarning], messages: Messages, named: Named) -> str:
    """Returns "Due for review: *Leave policy* (1 May 2025), *Travel* (3 June 2025). Owner: People team."."""
    by_owner = groupby(sorted(warnings, key=_owner), key=_owner)
    template = messages.several_due if state == "due" else messages.several_old
    sentences = []
    for owner, owned in by_owner:
        pages = ", ".join(
            f"*{named(warning.page.title, warning.page.url)}* ({messages.on(warning.date)})"
            for warning in owned
            if warning.date is not None
        )
        sentences += [template.format(pages=pages), *_owner_sentence(owner, messages)]
    return " ".join(sentences)


def _line(
    warning: AnswerWarning, cited: Mapping[int, Citation], messages: Messages, today: date, named: Named
) -> str:
    if warning.kind == "conflict":
        pages = [cited[n].chunk.page for n in warning.disputed if n in cited]
        if len(pages) == 2:
            newer, older = (format_page(page, messages, named=named) for page in pages)
            return messages.conflict.format(newer=newer, older=older)
    page = warning.page
    fields = {
        "title": named(page.title, page.url),
        "date": messages.on(warning.date) if warning.date else "",
        "ago": messages.since(warning.date, today) if warning.date else "",
        "successor": named(page.successor.title, page.successor.url) if page.successor else "",
        "state": escape(shorten(page.retired or "", TITLE_CHARACTERS)),
    }
    return " ".join(
        [_template(warning, messages).format(**fields), *_owner_sentence(_owner(warning), messages)]
    )


def _owner(warning: AnswerWarning) -> str:
    return warning.page.owner or ""


def _owner_sentence(owner: str, messages: Messages) -> list[str]:
    """Returns "Owner: People team.", as one sentence or none."""
    return [messages.owner.format(owner=escape(shorten(owner, TITLE_CHARACTERS)))] if owner else []


def _template(warning: AnswerWarning, messages: Messages) -> str:
    if warning.kind == "superseded":
        if warning.page.successor_title is None:
            return messages.superseded_alone
        return messages.older_version if warning.reason == "older_version" else messages.superseded
    if warning.reason == "retired":
        return messages.retired
    if warning.date is None:
        return messages.undated_warning
    reasons = {
        "expired": messages.expired,
        "review_overdue": messages.review_overdue,
        "old_review": messages.old_review,
    }
    return reasons.get(warning.reason, messages.old_edit)
