"""Limits within front matter that are no fields of it: in a comment, in
the text of a value, or under a name of the author's own.

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
    """`text`: that of the fields, with its comments.

    Raises:
        PageError: somebody may have meant to limit the page.
    """
    for name in (*_in_comments(text), *_in_values(fields), *_in_pairs(fields)):
        raise closed(
            f"its front matter has `{name.strip()}` in a comment or inside another field, where it "
            f"is not read: write it at the top"
        )
    for name in _unknown(values, set()):
        raise closed(
            f"its front matter has a channel as its `{name}`, which may limit its readers: write `audience`"
        )


def _in_comments(text: str) -> Iterator[str]:
    if "#" in text:
        for comment in _COMMENT.finditer(plainly(text)):
            for found in _SAID.finditer(comment["said"]):
                if closes(found["name"], found["value"]):
                    yield found["name"]
            if _BARE.fullmatch(comment["said"]):
                yield "audience"


def _in_values(fields: Fields) -> Iterator[str]:
    """`frontmatter: "audience: people-leads"`; "title: Audience: engineers" is a title."""
    for one in fields.all:
        for text in one.value if isinstance(one.value, list) else [one.value]:
            if isinstance(text, str) and (":" in text or "=" in text):
                yield from (
                    found["name"]
                    for found in _LINE.finditer(plainly(text))
                    if _is_meant(one, found["name"], found["value"])
                )


def _in_pairs(fields: Fields) -> Iterator[str]:
    """`fields: [[audience, people-leads]]`."""
    for one in fields.all:
        for pair in one.value if isinstance(one.value, list) else ():
            if (
                isinstance(pair, list)
                and len(pair) > 1
                and isinstance(pair[0], str)
                and surely_limits(pair[0])
            ):
                yield pair[0]


def _is_meant(one: Field, name: str, value: str) -> bool:
    name = name.rpartition(". ")[2]
    if one.own and one.key in SECTIONS:
        return names_a_limit(name) and closes(name, value or name)
    is_field = name.islower() and _ONE_WORD.fullmatch(value) is not None and closes(name, value)
    return is_field and surely_limits(name) and not is_word_of_pages(name)


def _are_channels(entry: str) -> bool:
    parts = [part for part in re.split(r"[,;\s<>]+|\|[\w-]+>", entry) if part]
    return bool(parts) and all(_CHANNEL.fullmatch(part) for part in parts)


def _unknown(values: object, seen: set[int]) -> Iterator[str]:
    """Names of fields, on any level, that hold channels; `seen`: YAML's
    aliases can name one mapping a billion times.
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
