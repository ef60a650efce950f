"""No pattern that reads a model's words or a page's takes long for a text of one thing, over and over."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator

import pytest

import kb.answering
import kb.citations
import kb.conversation
import kb.pages
import kb.text

SIZE = 4000
"""Characters: the longest sentence that is read."""
ENDLESS_S = 0.5
"""Seconds of a processor. Ordinary patterns take a hundredth of that,
and those with the square of the length up to twenty.
"""
REPEATED = [
    *[
        ">",
        "*",
        "`",
        "[",
        "a",
        ".",
        "1",
        "_",
        "<",
        "-",
        ":",
        "(",
        "#",
        "~",
        "=",
        "@",
        "!",
        "\\",
        "|",
        "/",
        "]",
        ")",
        "{",
        "}",
        "$",
        "&",
        "'",
        ",",
        ";",
    ],
    *(" ", "\n", "\t", "> *", "[a", "[a](", "[a](b", "a.", "1,", "a\n", "| ", "- a\n", "__a", "**a"),
    *("[1]", "[1] ", "12 ", "<a", "```\n", "Ab ", "http://", '"a ', "a: ", "a-", "a@", "]("),
]
ONLY_AT_A_PLACE = {
    *("_QUESTION_MARK", "_HOST", "_SPEAKER", "_ORDINAL", "_REMARK"),
    *("_FENCE", "_HEADING", "_ITEM", "_ROW", "_SEPARATOR_ROW", "_RULE", "_QUOTE"),
}
"""Matched at one place, of a short text or of a line."""


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for package in (kb.citations, kb.answering, kb.text, kb.pages, kb.conversation):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, re.Pattern) and name not in ONLY_AT_A_PLACE:
                    yield f"{module.name}.{name}", value


def seconds(pattern: re.Pattern[str], text: str) -> float:
    began = time.thread_time()
    for _ in pattern.finditer(text):
        pass
    return time.thread_time() - began


@pytest.mark.parametrize(("name", "pattern"), [pytest.param(*one, id=one[0]) for one in patterns()])
def test_a_pattern_reads_a_long_text_of_one_thing(name: str, pattern: re.Pattern[str]) -> None:
    slow = [
        (once, round(took, 3))
        for once in REPEATED
        if (took := seconds(pattern, once * (SIZE // len(once)))) > ENDLESS_S
    ]
    assert not slow, f"{name} takes an age for these, {SIZE} characters of them"
