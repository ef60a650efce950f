"""Blocks of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator


def list_item(marker: str, blocks: list[str]) -> Iterator[str]:
    if not blocks:
        return
    pad = " " * (len(marker) if marker[0].isdigit() else 2)
    first, *rest = blocks
    text = first
    for block in rest:
        text += ("\n" if re.match(r"(- |\d+\. )", block) else "\n\n") + block
    yield marker + indented(text, pad).lstrip()


def indented(text: str, pad: str) -> str:
    return "\n".join(pad + line if line else line for line in text.split("\n"))
