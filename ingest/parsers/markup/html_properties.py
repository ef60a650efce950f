"""Reads the properties of a page of HTML: `<meta>`, and the `data-*` and JSON-LD that may restrict its readers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape

from ingest.front_matter.fields import Fields, key_of
from ingest.front_matter.limit_words import CLOSED_WORDS, OPEN, SURE, WORDS_OF_PAGES
from ingest.front_matter.limits import names_a_limit

_META = re.compile(r"<meta\b[^<>]*>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+))")
_NAMED_BY = ("name", "property", "itemprop")
_DUBLIN_CORE = re.compile(r"(?:dc|dcterms?|dublincore)\.(?:[\w-]+\.)?", re.IGNORECASE)
_DATA = re.compile(
    r"\sdata-([a-z][\w-]{2,40})\s*=\s*(?:\"([^\"<>]{0,300})\"|'([^'<>]{0,300})'|([^\s\"'<>]{1,300}))",
    re.IGNORECASE,
)
_LINKED = re.compile(r"<script\b[^<>]{0,300}?ld\+json[^<>]{0,300}>", re.IGNORECASE)

Named = Iterator[tuple[str, object]]


def html_properties(text: str) -> Named:
    """Yields names and values. Those of an element or a JSON-LD object are nested: they may mean that alone."""
    yield from _of_meta(text)
    yield from (("elements", [{name: value}]) for name, value in _of_elements(text))
    yield from (("json-ld", [{name: value}]) for name, value in _of_linked_data(text))


def _of_meta(text: str) -> Named:
    for tag in _META.findall(text):
        attributes = {name.lower(): unescape("".join(value)) for name, *value in _ATTRIBUTE.findall(tag)}
        name = next((attributes[key] for key in _NAMED_BY if key in attributes), "")
        as_header = attributes.get("http-equiv", "")
        if names_a_limit(as_header):  # others are of browsers: `expires` tells how long to keep a copy
            name = as_header
        value = attributes.get("content", attributes.get("value"))
        if name and value is not None:
            yield _DUBLIN_CORE.sub("", name.rpartition(":")[2]), value


def _of_elements(text: str) -> Named:
    for name, *alternatives in _DATA.findall(text):
        key, value = key_of(name), key_of(unescape("".join(alternatives)))
        if "audience" in key or key in SURE - WORDS_OF_PAGES:
            limits = value not in OPEN
        else:
            limits = "visibility" in key and value in CLOSED_WORDS - {"hidden"}
        if limits:
            yield name, value


def _of_linked_data(text: str) -> Named:
    for opening in _LINKED.finditer(text):
        end = text.find("</script", opening.end())
        script = text[opening.end() : end] if end >= 0 else ""
        if "audience" not in script:
            continue
        try:
            data = json.loads(script)
        except (json.JSONDecodeError, RecursionError):
            yield "audience", "that cannot be read"
            continue
        for field in Fields({"": data}).all:
            if "audience" in field.key and not _is_open(field.value):
                yield field.name, field.value


def _is_open(value: object) -> bool:
    """Whether an audience is everyone: `{"@type": "Audience", "audienceType": "public"}`."""
    if isinstance(value, dict):
        return any(_is_open(part) for part in value.values())
    if isinstance(value, list):
        return bool(value) and all(map(_is_open, value))
    return isinstance(value, str) and key_of(value) in OPEN
