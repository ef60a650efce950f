"""Words and lines of Markdown, made of XHTML's."""

from __future__ import annotations

import re

from ingest.sources.markup import literal, prose, unliteral

_BLOCK_MARK = re.compile(r"^[ ]*(?:>[ ]?)*[ ]*(?:- |#{1,6} )?", re.MULTILINE)
_ANCHOR = re.compile(r" \{#\S*\}$")
_FENCE = re.compile(r"(`{3,})[^\n]*\n(?P<code>.*)\n\1", re.DOTALL)
_TALKING = (".", "!", "?", "…", ":", "。", "？", "！", "：")


def paragraph(run: list[str]) -> list[str]:
    """Text of inline elements as a block, if it says anything; its line breaks are the author's."""
    lines = [words(line) for line in "".join(run).split("\n")]
    return some(prose("\n".join(line for line in lines if line)))


def some(text: str) -> list[str]:
    return [text] if text.strip() else []


def plain(text: str | None) -> str:
    """Text between tags: line breaks there mean nothing."""
    return literal(re.sub(r"\s+", " ", text or ""))


def words(text: str) -> str:
    return " ".join(text.split())


def wrapped(inner: str, mark: str) -> str:
    """`**bold**` with the white space outside of the marks, where Markdown wants it."""
    core = inner.strip()
    if not core:
        return inner
    if mark == "`":
        return code(unliteral(inner))
    lead, tail = inner[: len(inner) - len(inner.lstrip())], inner[len(inner.rstrip()) :]
    return f"{lead}{mark}{core}{mark}{tail}"


def code(text: str) -> str:
    """Code within a line, with the white space around it outside."""
    core = words(text)
    if not core:
        return text
    mark = "``" if "`" in core else "`"
    lead, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{lead}{mark}{core}{mark}{tail}"


def one_line(block: str) -> str:
    """A block within a cell: its words, its code line by line, and no mark of a list, a quotation or a heading."""
    if found := _FENCE.fullmatch(block):
        return " ".join(code(line.strip()) for line in found["code"].split("\n") if line.strip())
    if block.startswith("#"):
        block = _ANCHOR.sub("", block)  # a heading's
    return words(_BLOCK_MARK.sub("", block))


def titled(title: str, body: list[str]) -> list[str]:
    """Blocks under the title of a tab, an accordion or a card, which says what they are about: in front of their words,
    since whoever quotes them must have it ("Belgium: 6% VAT on books"); a question stands over its answer.
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
