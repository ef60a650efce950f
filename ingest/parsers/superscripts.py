"""Writes raised and lowered numbers, which would change the number before them: 10<sup>5</sup> is not 105."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[-+=()n\d]*\d[-+=()n\d]*|n", re.ASCII)
_RAISED = str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ")
_LOWERED = str.maketrans("0123456789+-=()n", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙ")


def raised(text: str, *, before: str) -> str:
    """Raises the number behind another one. Behind a letter (m2, 7th) it stays as it is.

    `before`: the text in front of it.
    """
    return _shifted(text, before, _RAISED)


def lowered(text: str, *, before: str) -> str:
    """Lowers a number as `raised` raises it."""
    return _shifted(text, before, _LOWERED)


def _shifted(text: str, before: str, script: dict[int, int]) -> str:
    written = text.strip()
    if not written or not before[-1:].isdigit() or (written[0].isalpha() and written != "n"):
        return text
    return written.translate(script) if _NUMBER.fullmatch(written) else f" {written}"
