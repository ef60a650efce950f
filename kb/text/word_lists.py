"""How words stand in `kb/languages/*.toml`: lists written as one string."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

Words = Annotated[frozenset[str], BeforeValidator(lambda text: frozenset(text.split()))]
OrderedWords = Annotated[tuple[str, ...], BeforeValidator(lambda text: tuple(text.split()))]
Patterns = Annotated[
    tuple[re.Pattern[str], ...],
    BeforeValidator(lambda texts: tuple(re.compile(text, re.IGNORECASE) for text in texts)),
]
NONE: frozenset[str] = frozenset()


class LexiconPart(BaseModel):
    """A table of a language file."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


def forms_of(entry: str) -> Iterator[str]:
    """Returns the forms of an entry of a list that counts: "/" separates them, and "-" stands for none."""
    yield from (form for form in entry.split("/") if form != "-")
