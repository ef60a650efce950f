"""Heading anchors as GitHub makes them, by the rules of github-slugger (https://github.com/Flet/github-slugger)."""

from __future__ import annotations

import re


class Slugs:
    """The anchors of one page; a repeated heading gets -1, -2."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def claim(self, heading: str) -> str:
        base = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        slug = base
        while slug in self._used:
            self._used[base] += 1
            slug = f"{base}-{self._used[base]}"
        self._used[slug] = 0
        return slug
