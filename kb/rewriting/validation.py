"""Validates a rewrite: one line, no prompt text, about as long as a question, and in its language."""

from __future__ import annotations

import re

from kb.text.language import detect
from kb.text.lexicon import SPACELESS, words_of

LONGEST_GROWTH = 3
"""Times the length of the original."""
FLOOR = 120
"""Characters that any question may grow to: a one-word question needs its subject named."""
FEWEST_WORDS = 3
LEAK_WORDS = 8
"""Words in a row that a rewrite shares with the instructions but not with the thread: copied from the prompt."""

_LEAKS = re.compile(
    r"</?(?:thread|turn|question|answer|history|topics)\b|needs_rewrite|is_follow_up|standalone (?:question|query)"
    r"|rewritten (?:question|query)|system prompt|as an ai\b|\bhere is the\b",
    re.IGNORECASE,
)


def validate(
    original: str, rewritten: str, *, language: str | None = None, prompt: str = "", thread: str = ""
) -> str | None:
    """Returns why a rewrite may not be used, as a short code for logs and counters; None when it may.

    `prompt` are the instructions that a model was given and `thread` the history: text of the first alone is a leak.
    """
    text = rewritten.strip()
    if not text:
        return "empty"
    if "\n" in text:
        return "several_lines"
    if len(text) > max(LONGEST_GROWTH * len(original), FLOOR):
        return "too_long"
    if len(words_of(text)) < FEWEST_WORDS and not (SPACELESS.search(text) and len(text) > FEWEST_WORDS):
        return "too_short"
    if leaks_prompt(original, text, prompt=prompt, thread=thread):
        return "prompt_leak"
    if language is not None and detect(text, default=language, hint=language) != language:
        return "language_changed"
    return None


def leaks_prompt(original: str, text: str, *, prompt: str, thread: str) -> bool:
    """Whether a text holds our instructions, or what stands around them."""
    marked = _LEAKS.search(text) is not None and _LEAKS.search(original) is None
    return marked or _copies(text, prompt, f"{original} {thread}")


def _copies(text: str, prompt: str, fair: str) -> bool:
    if not prompt:
        return False
    words, source, allowed = words_of(text), " ".join(words_of(prompt)), " ".join(words_of(fair))
    runs = (" ".join(words[index : index + LEAK_WORDS]) for index in range(len(words) - LEAK_WORDS + 1))
    return any(run in source and run not in allowed for run in runs)
