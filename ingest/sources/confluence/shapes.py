"""Blocks of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator


def fenced(code: str, language: str) -> str:
    """Code between fences that are longer than any within it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`{3,}", code)), default=0))
    return f"{fence}{language}\n{code.strip(chr(10)).rstrip()}\n{fence}"


def quoted(blocks: list[str]) -> str:
    return "\n".join(f"> {line}".rstrip() for line in "\n\n".join(blocks).split("\n")) if blocks else ""


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
