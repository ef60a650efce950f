"""Text of a vendor's own as Markdown that means the same."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"([\\`*_\[\]<>#{}])")


def heading(title: str, level: int = 1) -> str:
    """A heading whose words are words, whatever they look like."""
    words = _SPECIAL.sub(r"\\\1", " ".join(title.split()))
    return f"{'#' * level} {words}"
