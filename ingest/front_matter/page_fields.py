"""What the author of a page says about it, in front matter of any form (see `blocks`).

A field that cannot be read becomes None and a note, and the page is indexed all the same. Two exceptions. A
limit on who may read the page: where that cannot be understood, or stands in what was meant to be front
matter and is none, the page fails, closed, rather than become public (`limits`). And a page that is not
in force: a draft (`states`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from html import unescape

from ingest.errors import PageError
from ingest.front_matter.blocks import Block, find_block, find_head, keys_in, lines_of
from ingest.front_matter.dates import AmbiguousDateError, UnreadableDateError, parse_date, parse_period
from ingest.front_matter.fields import Fields, key_of, text_of, truth_of
from ingest.front_matter.front_matter import FrontMatter
from ingest.front_matter.language_words import field_names, words
from ingest.front_matter.limit_words import is_graded
from ingest.front_matter.limits import (
    audience_of,
    is_for_everyone,
    mentions_a_limit,
    names_a_limit,
    names_readers,
    surely_limits,
)  # fmt: skip
from ingest.front_matter.states import check_published, replaced_by, retired_as
from ingest.front_matter.unread import refuse_unread_limits
from ingest.front_matter.within import refuse_limits_within
from kb.models import PageDates
from kb.pages.versions import version_of_field

__all__ = ["FrontMatter", "may_have_front_matter", "mentions_a_limit", "split_front_matter"]

_EDITED = (
    "last_updated", "updated", "lastmod", "last_modified", "modified", "last_modified_at", "updated_at", "date_modified",
    "modified_date", "updated_date", "last_updated_on", "last_edited", "last_edited_time", "last_update.date", "last_update",
    "date.updated", "date.modified",
    *field_names("edited_fields"),
)  # fmt: skip
_REVIEWED = (
    "last_reviewed_on", "last_reviewed", "reviewed", "reviewed_on", "last_reviewed_at", "last_review", "date_reviewed", "last_verified",
    "verified_on",
    *field_names("reviewed_fields"),
)  # fmt: skip
_REVIEW_BY = (
    "review_by", "review_due", "review_before", "next_review", "next_review_on", "next_review_date", "review_due_date",
    *field_names("review_by_fields"),
)  # fmt: skip
_REVIEW_IN = (
    "review_in",
    "review_every",
    "review_interval",
    "review_period",
    "review_cycle",
    "review_frequency",
)
_EXPIRES = (
    "expires", "expiry", "expiry_date", "expires_on", "expires_at", "expiration", "expiration_date", "expire_date", "valid_until",
    "valid_through", "valid_to",
    *field_names("expires_fields"),
)  # fmt: skip
_WRITTEN = (
    "date", "created", "created_at", "created_on", "date_created", "creation_date", "date.created", "published", "published_at", "published_on",
    "pub_date", "publish_date",
    *field_names("written_fields"),
)  # fmt: skip
_OTHERS = words("""
    published unlisted deprecated archived description categories title status draft author authors owner tags slug layout
    lang version replaces superseded_by
    """)
_KNOWN = frozenset(
    key_of(name) for name in (*_EDITED, *_REVIEWED, *_REVIEW_BY, *_REVIEW_IN, *_EXPIRES, *_WRITTEN, *_OTHERS)
)
"""One of these has to be among lines that have no fence to be fields; others are words before a colon."""
_MAY_BEGIN = re.compile(
    rb"\s*(?:---|\+\+\+|;;;|\{|```|<!--|#\+|# -\*-|:?[A-Za-z\"'][\w \"'-]{0,40}:"
    rb"|[^\n]{1,200}\n(?:[^\n]{1,200}\n)?[=~*^#-]{3,})"  # a title, which may have a rule above as well
)

_COMMENTS = re.compile(r"(?:\s*<!--.*?-->)+[ \t]*\n\s*?(?=(?:---|\+\+\+|;;;|\{\{\{)[ \t\w]*\n)", re.DOTALL)
"""Above a fence, where licences and linters have theirs: `<!-- SPDX-License-Identifier: MIT -->`."""


def split_front_matter(text: str, *, today: date | None = None) -> tuple[FrontMatter, str]:
    """Returns the front matter, empty where there is none, and the text below it.

    `today` decides which pages are published later.

    Raises:
        PageError: the page may be limited to some readers, but to whom cannot be understood; or it is a draft.
    """
    today = today or datetime.now(UTC).date()
    if comments := _COMMENTS.match(text):
        refuse_unread_limits(comments[0])
        return split_front_matter(text[comments.end() :], today=today)
    block = find_block(text)
    if block is not None and (not block.bare or _is_front_matter(block)):
        _check_limits_are_read(block)
        if block.values is not None:
            body = text[block.end :]
            front = _read(block, today)
            limited = front.audience is not None
            if not limited:
                refuse_unread_limits(text[: block.end] or block.fields, fields=False)
            refuse_unread_limits(body, marks=not (limited or front.for_everyone), code=False)
            return front, body
    head = find_head(text)
    front = FrontMatter()
    if head is not None and head.values and _KNOWN & {key_of(name) for name in head.values}:
        front = _of_text(head, today)
    refuse_unread_limits(text, marks=front.audience is None)
    return front, text


def with_fields(front: FrontMatter, fields: Fields) -> FrontMatter:
    """Adds to `front` what fields beside a page's text say of it, where its text says nothing.

    Raises:
        PageError: the page is a draft.
    """
    today = datetime.now(UTC).date()
    check_published(fields, today)
    said = _Reader(fields, [], today).front_matter(None)
    return replace(
        front,
        owner=front.owner or said.owner,
        superseded_by=front.superseded_by or said.superseded_by,
        retired=front.retired or said.retired,
        replaces=front.replaces or said.replaces,
        dates=replace(
            front.dates,
            reviewed=front.dates.reviewed or said.dates.reviewed,
            review_due=front.dates.review_due or said.dates.review_due,
            expires=front.dates.expires or said.dates.expires,
        ),
        notes=(*front.notes, *said.notes),
    )


def may_have_front_matter(content: bytes) -> bool:
    """Tells whether front matter is worth looking for in a file that is no Markdown."""
    marked = content.startswith((b"\xff\xfe", b"\xfe\xff"))  # UTF-16, UTF-32
    return marked or _MAY_BEGIN.match(content.removeprefix(b"\xef\xbb\xbf")) is not None


def _is_front_matter(block: Block) -> bool:
    """Tells whether lines or an object without a fence are fields: prose and examples of JSON look like it."""
    own = [field for field in Fields(block.values or {}).all if field.own]
    keys = {field.key for field in own}
    limited = [field.value for field in own if names_a_limit(field.name)]
    if block.json:
        graded = any(map(is_graded, keys))
        return bool(keys & _KNOWN or limited or graded or any(map(surely_limits, keys_in(block.fields))))
    may_be_heading = len(keys) == 1 and block.end > 0  # a line above a ruler
    return any(map(names_readers, limited)) or (not may_be_heading and bool(keys & _KNOWN))


def _check_limits_are_read(block: Block) -> None:
    if block.broken and any(map(names_a_limit, keys_in(block.fields))):
        raise PageError(
            f"its front matter is broken ({block.broken}) and limits who may read the page: mend it",
            withdraw=True,
        )


def _read(block: Block, today: date) -> FrontMatter:
    notes = [f"its front matter is not valid {block.broken}"] if block.broken else []
    if block.broken:
        check_published(Fields(lines_of(block.fields)), today)
    fields = Fields(block.values or {})
    audience = audience_of(fields, block.twice)
    for_everyone = audience is None and is_for_everyone(fields)
    if audience is None and not for_everyone:
        refuse_limits_within(fields, block.values or {}, block.fields)
    check_published(fields, today)
    return replace(_Reader(fields, notes, today).front_matter(audience), for_everyone=for_everyone)


def _of_text(head: Block, today: date) -> FrontMatter:
    """Reads fields of lines that are text as well: their dates and state, and a limit where it names channels."""
    values = {name: value for name, value in (head.values or {}).items() if key_of(name) != "title"}
    notes = []
    for name in [name for name in values if names_a_limit(name)]:
        if not names_readers(values[name]):
            del values[name]
            if surely_limits(name):
                notes.append(
                    f"its text says {name!r}, which limits nobody: a limit has to stand in front matter"
                )
    front = _read(replace(head, values=values), today)
    return replace(front, notes=(*notes, *front.notes))


class _Reader:
    """Reads fields one by one and notes those that it cannot understand."""

    def __init__(self, fields: Fields, notes: list[str], today: date) -> None:
        self._fields = fields
        self._notes = notes
        self._today = today

    def front_matter(self, audience: tuple[str, ...] | None) -> FrontMatter:
        found = FrontMatter(
            title=self._title(),
            language=self._language(),
            owner=self._fields.text("owner", "owner_team", "owner_slack", "team"),
            superseded_by=self._fields.text("superseded_by", "replaced_by") or replaced_by(self._fields),
            retired=retired_as(self._fields, self._today),
            replaces=self._texts("replaces", "supersedes"),
            version=self._version(),
            audience=audience,
            dates=self._dates(),
            written=self._written(),
        )
        return replace(found, notes=tuple(self._notes))

    def _title(self) -> str | None:
        """Returns the title. Site generators put it into HTML as it is, so it may hold entities ("C&oacute;mo")."""
        written = self._fields.text("title")
        return written and unescape(written)

    def _dates(self) -> PageDates:
        reviewed = self._date(*_REVIEWED)
        return PageDates(
            edited=self._date(*_EDITED),
            reviewed=reviewed,
            review_due=self._due(reviewed) or self._date(*_REVIEW_BY, last=True),
            expires=self._date(*_EXPIRES, last=True),
        )

    def _written(self) -> date | None:
        """Returns the day on which the page was written. A future day does not count: it may be that of an event."""
        day = self._date(*_WRITTEN)
        return day if day is not None and day <= self._today else None

    def _due(self, reviewed: date | None) -> date | None:
        period = self._fields.text(*_REVIEW_IN)
        if period is None or reviewed is None:
            return None
        try:
            return reviewed + parse_period(period)
        except (UnreadableDateError, ValueError, OverflowError):
            self._notes.append(f"review_in {period!r} is no period like '6 months'")
            return None

    def _date(self, *names: str, last: bool = False) -> date | None:
        """Returns the first date among the fields. `last`: what names a month or a quarter holds to its end."""
        for field in self._fields.named(*names):
            written = text_of(field.value)
            # `published: true`, `reviewed: no` are no dates
            if not written or truth_of(written) is not None:
                continue
            try:
                return parse_date(written, last=last)
            except AmbiguousDateError as error:
                first, second = error.readings[0], error.readings[-1]
                self._notes.append(
                    f"{field.name} {written!r} may be {first} or {second}: write it as one of these"
                )
            except UnreadableDateError:
                self._notes.append(f"{field.name} {written!r} is no date like 2026-08-22")
        return None

    def _language(self) -> str | None:
        written = self._fields.text("language", "lang")
        if written is None:
            return None
        code = re.fullmatch(r"([a-z]{2,3})(?:[-_]\w+)*", written.lower())
        if code is None:
            self._notes.append(f"language {written!r} is no code like 'en'")
            return None
        return code[1]

    def _version(self) -> str | None:
        written = self._fields.text("version", "edition", "revision")
        return version_of_field(written) if written else None

    def _texts(self, *names: str) -> tuple[str, ...]:
        """Returns the entries of fields that hold one or a list of them."""
        given = [field.value for field in self._fields.named(*names)]
        entries = [entry for value in given for entry in (value if isinstance(value, list) else [value])]
        return tuple(
            text for entry in entries if not isinstance(entry, Mapping | list) and (text := text_of(entry))
        )
