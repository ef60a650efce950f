"""The files of `kb/languages` as they stand, for what has to start quickly.

A parser's process reads them in 20 ms; lexicons (`kb.text.lexicon`), which check them, take ten times as long.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def languages() -> tuple[str, ...]:
    """Returns the languages that have a file, sorted; ISO 639-1."""
    names = (entry.name for entry in files("kb").joinpath("languages").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


@cache
def language_file(language: str) -> Mapping[str, Any]:
    text = files("kb").joinpath("languages", f"{language}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def sections(name: str) -> list[Mapping[str, Any]]:
    """Returns a section of every language that has it."""
    return [language_file(language)[name] for language in languages() if name in language_file(language)]
