"""A note between two rulers at the top of a page, which is no front
matter though YAML would read it: `Note: we moved.`
"""

from __future__ import annotations

import re

_LINE = re.compile(r"(?P<name>[^:=\n]+?)[ \t]*[:=](?:[ \t]+(?P<value>.*))?")
_CONTINUED = re.compile(r"[ \t]|-[ \t]|-$|[#\]\[{}]|(?:-{3}|\+{3}|;{3}|\.{3})\w*[ \t]*$")
"""Indented, an entry of a list, a comment, a bracket, or the fence itself."""
_NAME = re.compile(r"[\"']?[\w.@/-]+[\"']?")
_FIELD_NAMES = """
abstract author authors bio categories category created date description draft excerpt id intro keywords lang language
layout lead meta owner permalink published seo slug status subtitle summary tagline tags teaser title type updated version
weight
"""
_FIELDS = frozenset(_FIELD_NAMES.split())
"""Generators' own. One of them makes a block front matter, whatever the others say."""
_SENTENCE = 5
_CAPITALISED_SENTENCE = 3
"""Words. Names of fields are in lower case as a rule."""


def is_note(head: str) -> bool:
    """Whether what stands between the fences is sentences for readers. For blocks of which nothing is understood."""
    lines = [line.rstrip() for line in head.splitlines() if line.strip() and not _CONTINUED.match(line)]
    fields = [_LINE.fullmatch(line) for line in lines]
    if any(found and found["name"].strip("\"'").lower() in _FIELDS for found in fields):
        return False
    return any(found is None or _is_sentence(found["name"], found["value"] or "") for found in fields)


def _is_sentence(name: str, value: str) -> bool:
    if not _NAME.fullmatch(name):
        return True
    if value.startswith(("[", "{", '"', "'")):
        return False
    return len(value.split()) >= (_CAPITALISED_SENTENCE if name.strip("\"'")[:1].isupper() else _SENTENCE)
