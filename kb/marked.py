"""An answer's sentences as one Markdown text, with the marks of their sources where these break nothing.

A mark stands beside its sentence. In a table it would be part of a cell, and behind a fence the fence would no longer
close: there the marks come below, and not at all where the sentence that leads in has them already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, Protocol

Kind = Literal["prose", "list", "table", "quote", "fence", "other"]
FENCES = ("```", "~~~")
_QUOTED_FENCE = re.compile(r"(?: *>)+ *(?:`{3}|~{3})")
_INDENTS = ("    ", "\t")
"""Of code without a fence."""
_DELIMITERS = re.compile(r"^ *\|?(?: *:?-+:? *\|)+(?: *:?-+:? *)?$", re.MULTILINE)
"""The row below a table's head; it tells a table whose rows begin without a bar."""


class Said(Protocol):
    """kb.answer.Sentence."""

    @property
    def text(self) -> str: ...

    @property
    def citations(self) -> tuple[int, ...]: ...


def marked_markdown(
    sentences: Sequence[Said], mark: Callable[[int], str], *, below: Callable[[Sequence[str]], str] = "".join
) -> str:
    """Returns the whole text.

    `mark` writes the mark of a source, "" for none; `below` the line under a table or code.
    """
    text = ""
    for grown, waiting in growing_markdown(sentences, mark, below=below):
        text = f"{grown}\n\n{waiting}" if waiting else grown
    return text


def growing_markdown(
    sentences: Sequence[Said], mark: Callable[[int], str], *, below: Callable[[Sequence[str]], str] = "".join
) -> Iterator[tuple[str, str]]:
    """Yields the text after each sentence, and the line that stands below it once its table is known to be over.

    Each text begins with the one before.
    """
    text, before = "", "prose"
    waiting: list[int] = []
    led_in: frozenset[int] = frozenset()
    for sentence in sentences:
        own = closed_fence(sentence.text.strip("\n"))
        kind, last = _kind(own, at=0), _kind(own, at=-1)
        if kind != "table" and waiting:
            text, before, waiting = f"{text}\n\n{_line(waiting, mark, below)}", "other", []
        if kind not in ("table", "fence") or before not in ("prose", kind):
            led_in = frozenset()
        text += (_joint(before, kind) if text else "") + own
        cited = [n for n in dict.fromkeys(sentence.citations) if mark(n)]
        before = last
        if last in ("table", "fence"):
            left = [n for n in cited if n not in led_in and n not in waiting]
            if last == "table":
                waiting += left
            elif left:
                text, before = f"{text}\n\n{_line(left, mark, below)}", "other"
        elif cited:
            text += " " + "".join(map(mark, cited))
            led_in = frozenset(cited)
        yield text, _line(waiting, mark, below)


def closed_fence(block: str) -> str:
    """Closes the fence of a block, where it leaves one open."""
    open_with = ""
    for line in block.split("\n"):
        start = line.lstrip()[:3]
        if start in FENCES and open_with in ("", start):
            open_with = "" if open_with else start
    return f"{block}\n{open_with}" if open_with else block


def is_block(sentence: str) -> bool:
    """Tells whether a sentence is block-level Markdown: a list item, a table row, a fence or a heading."""
    first = sentence.lstrip()
    if first.startswith(("- ", "* ", "+ ", "|", "#", "> ", *FENCES)):
        return True
    number, dot, _ = first.partition(". ")
    return bool(dot) and number.isdigit()


def _line(numbers: Sequence[int], mark: Callable[[int], str], below: Callable[[Sequence[str]], str]) -> str:
    return below([mark(n) for n in numbers]) if numbers else ""


def _kind(text: str, *, at: Literal[0, -1]) -> Kind:
    """Returns what the text's first or last line belongs to."""
    line = text.split("\n")[at]
    is_indented = line.startswith(_INDENTS) and text.startswith(_INDENTS) and not is_block(text)
    if at == -1 and (is_indented or _QUOTED_FENCE.match(line)):
        return "fence"
    if _DELIMITERS.search(text) and not text.lstrip().startswith(FENCES) and "|" in line:
        return "table"
    if not is_block(line):
        return "prose"
    kinds: dict[str, Kind] = {"|": "table", ">": "quote", "`": "fence", "~": "fence", "#": "other"}
    return kinds.get(line.lstrip()[:1], "list")


def _joint(before: str, kind: Kind) -> str:
    if before == kind == "prose":
        return " "
    return "\n" if before == kind and kind in ("list", "table", "quote") else "\n\n"
