"""What a page says of itself above its text. It imports little: the process that cuts pages starts with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from kb.models import PageDates


@dataclass(frozen=True, kw_only=True, slots=True)
class FrontMatter:
    """`audience`: channel and user group marks of a limited page; None where the author sets no limit. `for_everyone`:
    the author says so, so that nothing else in the page can be a limit that was missed.

    `dates.edited` is an explicit "updated" date; `written` is a mere `date`, to be used where nothing better is known.
    `retired`: the author's word for a page that is no longer kept up ("deprecated").
    """

    title: str | None = None
    language: str | None = None
    owner: str | None = None
    superseded_by: str | None = None
    retired: str | None = None
    replaces: tuple[str, ...] = ()
    version: str | None = None
    audience: tuple[str, ...] | None = None
    for_everyone: bool = False
    dates: PageDates = field(default_factory=PageDates)
    written: date | None = None
    notes: tuple[str, ...] = ()
