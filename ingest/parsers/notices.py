"""Reads what a page's text says about its version, the pages that it replaces, and the page that replaced it.

Only lines at the head of a page that speak of the page itself count: "Version 2.1", "2026 edition", "Replaces: Travel
expenses 2024", "This page has been replaced by [Leave](leave.md)"; and a section "Status" as decision records have it:
"Superseded by [ADR 19](0019-go.md)". The words are `[notices]` of the language files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingest.page import Section
from kb.pages.versions import VERSION, version_in
from kb.text.language_files import sections

HEAD_BLOCKS = 4
"""Blocks at the top of a page that may hold a notice; one further down speaks of something else."""
_HEAD, _LONGEST = 20_000, 2_000
"""Characters that are read of a block and of a line: a notice is short, however long a page's first line is."""
_LAST_BLOCKS = 1
"""Blocks at the foot of a page that may hold one ("Version 2.1, replaces ...")."""
_VERSION_WORDS = 14
"""Maximum words of a version line: a longer sentence is about something that has a version."""


def _any(name: str) -> str:
    return "|".join(part for texts in sections("notices") for part in texts.get(name, ()))


_THIS = rf"(?:{_any('this')})\s+(?:\w+\s+)?(?:{_any('pages')})"
_REPLACES = re.compile(
    rf"^(?:(?:{_any('replaces')})\s*:\s*|{_THIS}\s+(?:(?:{_any('wholly')})\s+)?(?:{_any('replaces')})\s+)(?P<named>.+)",
    re.IGNORECASE,
)
_REPLACED = re.compile(
    rf"^(?:(?:{_any('replaced_by')})\s*:?\s+|{_THIS}\s+(?:{_any('was_replaced')})\s+)(?P<named>.+)",
    re.IGNORECASE,
)
_STATUS_REPLACED = re.compile(rf"^\W*(?:{_any('status_replaced')})\s+(?P<named>[^\[]*\[.+)", re.IGNORECASE)
_STATUS_REPLACES = re.compile(rf"^\W*(?:{_any('status_replaces')})\s+(?P<named>[^\[]*\[.+)", re.IGNORECASE)
"""Decision records name the other by a link; the oldest tool for them spells it "superceded"."""
_STATUS_WITHIN = 3
"""Sections at the top of which one called "Status" speaks of the page."""
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]*)[^)]*\)")
_QUOTED = re.compile(r"[\"“„«*_`]([^\"“”„«»*_`]{3,})[\"”“»*_`]")
_MARKS = re.compile(r"^[\s>*_#-]+|(?<![\s*_])[\s*_]+$")
_OWN_VERSION = re.compile(
    rf"^(?:{_THIS}\s+(?:{_any('copula')})\s+|(?:{_any('this_is')})\s+)?(?:(?:{_any('article')})\s+)?(?:{VERSION.pattern})",
    re.IGNORECASE,
)
_TITLE_VERSION = re.compile(rf"(?:[(\[]|[,:;–—-]\s+)\s*(?:{VERSION.pattern})\s*[)\]]?$", re.IGNORECASE)
_NAME_END = re.compile(rf"[.;!?](?:\s|$)|\s(?:{_any('name_ends')})\s")
_ARTICLE = re.compile(rf"^(?:{_any('articles')})\s+", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Notices:
    """A page's notices. `replaces`, `superseded_by`: paths or addresses that the page links, and the names it uses."""

    version: str | None = None
    replaces: tuple[str, ...] = ()
    superseded_by: str | None = None


def read_notices(title: str, sections: Sequence[Section]) -> Notices:
    version: str | None = version_in(title) if _TITLE_VERSION.search(title) else None
    replaces: list[str] = []
    superseded_by: str | None = None
    for line in _lines(sections):
        if found := _REPLACES.match(line):
            replaces.extend(_named(found["named"]))
        elif found := _REPLACED.match(line):
            superseded_by = superseded_by or next(iter(_named(found["named"])), None)
        elif version is None and _OWN_VERSION.match(line) and len(line.split()) <= _VERSION_WORDS:
            version = version_in(line)
    for line in _status(sections):
        if found := _STATUS_REPLACED.match(line):
            superseded_by = superseded_by or next(iter(_named(found["named"])), None)
        elif found := _STATUS_REPLACES.match(line):
            replaces.extend(_named(found["named"]))
    return Notices(version=version, replaces=tuple(dict.fromkeys(replaces)), superseded_by=superseded_by)


def _lines(sections: Sequence[Section]) -> Iterator[str]:
    """Yields lines and sentences at the head and the foot of a page, without the marks around them."""
    blocks = [block for block in sections[0].blocks[:HEAD_BLOCKS] if block.kind in ("prose", "list")]
    if len(sections) > 1 or len(sections[0].blocks) > HEAD_BLOCKS:
        blocks += [block for block in sections[-1].blocks[-_LAST_BLOCKS:] if block.kind == "prose"]
    for block in blocks:
        for line in block.text[:_HEAD].splitlines():
            for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z*_\[])|(?<!\s)\s+[·|]\s+", line[:_LONGEST]):
                yield re.sub(r"\*\*|__", "", _MARKS.sub("", sentence))


def _status(sections: Sequence[Section]) -> Iterator[str]:
    for section in sections[:_STATUS_WITHIN]:
        if section.path and section.path[-1].casefold() == "status":
            for block in section.blocks:
                yield from (line[:_LONGEST] for line in block.text[:_HEAD].splitlines())


def _named(text: str) -> list[str]:
    """Returns what a notice names: its links' targets and texts, its quotations, else the words up to the next stop."""
    if links := _LINK.findall(text):
        return [part for label, target in links for part in (target, label) if part]
    if quoted := _QUOTED.findall(text):
        return quoted
    end = _NAME_END.search(text)
    bare = _ARTICLE.sub("", text)
    cut = text[: end.start()] if end else text
    names = [text.strip(" .;"), cut.strip(" .;"), bare.strip(" .;")]
    if end and bare != text:
        names.append(re.sub(r"^\S+\s+", "", cut).strip(" .;"))
    return [name for name in dict.fromkeys(names) if len(name) > 2]
