"""Words, lines and blocks of Markdown, made of XHTML's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.sources.markup import literal, prose, unliteral

_BLOCK_MARK = re.compile(r"^[ ]*(?:>[ ]?)*[ ]*(?:- |#{1,6} )?", re.MULTILINE)
_ANCHOR = re.compile(r" \{#\S*\}$")
_FENCE = re.compile(r"(`{3,})[^\n]*\n(?P<code>.*)\n\1", re.DOTALL)
_TALKING = (".", "!", "?", "…", ":", "。", "？", "！", "：")
_SIGNS = {
    "tick": "✅", "cross": "❌", "warning": "⚠️", "information": "ℹ️", "question": "❓", "plus": "➕", "minus": "➖",
    "thumbs-up": "👍", "thumbs-down": "👎", "light-on": "💡", "smile": "🙂", "sad": "🙁", "laugh": "😀", "wink": "😉",
    "heart": "❤️", "broken-heart": "💔", "cheeky": "😛", "yellow-star": "⭐",
}  # fmt: skip
"""Emoticons of the old editor, by their name; in a table a tick and a cross are often all that a cell says."""
_RAISED = str.maketrans("0123456789+-−()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾ⁿ")


def paragraph(run: list[str]) -> list[str]:
    """Makes a block of inline elements, if it says anything; its line breaks are the author's."""
    lines = [words(line) for line in "".join(run).split("\n")]
    return some(prose("\n".join(line for line in lines if line)))


def some(text: str) -> list[str]:
    return [text] if text.strip() else []


def plain(text: str | None) -> str:
    """Writes text between tags: line breaks there mean nothing."""
    return literal(re.sub(r"\s+", " ", text or ""))


def words(text: str) -> str:
    return " ".join(text.split())


def wrapped(inner: str, mark: str) -> str:
    """Writes `**bold**` with the white space outside of the marks, where Markdown wants it."""
    core = inner.strip()
    if not core:
        return inner
    if mark == "`":
        return code(unliteral(inner))
    lead, tail = inner[: len(inner) - len(inner.lstrip())], inner[len(inner.rstrip()) :]
    return f"{lead}{mark}{core}{mark}{tail}"


def code(text: str) -> str:
    """Writes code within a line, with the white space around it outside."""
    core = words(text)
    if not core:
        return text
    mark = "``" if "`" in core else "`"
    lead, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{lead}{mark}{core}{mark}{tail}"


def one_line(block: str) -> str:
    """Writes a block of a cell: its words, its code line by line, no mark of a list, a quotation or a heading."""
    if found := _FENCE.fullmatch(block):
        return " ".join(code(line.strip()) for line in found["code"].split("\n") if line.strip())
    if block.startswith("#"):
        block = _ANCHOR.sub("", block)  # a heading's
    return words(_BLOCK_MARK.sub("", block))


def titled(title: str, body: list[str]) -> list[str]:
    """Puts blocks under the title of a tab, an accordion or a card, which says what they are about: in front of
    their words, since whoever quotes them must have it ("Belgium: 6% VAT on books"); a question stands over its answer.
    """
    if not title or not body:
        return body or some(f"**{title}**" if title else "")
    first, *rest = body
    if title.endswith(_TALKING):
        return [f"**{title}**\n{first}", *rest] if is_prose(first) else [f"**{title}**", *body]
    return [f"{title}: {first}", *rest] if is_prose(first) else [f"{title}:", *body]


def is_prose(block: str) -> bool:
    """Whether a block of ours is a paragraph: `prose` escapes what would start anything else."""
    return not re.match(r"[#>|`]|[-+*] |\d{1,9}[.)] |\$\$|\*\*[^*\n]+\*\*\Z", block)


def list_item(marker: str, blocks: list[str]) -> Iterator[str]:
    if not blocks:
        return
    pad = " " * (len(marker) if marker[0].isdigit() else 2)
    text, *rest = blocks
    for block in rest:
        text += ("\n" if re.match(r"(- |\d+\. )", block) else "\n\n") + block
    yield marker + indented(text, pad).lstrip()


def indented(text: str, pad: str) -> str:
    return "\n".join(pad + line if line else line for line in text.split("\n"))


def sign(name: str, fallback: str) -> str:
    """Writes an emoticon. `fallback`: the character itself, where the newer editor wrote it."""
    return fallback or _SIGNS.get(name) or (f":{name}:" if name else "")


def raised(text: str) -> str:
    """Writes digits above the line, so that 10⁶ is not 106; other text as it is ("1st")."""
    core = text.strip()
    return text.translate(_RAISED) if core and all(ord(character) in _RAISED for character in core) else text
