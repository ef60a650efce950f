"""Names a page's place among the others: its folders, and its file's name where that says more. Pure.

Two offices each have a page "Parking", two versions a page "Install": the title
does not tell them apart, their place does. A path is written for machines, so what
only serves them is left out: numbers that order, endings, `index`, `docs`, ids.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote

MAX_CHARACTERS = 60
SEPARATOR = " › "

_GENERIC = frozenset([
    "article", "articles", "asset", "assets", "content", "contents", "default", "doc", "docs", "documentation",
    "en", "en-gb", "en-us", "file", "files", "folder", "handbook", "home", "html", "include", "includes",
    "index", "introduction", "kb", "knowledge", "knowledgebase", "main", "manual", "master", "md", "overview",
    "page", "pages", "partial", "partials", "post", "posts", "public", "readme", "root", "site", "source",
    "sources", "space", "spaces", "src", "static", "tree", "trunk", "web", "website", "wiki", "www",
])  # fmt: skip
"""Names that are in many paths and tell no page from another."""
_ENDING = re.compile(r"(?i)\.(?!v\d)[a-z]{1,6}\d?$")
_ORDER = re.compile(r"^(?:0\d{1,5}|\d{1,3})[-_. ]+(?=\D)")
"""A number that only puts a file in its place: "040-policies"; never a year."""
_WORD = re.compile(r"\d{4}-\d\d(?:-\d\d)?(?!\d)|[vV]?\d+(?:\.\d+)+|[^\W_]+(?:['’][^\W_]+)*")
_YEAR_OR_VERSION = re.compile(r"(?i)(?:19|20)\d\d(?:-\d\d){0,2}|v\d+(?:\.\d+)*|\d+(?:\.\d+)+")
_ID = re.compile(
    r"(?i)(?!(?:19|20)\d\d$)\d+(?:\.\d+)?|[0-9a-f]{12,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
_SLACK_ID = re.compile(r"[CDG][A-Z0-9]{8,}")
_HOST = re.compile(r"(?i)[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}(?::\d+)?")
_LENGTH_OF_A_STEM = 4


def place_of(path: str, title: str, language: str = "") -> str:
    """Returns the place in at most `MAX_CHARACTERS`, outermost first; "" where the path adds nothing to the title."""
    return fitted(parts_of(path, title, language))


def parts_of(path: str, title: str, language: str = "") -> tuple[str, ...]:
    """Returns the parts of the place, outermost first, not shortened."""
    *folders, file = unquote(path.partition("?")[0]).strip("/").split("/")
    if folders and _HOST.fullmatch(folders[0]):
        del folders[0]  # a website's; its pages all have it
    parts: list[str] = []
    for raw, is_file in (*((folder, False) for folder in folders), (file, True)):
        part = _readable(_without_endings(raw) if is_file else raw, title, language)
        if part and part.casefold() not in {kept.casefold() for kept in parts}:
            parts.append(part)
    return tuple(parts)


def raw_parts_of(path: str) -> tuple[str, ...]:
    """Returns the names of the folders and the file, outermost first: for pages that nothing else tells apart."""
    return tuple(part for part in unquote(path.partition("?")[0]).split("/") if part)


def fitted(parts: Sequence[str], room: int = MAX_CHARACTERS) -> str:
    """Joins as many parts as fit: years and versions first, then from the innermost outwards."""
    parts = [_cut(part, room) for part in parts]
    marked = [index for index, part in enumerate(parts) if _YEAR_OR_VERSION.search(part)]
    kept: set[int] = set()
    for index in (*reversed(marked), *reversed(range(len(parts)))):
        if len(SEPARATOR.join(parts[place] for place in sorted(kept | {index}))) <= room:
            kept.add(index)
        elif index not in marked:
            break
    return SEPARATOR.join(parts[index] for index in sorted(kept))


def _without_endings(file: str) -> str:
    """Returns a file's name without its endings: "index.html.md.erb" is "index"."""
    while (shorter := _ENDING.sub("", file)) != file and shorter:
        file = shorter
    return file


def _readable(raw: str, title: str, language: str) -> str:
    """Returns one part in words; "" where it is generic, an id, or said by the title."""
    if _ID.fullmatch(raw) or _SLACK_ID.fullmatch(raw):
        return ""
    name = _ORDER.sub("", raw)
    words = _WORD.findall(name)
    if name.strip("_.").casefold() in _GENERIC or name.casefold() == language or not words:
        return ""
    titled = _WORD.findall(title.casefold())
    new = [word for word in words if not _is_said(word.casefold(), titled)]
    if all(len(word) < 3 and not _YEAR_OR_VERSION.fullmatch(word) and len(words) > 1 for word in new):
        return ""  # "how to", "of": or nothing at all
    return " ".join(new if all(_YEAR_OR_VERSION.fullmatch(word) for word in new) else words)


def _is_said(word: str, titled: Sequence[str]) -> bool:
    stem = word[: max(_LENGTH_OF_A_STEM, len(word) - 2)]
    if word in titled or len(word) <= _LENGTH_OF_A_STEM:
        return word in titled
    return word in "".join(titled) or any(titled_word.startswith(stem) for titled_word in titled)


def _cut(part: str, room: int) -> str:
    if len(part) <= room:
        return part
    return part[: room - 1].rsplit(" ", 1)[0].rstrip() + "…"
