"""Tells which of two pages is the later version, where the pages say so. Pure.

A page says so by naming what it replaces, or by calling itself a version ("v2", "version 2.1", "2026 edition"). Pages
that merely look alike are never versions of one another: two of them are only where their names are the same but for
the version, and both say which one they are.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from kb.addresses import split_address
from kb.models import Page
from kb.text.language_files import sections

_NOTICES = sections("notices")
_WORD = rf"(?:{'|'.join(part for words in _NOTICES for part in words.get('version', ()))})"
_EDITION = rf"(?:{'|'.join(part for words in _NOTICES for part in words.get('edition', ()))})"
_NUMBER = r"(?P<number>\d{1,4}(?:\.\d{1,4}){0,3})"
_NOT_MORE = r"(?![\w.]*\w)"
VERSION = re.compile(
    rf"(?<![\w.])(?:v\.?{_NUMBER}|{_WORD}[\s:]+v?{_NUMBER.replace('number', 'named')}"
    rf"|(?P<year>\d{{4}})\s+{_EDITION}|{_EDITION}[\s:]+(?P<edition>\d{{1,4}})){_NOT_MORE}",
    re.IGNORECASE,
)
"""A version as pages write it: "v2", "Version 2.1", "versie 3", "2026 edition", "Ausgabe 2026"."""
_BARE = re.compile(r"[vV]?(\d{1,4}(?:\.\d{1,4}){0,3})")


def version_in(text: str) -> str | None:
    """Returns the one version that a line names; None where it names none, or several."""
    found = {next(filter(None, match.groups())) for match in VERSION.finditer(text)}
    return found.pop() if len(found) == 1 else None


def version_of_field(written: str) -> str | None:
    """Returns the version in a front-matter field: "2", "v2", "2026 edition"."""
    bare = _BARE.fullmatch(written.strip())
    return bare[1] if bare else version_in(written)


def series_of(page: Page) -> str | None:
    """Returns the key that the versions of one page share: source, language and name without the version.

    None for a page that does not say which version it is.
    """
    if page.version is None:
        return None
    name = VERSION.sub(" ", page.title)
    words = re.findall(r"\w+", name.casefold())
    if words and words[-1] == page.version:  # "Expenses 2026", whose first line says "2026 edition"
        words.pop()
    return f"{page.source}|{page.language}|{' '.join(words)}" if words else None


def is_later(page: Page, other: Page) -> bool:
    """Whether `page` is a later version of the same page as `other`. A year and a count cannot be compared."""
    if page.version is None or other.version is None or series_of(page) != series_of(other):
        return False
    mine, theirs = _parts(page.version), _parts(other.version)
    return _is_year(mine) == _is_year(theirs) and mine > theirs


def names_of(page: Page) -> tuple[str, ...]:
    """Returns the names by which other pages may refer to this one, as `as_name` compares them."""
    return tuple(
        dict.fromkeys(name for called in (page.title, page.path, page.url) if (name := as_name(called)))
    )


def as_name(written: str) -> str:
    """Returns a title, path or address in the form in which names are compared."""
    parts = split_address(written)
    address = unquote(f"{parts.netloc}{parts.path}") if parts.scheme in {"http", "https"} else written
    return " ".join(address.split()).strip(" .\"'“”„*_`/").casefold()


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _is_year(parts: tuple[int, ...]) -> bool:
    return 1900 <= parts[0] <= 2200
