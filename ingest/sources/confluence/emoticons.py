"""Signs that Confluence names instead of writing them."""

from __future__ import annotations

_SIGNS = {
    "tick": "✅", "cross": "❌", "warning": "⚠️", "information": "ℹ️", "question": "❓", "plus": "➕", "minus": "➖",
    "thumbs-up": "👍", "thumbs-down": "👎", "light-on": "💡", "smile": "🙂", "sad": "🙁", "laugh": "😀", "wink": "😉",
    "heart": "❤️", "broken-heart": "💔", "cheeky": "😛", "yellow-star": "⭐",
}  # fmt: skip
"""Those of the old editor, by their name; in a table a tick and a cross are often all that a cell says."""
_RAISED = str.maketrans("0123456789+-−()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾ⁿ")


def sign(name: str, fallback: str) -> str:
    """`fallback`: the character itself, where the newer editor wrote it."""
    return fallback or _SIGNS.get(name) or (f":{name}:" if name else "")


def raised(text: str) -> str:
    """Digits above the line, so that 10⁶ is not 106; other text as it is ("1st")."""
    core = text.strip()
    return text.translate(_RAISED) if core and all(ord(one) in _RAISED for one in core) else text
