"""What the author of a page says about it, in YAML (`---`) or TOML (`+++`) at its top.

A field that cannot be read becomes None and a note, and the page is indexed all the same. One exception: a limit on
who may read the page. Where that cannot be understood, or stands in what was meant to be front matter and is none, the
page fails, closed, rather than become public.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from html import unescape
from typing import Any

import yaml

from ingest.dates import UnreadableDateError, parse_date, parse_period
from ingest.errors import PageError
from kb.models import EVERYONE, PageDates
from kb.versions import version_of_field

_BLOCK = re.compile(
    r"\A\s*^(?P<fence>---|\+\+\+)[ \t]*\n(?P<fields>.*?)^(?:(?P=fence)|\.\.\.)[ \t]*(?:\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_MEANT = re.compile(
    r"\A(?:\s|<!--(?:(?!-->).)*-->)*^[ \t]*(?:-{3,}|\+{3,})[ \t]*\n(?P<fields>(?:[^\n]*\S[^\n]*(?:\n|\Z))+)",
    re.DOTALL | re.MULTILINE,
)
"""Lines under a fence that is indented, too long, below a comment, or never closed."""
_LIMIT = re.compile(r"^[ \t]*[\"']?(audience|channels)[\"']?[ \t]*[:=]", re.MULTILINE | re.IGNORECASE)
_LINE = re.compile(r"^([A-Za-z][\w-]*)[ \t]*[:=][ \t]*(\S.*)$", re.MULTILINE)
_CHANNEL_ID = re.compile(r"[CG][A-Z0-9]{5,}")
_CHANNEL_NAME = re.compile(r"#?[\w-]{1,80}")
_GROUP_ID = re.compile(r"S(?=[A-Z]*\d)[A-Z0-9]{5,}")
_GROUP_HANDLE = re.compile(r"@[\w.-]{1,80}")
_OPEN = {EVERYONE, "everyone", "all", "public"}
_YAML_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Every scalar stays a string: `lang: no` is Norwegian, and an impossible date is no exception."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FrontMatter:
    """`audience`: channel and user group marks of a limited page; None where the author sets no limit.

    `dates.edited` is an explicit "updated" date; `written` is a mere `date`, to be used where nothing better is known.
    """

    title: str | None = None
    language: str | None = None
    owner: str | None = None
    superseded_by: str | None = None
    replaces: tuple[str, ...] = ()
    version: str | None = None
    audience: tuple[str, ...] | None = None
    dates: PageDates = field(default_factory=PageDates)
    written: date | None = None
    notes: tuple[str, ...] = ()


def split_front_matter(text: str) -> tuple[FrontMatter, str]:
    """The front matter, empty where there is none, and the text below it.

    Raises:
        PageError: the page may be limited to some readers, but to whom cannot be understood.
    """
    block = _BLOCK.match(text)
    if block is None:
        _check_no_limit_is_meant(text)
        return FrontMatter(), text
    fields, notes = _fields(block["fields"], toml=block["fence"] == "+++")
    if fields is None:  # a page that happens to start with a ruler
        return FrontMatter(), text
    return _Reader(fields, notes).front_matter(), text[block.end() :]


def mentions_a_limit(content: bytes) -> bool:
    """Whether undecodable bytes seem to limit their readers: then what was public before may no longer be."""
    head = content[:10_000].replace(b"\0", b"")  # every second byte of UTF-16
    return _LIMIT.search(head.decode("ascii", errors="replace")) is not None


def _check_no_limit_is_meant(text: str) -> None:
    meant = _MEANT.match(text)
    if meant is not None and _LIMIT.search(meant["fields"]):
        raise PageError(
            "it limits who may read it in front matter that is none: begin and end it with a line of three dashes, "
            "and let nothing stand above it",
            withdraw=True,
        )


def _fields(block: str, *, toml: bool) -> tuple[Mapping[str, Any] | None, list[str]]:
    """The fields with lower-case names; None where the block is prose."""
    try:
        fields = tomllib.loads(block) if toml else yaml.load(block, Loader=_YAML_LOADER)
    except (tomllib.TOMLDecodeError, yaml.YAMLError, RecursionError) as error:
        if _LIMIT.search(block):
            raise PageError(
                "its front matter is broken and limits who may read the page: mend it", withdraw=True
            ) from error
        return _salvaged(block), [f"its front matter is not valid {'TOML' if toml else 'YAML'}"]
    if isinstance(fields, dict):
        return {str(name).lower(): value for name, value in fields.items()}, []
    return (None if fields else {}), []


def _salvaged(block: str) -> Mapping[str, str] | None:
    """The one-line fields of a broken block: the usual fault is a colon in an unquoted title."""
    lines = [line for line in block.splitlines() if line.strip()]
    fields = {name.lower(): value.strip().strip("\"'") for name, value in _LINE.findall(block)}
    return fields if 2 * len(fields) >= len(lines) else None


class _Reader:
    """Reads fields one by one and notes those that it cannot understand."""

    def __init__(self, fields: Mapping[str, Any], notes: list[str]) -> None:
        self._fields = fields
        self._notes = notes

    def front_matter(self) -> FrontMatter:
        found = FrontMatter(
            title=self._title(),
            language=self._language(),
            owner=self._text("owner", "owner_team", "owner_slack", "team"),
            superseded_by=self._text("superseded_by", "replaced_by"),
            replaces=self._texts("replaces", "supersedes"),
            version=self._version(),
            audience=self._audience(),
            dates=self._dates(),
            written=self._date("date"),
        )
        return replace(found, notes=tuple(self._notes))

    def _title(self) -> str | None:
        """Site generators put it into HTML as it is, so it may hold entities ("C&oacute;mo")."""
        written = self._text("title")
        return written and unescape(written)

    def _dates(self) -> PageDates:
        reviewed = self._date("last_reviewed_on", "last_reviewed", "reviewed")
        return PageDates(
            edited=self._date("last_updated", "updated", "lastmod", "last_modified"),
            reviewed=reviewed,
            review_due=self._due(reviewed) or self._date("review_by"),
            expires=self._date("expires", "expiry", "expirydate"),
        )

    def _due(self, reviewed: date | None) -> date | None:
        period = self._text("review_in")
        if period is None or reviewed is None:
            return None
        try:
            return reviewed + parse_period(period)
        except (UnreadableDateError, ValueError, OverflowError):
            self._notes.append(f"review_in {period!r} is no period like '6 months'")
            return None

    def _date(self, *names: str) -> date | None:
        for name in names:
            written = self._text(name)
            if written is None:
                continue
            try:
                return parse_date(written)
            except UnreadableDateError:
                self._notes.append(f"{name} {written!r} is no date like 2026-08-22")
        return None

    def _language(self) -> str | None:
        written = self._text("language", "lang")
        if written is None:
            return None
        code = re.fullmatch(r"([a-z]{2,3})(?:[-_]\w+)*", written.lower())
        if code is None:
            self._notes.append(f"language {written!r} is no code like 'en'")
            return None
        return code[1]

    def _audience(self) -> tuple[str, ...] | None:
        limits = [self._fields[name] for name in ("audience", "channels") if name in self._fields]
        if not limits:
            return None
        marks = [_mark(entry) for limit in limits for entry in _entries(limit)]
        if not marks:
            raise PageError("its audience is empty: name channels, or 'everyone'", withdraw=True)
        restricting = {mark for mark in marks if mark != EVERYONE}
        if restricting and len(restricting) < len(marks) and EVERYONE in marks:
            raise PageError(
                "its audience names channels and 'everyone': write one or the other", withdraw=True
            )
        return tuple(sorted(restricting)) or None

    def _version(self) -> str | None:
        written = self._text("version", "edition", "revision")
        return version_of_field(written) if written else None

    def _texts(self, *names: str) -> tuple[str, ...]:
        """A field with one entry or a list of them."""
        given = [self._fields[name] for name in names if name in self._fields]
        entries = [entry for value in given for entry in (value if isinstance(value, list) else [value])]
        return tuple(
            text for entry in entries if not isinstance(entry, dict | list) and (text := str(entry).strip())
        )

    def _text(self, *names: str) -> str | None:
        for name in names:
            value = self._fields.get(name)
            if isinstance(value, list):
                value = ", ".join(str(entry) for entry in value if not isinstance(entry, dict | list))
            if value is not None and not isinstance(value, dict):
                text = " ".join(str(value).split())
                if text:
                    return text
        return None


def _entries(limit: object) -> Iterable[str]:
    if isinstance(limit, str):
        return [entry.strip() for entry in limit.split(",") if entry.strip()]
    if isinstance(limit, list) and all(isinstance(entry, str) for entry in limit):
        return [entry.strip() for entry in limit if entry.strip()]
    raise PageError("its audience is no list: write for example ['#people-leads', '@finance']", withdraw=True)


def _mark(entry: str) -> str:
    if entry.lower() in _OPEN:
        return EVERYONE
    if _CHANNEL_ID.fullmatch(entry) or _GROUP_ID.fullmatch(entry):
        return entry
    if _GROUP_HANDLE.fullmatch(entry):
        return entry.lower()
    if _CHANNEL_NAME.fullmatch(entry):
        return f"#{entry.removeprefix('#').lower()}"
    raise PageError(
        f"its audience {entry!r} is no channel or user group: write #people-leads, C0123456 or @finance",
        withdraw=True,
    )
