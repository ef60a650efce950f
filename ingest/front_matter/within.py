"""Finds limits within front matter that are no fields of it: in a comment, in a value, or under an unknown name.

A comment that names readers was a field, or was meant as one. A channel under a name that we do
not know ("chanels: #people-leads") may be where to ask, so names that hold such are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ingest.front_matter.fields import SECTIONS, Field, Fields, key_of
from ingest.front_matter.limits import closed, closes, is_word_of_pages, names_a_limit, surely_limits
from ingest.front_matter.lookalikes import plainly

_COMMENT = re.compile(r"(?:^|[ \t])#+[ \t]*(?P<said>[^\n]*)", re.MULTILINE)
_SAID = re.compile(
    r"(?:^|[,;#{(])[^\w\n]{0,20}(?P<name>[^\W\d][\w .-]{0,40}?)[^\w\n:=]{0,4}[:=]+[ \t]*(?P<value>[^\n]{0,200})"
)
_LINE = re.compile(
    r"(?:^|[,;(\[.])[^\w\n]{0,20}(?P<name>[^\W\d][\w .-]{0,40}?)[^\w\n:=]{0,4}[:=]+[ \t]*(?P<value>[^\n]{0,200})",
    re.MULTILINE,
)
_BARE = re.compile(r"audiences?[ \t]+(?!everyone|all\b)[#@]?[\w-]+[ \t]*", re.IGNORECASE)
_ONE_WORD = re.compile(r"[^\w\n]*[\w.-]+[^\w\n]*")
_CHANNEL = re.compile(
    r"#(?![0-9a-fA-F]{3,4}$|[0-9a-fA-F]{6}$|[0-9a-fA-F]{8}$)(?=[\w-]*[^\W\d_])[\w-]{2,80}|#?[CG](?=[A-Z]*\d)[A-Z0-9]{8,10}"
)
_HOLDS_CHANNELS = re.compile(
    r"tags?$|keywords?|labels?|categor|topics?$|colou?r|background|theme|icon|ids?$|anchor|href|links?$|ur[il]s?$|slack|contact|owner|team|author|maintain"
    r"|support|help|escalat|hashtag|redirect|permalink|alias|section|fragment|toc|title|name$|description|summary|issue|ticket|related|see|source"
    r"|(?<!private)(?<!restricted)(?<!allowed)(?<!only)channels?$"
)
"""Names of what may be written with the same sign, or is where to ask."""


def refuse_limits_within(fields: Fields, values: Mapping[str, object], text: str) -> None:
    """Closes a page that somebody may have meant to limit.

    Args:
        fields: those that the page declares.
        values: the same as they were parsed, with names of the author's own.
        text: that of the fields, with its comments.

    Raises:
        PageError: it is closed.
    """
    for name in (*_in_comments(text), *_in_values(fields)):
        raise closed(
            f"its front matter has `{name.strip()}` in a comment or inside another field, where it "
            f"is not read: write it at the top"
        )
    for name in _unknown(values, set()):
        raise closed(
            f"its front matter has a channel as its `{name}`, which may limit its readers: write `audience`"
        )


def _in_comments(text: str) -> Iterator[str]:
    for comment in _COMMENT.finditer(plainly(text)) if "#" in text else ():
        for found in _SAID.finditer(comment["said"]):
            if closes(found["name"], found["value"]):
                yield found["name"]
        if _BARE.fullmatch(comment["said"]):
            yield "audience"


def _in_values(fields: Fields) -> Iterator[str]:
    """Yields names in texts (`frontmatter: "audience: people-leads"`) and pairs (`fields: [[audience, people-leads]]`).

    "title: Audience: engineers" is a title.
    """
    for field in fields.all:
        for entry in field.value if isinstance(field.value, list) else [field.value]:
            match entry:
                case str() if ":" in entry or "=" in entry:
                    for found in _LINE.finditer(plainly(entry)):
                        if _is_meant(field, found["name"], found["value"]):
                            yield found["name"]
                case [str(name), _, *_] if isinstance(field.value, list) and surely_limits(name):
                    yield name


def _is_meant(field: Field, name: str, value: str) -> bool:
    name = name.rpartition(". ")[2]
    if field.own and field.key in SECTIONS:
        return names_a_limit(name) and closes(name, value or name)
    is_field = name.islower() and _ONE_WORD.fullmatch(value) is not None and closes(name, value)
    return is_field and surely_limits(name) and not is_word_of_pages(name)


def _are_channels(entry: str) -> bool:
    parts = [part for part in re.split(r"[,;\s<>]+|\|[\w-]+>", entry) if part]
    return bool(parts) and all(_CHANNEL.fullmatch(part) for part in parts)


def _unknown(values: object, seen: set[int]) -> Iterator[str]:
    """Yields names of fields, on any level, that hold channels.

    `seen`: ids of values; YAML's aliases can name one mapping a billion times.
    """
    if id(values) in seen:
        return
    seen.add(id(values))
    if isinstance(values, Mapping):
        for name, value in values.items():
            if _HOLDS_CHANNELS.search(key_of(str(name))):
                continue
            entries = value if isinstance(value, list) else [value]
            if any(isinstance(entry, str) and _are_channels(entry) for entry in entries):
                yield str(name)
            yield from _unknown(value, seen)
    elif isinstance(values, list):
        for entry in values:
            yield from _unknown(entry, seen)
