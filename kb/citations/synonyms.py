"""Whether two words mean the same."""

from __future__ import annotations

_ENDINGS = ("s", "es", "d", "ed", "ing", "t", "en")


def same_word(one: str, other: str) -> bool:
    """By their stems: a compound holds its parts (Urlaub, Urlaubstage), a noun its verb (enrol, enrolment)."""
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) >= 3 and any(shorter + ending == longer for ending in _ENDINGS):
        return True
    return len(shorter) >= 4 and (
        longer.startswith(shorter) or (len(shorter) >= 5 and longer.endswith(shorter))
    )
