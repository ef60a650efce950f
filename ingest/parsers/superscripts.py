"""Raised and lowered numbers, which would make another number of the one before them: 10<sup>5</sup> is not 105."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[-+=()n\d]*\d[-+=()n\d]*|n", re.ASCII)
_RAISED = str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ")
_LOWERED = str.maketrans("0123456789+-=()n", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙ")


def raised(text: str, *, before: str) -> str:
    """`before`: what stands in front of it. Behind a letter (m2, 7th) it stays as it is."""
    return _beside(text, before, _RAISED)


def lowered(text: str, *, before: str) -> str:
    return _beside(text, before, _LOWERED)


def _beside(text: str, before: str, script: dict[int, int]) -> str:
    written = text.strip()
    if not written or not before[-1:].isdigit() or (written[0].isalpha() and written != "n"):
        return text
    return written.translate(script) if _NUMBER.fullmatch(written) else f" {written}"
