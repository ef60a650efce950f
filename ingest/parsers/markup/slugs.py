"""Heading anchors as GitHub makes them, by the rules of github-slugger (https://github.com/Flet/github-slugger)."""

from __future__ import annotations

import re
import unicodedata

_GOES = re.compile(r"[^a-z0-9_ -]", re.IGNORECASE)
"""What does not stay of ASCII."""


class Slugs:
    """The anchors of one page; a repeated heading gets -1, -2."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def claim(self, heading: str) -> str:
        base = _slug(heading.lower())
        slug = base
        while slug in self._used:
            self._used[base] += 1
            slug = f"{base}-{self._used[base]}"
        self._used[slug] = 0
        return slug


def _slug(heading: str) -> str:
    if heading.isascii():
        return _GOES.sub("", heading).replace(" ", "-")
    return "".join(filter(_stays, heading)).replace(" ", "-")


def _stays(character: str) -> bool:
    """Letters, digits, joiners, and marks: without its vowel signs a Hindi anchor leads nowhere."""
    category = unicodedata.category(character)
    return character in "- " or category[0] in "LM" or category in ("Nd", "Nl", "Pc")
