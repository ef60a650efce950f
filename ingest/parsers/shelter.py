"""Hides code and escaped characters while the text around them is rewritten, so that a `{{ variable }}` in an example
stays one, and `\\<b>` no tag.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from markdown_it import MarkdownIt

_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
"""Two of Unicode's noncharacters, which no text may hold."""
_MARK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_INLINE = re.compile(
    r"(?P<escaped>\\[!-/:-@\[-`{-~])"
    r"|(?P<ticks>(?<!`)`+(?!`))(?:[^`\n]++|\n(?![ \t]*\n)|(?!(?P=ticks)(?!`))`++)++(?P=ticks)(?!`)"
)
"""An escaped character or a code span, whichever comes first."""
_TABLE = re.compile(r"<table\b[^<>]*>(?:(?!<table\b).)*?</table\s*>", re.DOTALL | re.IGNORECASE)
_PRE = re.compile(r"<pre\b[^<>]*>((?:(?!<pre\b).)*?)</pre\s*>", re.DOTALL | re.IGNORECASE)
_RAW = re.compile(r"\{%-?\s*raw\s*-?%\}((?:(?!\{%-?\s*raw\b).)*?)\{%-?\s*endraw\s*-?%\}", re.DOTALL)
_RAW_TAG = re.compile(r"^[ \t]*\{%-?\s*(?:end)?raw\s*-?%\}[ \t]*\n|\{%-?\s*(?:end)?raw\s*-?%\}", re.MULTILINE)
_BAR = re.compile(r"(?<!\\)\|")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")

References = dict[str, dict[str, Any]]
"""Normalised label of a link definition -> its "href" (and more), as markdown-it keeps them."""


class Shelter:
    """Takes the code out of a text and puts it back. `liquid`: `{% raw %}` is a mark of Liquid's, not of the page."""

    def __init__(self, *, liquid: bool = False) -> None:
        self._liquid = liquid
        self._hidden: list[str] = []

    def hide(self, text: str, markdown: MarkdownIt, references: References) -> str:
        """The text with a mark in place of each fence, indented block, `<pre>`, raw section, code span and escape.

        Fills `references` with the link definitions that the text holds.
        """
        text = text.replace(_OPEN, "").replace(_CLOSE, "")
        text = self._hide_blocks(text, markdown, references)
        text = _TABLE.sub(lambda found: self._hide_in_cells(found[0]), text)
        text = _PRE.sub(lambda found: self._mark(_fenced(found[1])), text)
        if self._liquid:
            text = _RAW.sub(lambda found: self._mark(found[1]), text)
        return _INLINE.sub(lambda found: self._mark(found[0]), text)

    def restore(self, text: str) -> str:
        """Marks within hidden text are resolved too: a `<pre>` may have held a code span."""
        while _MARK.search(text):
            text = _MARK.sub(lambda found: self._hidden[int(found[1])], text)
        return text

    def _hide_blocks(self, text: str, markdown: MarkdownIt, references: References) -> str:
        lines = text.split("\n")
        environment = {"references": references}
        for token in reversed(markdown.parse(text, environment)):
            if token.type in ("fence", "code_block") and token.map:
                start, end = token.map
                while end > start + 1 and not lines[end - 1].strip():
                    end -= 1
                code = "\n".join(lines[start:end])
                lines[start:end] = [self._mark(_RAW_TAG.sub("", code) if self._liquid else code)]
        return "\n".join(lines)

    def _hide_in_cells(self, table: str) -> str:
        """Code in a cell of HTML is one line, and its bars do not end the cell."""
        table = _PRE.sub(lambda found: self._mark(_in_a_line(found[1])), table)
        return _INLINE.sub(lambda found: self._mark(_BAR.sub(r"\\|", found[0])), table)

    def _mark(self, code: str) -> str:
        self._hidden.append(code)
        return f"{_OPEN}{len(self._hidden) - 1}{_CLOSE}"


def _in_a_line(html: str) -> str:
    code = " ".join(unescape(_TAG.sub("", html)).split())
    mark = "``" if "`" in code else "`"
    return f" {mark}{_BAR.sub(chr(92) + '|', code)}{mark} " if code else ""


def _fenced(html: str) -> str:
    code = unescape(_TAG.sub("", html)).strip("\n").replace("\xa0", " ")
    fence = "`" * max([4, *(1 + len(run) for run in re.findall(r"`{4,}", code))])
    return f"\n\n{fence}\n{code}\n{fence}\n\n"
