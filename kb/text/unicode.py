"""Halves of characters: JSON can say them ("\\ud800"), Python keeps them, and nothing can store or send them."""

from __future__ import annotations

import re
from typing import Any

DEEPEST = 100
"""Levels of a value. Slack's deepest block has some fifteen."""

_HALF = re.compile("[\ud800-\udfff]")


class TooDeepError(ValueError, RecursionError):
    """A value is nested deeper than anybody means."""


def well_formed(text: str) -> str:
    """Joins two halves that stand together into their character, and replaces lone ones by U+FFFD."""
    if not _HALF.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def well_formed_value(value: Any, depth: int = 0) -> Any:
    """Returns a value as `json.loads` gives it, with all its texts well formed.

    Raises:
        TooDeepError: it has more than `DEEPEST` levels.
    """
    if isinstance(value, str):
        return well_formed(value)
    if not isinstance(value, dict | list):
        return value
    if depth == DEEPEST:
        raise TooDeepError(f"more than {DEEPEST} levels")
    if isinstance(value, list):
        return [well_formed_value(inner, depth + 1) for inner in value]
    return {well_formed(key): well_formed_value(inner, depth + 1) for key, inner in value.items()}
