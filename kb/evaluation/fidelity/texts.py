"""Bytes to text, and text without its front matter."""

from __future__ import annotations

import re
from typing import Any

import yaml
from charset_normalizer import from_bytes

_FRONT = re.compile(
    r"\A\s*(?:---[ \t]*\n(.*?)^(?:---|\.\.\.)|\+\+\+[ \t]*\n(.*?)^\+\+\+)[ \t]*(?:\n|\Z)",
    re.DOTALL | re.MULTILINE,
)


def decoded(content: bytes) -> str:
    """UTF-8, or UTF-16 with its mark; anything else is guessed from the letters."""
    if not content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            text = content.decode("utf-8-sig")
            if "\0" not in text:  # every second byte of UTF-16 without its mark
                return text
        except UnicodeDecodeError:
            pass
    best = from_bytes(content).best()
    return str(best) if best is not None else content.decode("cp1252", "replace")


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Front matter, and the text below it; a note between two rulers is text."""
    found = _FRONT.match(text)
    if found is None:
        return {}, text
    if found[2] is not None:
        return {"toml": found[2]}, text[found.end() :]
    try:
        front = yaml.safe_load(found[1])
    except yaml.YAMLError:
        front = dict(re.findall(r"^([\w-]+):(.*)$", found[1], re.MULTILINE)) or None
    return (front or {}, text[found.end() :]) if isinstance(front, dict | None) else ({}, text)
