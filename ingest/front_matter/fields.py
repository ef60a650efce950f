"""The fields of front matter by name, however they are spelled and wherever generators let them stand.

`last_reviewed_on`, `Last-Reviewed-On`, `lastReviewedOn` and `last reviewed on` are one name. Zola wants the author's own
fields below `[extra]`, Hugo below `params`; what stands at the top counts before those.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from ingest.front_matter.language_words import folded, listed, words

SECTIONS = words("extra params metadata meta custom properties page frontmatter footnote data") | {""}
"""Keys under which a generator keeps fields of the author's own; the last is YAML's merge key `<<`."""

_JOINTS = re.compile(r"[\W_]+")
_LONGEST = 100
"""Characters of a name whose key is kept: each page has the same ones, and asks for them again and again."""
_PAIR_NAMES = ("key", "name", "field", "property", "itemprop", "attribute")
_PAIR_VALUES = ("value", "values", "content", "val")


@dataclass(frozen=True, slots=True)
class Field:
    """`name` as it was written; `key` in one spelling. `own`: it stands where fields of a page do."""

    name: str
    key: str
    value: object
    own: bool


def key_of(name: str) -> str:
    """Spells a name as a key: "Last-Reviewed_On" -> "lastreviewedon"."""
    return _key_of(name) if len(name) <= _LONGEST else _JOINTS.sub("", folded(name))


@lru_cache(maxsize=4096)
def _key_of(name: str) -> str:
    return _JOINTS.sub("", folded(name))


@lru_cache(maxsize=512)
def _asked(names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Returns the key of each name, and the name inside it. Every page is asked for the same ones, a thousand of them."""
    parts = (name.partition(".") for name in names)
    return tuple((key_of(outer), inner) for outer, _, inner in parts)


class Fields:
    def __init__(self, values: Mapping[str, object]) -> None:
        self.all = tuple(_walk(values, set(), own=True))
        self._own: dict[str, list[Field]] = {}
        for field in self.all:
            if field.own:
                self._own.setdefault(field.key, []).append(field)

    def named(self, *names: str) -> Iterator[Field]:
        """Yields the fields of these names, those of the first name first. "date.updated": `updated` inside `date`."""
        for key, inner in _asked(names):
            for field in self._own.get(key, ()):
                if not inner:
                    yield field
                elif isinstance(field.value, Mapping):
                    yield from Fields(field.value).named(inner)

    def text(self, *names: str) -> str | None:
        """Returns the first of the fields that says anything; a list with commas."""
        return next((text for field in self.named(*names) if (text := text_of(field.value))), None)


def _walk(values: Mapping[str, object], seen: set[tuple[int, bool]], *, own: bool) -> Iterator[Field]:
    """Yields the fields of a level, then of those below it. `seen`: YAML's aliases can name one mapping a billion times."""
    if (id(values), own) in seen:
        return
    seen.add((id(values), own))
    pairs = [(str(name), value) for name, value in values.items()] + _pair(values)
    fields = [Field(name, key_of(name), value, own) for name, value in pairs]
    yield from fields
    for field in fields:
        for inner in _mappings(field.value, seen):
            yield from _walk(inner, seen, own=own and field.key in SECTIONS)


def _pair(values: Mapping[str, object]) -> list[tuple[str, object]]:
    """Reads `{name: audience, value: people-leads}`, which is a field as well."""
    name = next((name for key in _PAIR_NAMES if isinstance(name := values.get(key), str)), None)
    value = next((values[key] for key in _PAIR_VALUES if key in values), None)
    return [] if name is None or value is None else [(name, value)]


def _mappings(value: object, seen: set[tuple[int, bool]]) -> Iterator[Mapping[str, object]]:
    if isinstance(value, Mapping):
        yield value
    elif isinstance(value, list) and (id(value), False) not in seen:
        seen.add((id(value), False))
        for entry in value:
            yield from _mappings(entry, seen)


def text_of(value: object) -> str:
    """Writes a value in one line; empty for nothing, and for what has parts with names."""
    if isinstance(value, list):
        value = ", ".join(str(entry) for entry in value if not isinstance(entry, dict | list))
    if value is None or isinstance(value, dict):
        return ""
    text = " ".join(str(value).split())
    return "" if text in ("~", "null", "Null", "NULL") else text


def is_given(value: object) -> bool:
    """Tells whether a field holds anything at all."""
    return bool(text_of(value)) or (isinstance(value, dict | list) and bool(value))


def truth_of(value: object) -> bool | None:
    """Tells whether a field says yes; None where it says neither yes nor no."""
    return _TRUTHS.get(folded(text_of(value)))


_TRUTHS = {
    **dict.fromkeys(words("on 1 x") | listed("front_matter", "yes"), True),
    **dict.fromkeys(words("0") | listed("front_matter", "no"), False),
}
