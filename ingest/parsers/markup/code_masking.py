"""Masks code and escaped characters while the text around them is rewritten, so that a `{{ variable }}` in an example
stays one, and `\\<b>` becomes no tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from textwrap import dedent
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingest.parsers.markup.code_in_markdown import plain_code
from kb.spelled_out import UNESCAPED_BAR

_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
"""Two of Unicode's noncharacters, which no text may hold."""
_MARK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_INLINE = re.compile(
    r"(?P<escaped>\\[!-/:-@\[-`{-~])"
    r"|(?P<ticks>(?<!`)`+(?!`))(?:[^`\n]++|\n(?![ \t]*\n)|(?!(?P=ticks)(?!`))`++)++(?P=ticks)(?!`)"
)
"""An escaped character or a code span, whichever comes first."""
_MAY_HOLD_CODE = re.compile(r"```|~~~|\]:|^[ \t>*+\-\d.)]*(?:[ ]{4}|\t)", re.MULTILINE)
"""A fence, a link definition, or an indentation of four columns after the marks of quotations and lists."""
_TABLE = re.compile(r"<(/?)table\b[^<>]*>", re.IGNORECASE)
_INNER_FENCE = re.compile(r"^[ \t]*(`{3,})[^`\n]*\n(?:(?![ \t]*\1)[^\n]*\n)*[ \t]*\1`*[ \t]*$", re.MULTILINE)
_PRE = re.compile(r"<pre\b[^<>]*>((?:(?!<pre\b).)*?)</pre\s*>", re.DOTALL | re.IGNORECASE)
_RAW = re.compile(r"\{%-?\s*raw\s*-?%\}((?:(?!\{%-?\s*raw\b).)*?)\{%-?\s*endraw\s*-?%\}", re.DOTALL)
_RAW_TAG = re.compile(r"^[ \t]*\{%-?\s*(?:end)?raw\s*-?%\}[ \t]*\n|\{%-?\s*(?:end)?raw\s*-?%\}", re.MULTILINE)
_LITERAL = re.compile(r"\{\{-?\s*([\"'])((?:(?!\1)[^\n])*)\1\s*(?:\|[^{}\n]*?)?-?\}\}")
"""Liquid's string literals, which are shown as written: `{{ "{{" }}`, `{{ "/leave" | relative_url }}`."""
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")

References = dict[str, dict[str, Any]]
"""Link definitions, as markdown-it keeps them: by normalised label, with "href" and more."""


class CodeMask:
    """Takes the code out of a text and puts it back. `liquid`: `{% raw %}` is Liquid's syntax, not text of the page."""

    def __init__(self, *, liquid: bool = False) -> None:
        self._liquid = liquid
        self._hidden: list[str] = []
        self._in_cells: set[int] = set()
        self._parsed: tuple[str | None, Sequence[Token]] = (None, ())

    def hide(self, text: str, markdown: MarkdownIt, references: References) -> str:
        """Puts a mark in place of each fence, indented block, `<pre>`, raw section, code span and escape.

        Fills `references` with the link definitions that the text holds.
        """
        text = text.replace(_OPEN, "").replace(_CLOSE, "")
        text = plain_code(self._hide_blocks(text, markdown, references))
        text = "".join(
            self._hide_in_cells(piece) if is_table else piece for piece, is_table in _with_tables_apart(text)
        )
        text = _PRE.sub(lambda found: self._mark(_fenced(found[1])), text)
        if self._liquid:
            text = _RAW.sub(lambda found: self._mark(found[1]), text)
            text = _LITERAL.sub(lambda found: self._mark(found[2]), text)
        return _INLINE.sub(lambda found: self._mark(found[0]), text)

    def blocks(self, text: str) -> Sequence[Token] | None:
        """Returns the blocks of a text that `hide` has parsed unchanged, so that a page is parsed once."""
        return self._parsed[1] if self._parsed[0] == text else None

    def restore(self, text: str) -> str:
        """Puts the code back, also into hidden text: a `<pre>` may have held a code span."""
        while _MARK.search(text):
            text = _MARK.sub(self._restored, text)
        return text

    def _restored(self, found: re.Match[str]) -> str:
        """Returns hidden text. In a row of a table its bars are escaped, which would end a cell."""
        number = int(found[1])
        line_start = found.string.rfind("\n", 0, found.start()) + 1
        in_row = number in self._in_cells and found.string[line_start] == "|"
        return UNESCAPED_BAR.sub(r"\\|", self._hidden[number]) if in_row else self._hidden[number]

    def _hide_blocks(self, text: str, markdown: MarkdownIt, references: References) -> str:
        if not _MAY_HOLD_CODE.search(text):
            return text
        lines = text.split("\n")
        tokens = markdown.parse(text, {"references": references})
        self._parsed = text, tokens
        for token in reversed(tokens):
            if token.type in ("fence", "code_block") and token.map:
                start, end = token.map
                while end > start + 1 and not lines[end - 1].strip():
                    end -= 1
                code = "\n".join(lines[start:end])
                lines[start:end] = [self._mark(_RAW_TAG.sub("", code) if self._liquid else code)]
        return "\n".join(lines)

    def _hide_in_cells(self, table: str) -> str:
        """Hides code in cells of HTML as one line, but a fence, which needs no empty lines there, as a block."""
        before = len(self._hidden)
        table = _PRE.sub(lambda found: self._mark(_in_a_line(found[1])), table)
        table = _INNER_FENCE.sub(lambda found: f"\n\n{self._mark(dedent(found[0]))}\n\n", table)
        table = _INLINE.sub(lambda found: self._mark(" ".join(found[0].split("\n"))), table)
        self._in_cells.update(range(before, len(self._hidden)))
        return table

    def _mark(self, code: str) -> str:
        self._hidden.append(code)
        return f"{_OPEN}{len(self._hidden) - 1}{_CLOSE}"


def _with_tables_apart(text: str) -> Iterator[tuple[str, bool]]:
    """Splits a text at its tables of HTML. Tells of each piece whether it is a whole table, with those in its cells."""
    position = start = depth = 0
    for tag in _TABLE.finditer(text):
        if not tag[1]:
            start = start if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield text[position:start], False
                yield text[start : tag.end()], True
                position = tag.end()
    yield text[position:], False


def _in_a_line(html: str) -> str:
    code = " ".join(unescape(_TAG.sub("", html)).split())
    mark = "``" if "`" in code else "`"
    return f" {mark}{code}{mark} " if code else ""


def _fenced(html: str) -> str:
    code = unescape(_TAG.sub("", html)).strip("\n").replace("\xa0", " ")
    fence = "`" * max([4, *(1 + len(run) for run in re.findall(r"`{4,}", code))])
    return f"\n\n{fence}\n{code}\n{fence}\n\n"
