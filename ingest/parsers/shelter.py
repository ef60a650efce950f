"""Hides code while the text around it is rewritten, so that a `{{ variable }}` in an example stays one."""

from __future__ import annotations

import re
from typing import Any

from markdown_it import MarkdownIt

_OPEN, _CLOSE = "\ue000", "\ue001"
_MARK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_INLINE = re.compile(r"(?<!`)(`+)(?!`)((?:(?!\1)[^\n]|\n(?![ \t]*\n))+?)\1(?!`)")
_PRE = re.compile(r"<pre\b[^<>]*>((?:(?!<pre\b).)*?)</pre\s*>", re.DOTALL | re.IGNORECASE)
_RAW = re.compile(r"\{%-?\s*raw\s*-?%\}((?:(?!\{%-?\s*raw\b).)*?)\{%-?\s*endraw\s*-?%\}", re.DOTALL)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")

References = dict[str, dict[str, Any]]
"""Normalised label of a link definition -> its "href" (and more), as markdown-it keeps them."""


class Shelter:
    """Takes the code out of a text and puts it back."""

    def __init__(self) -> None:
        self._hidden: list[str] = []

    def hide(self, text: str, markdown: MarkdownIt, references: References) -> str:
        """The text with a mark in place of each fence, indented block, `<pre>`, raw section and code span.

        Fills `references` with the link definitions that the text holds.
        """
        text = text.replace(_OPEN, "").replace(_CLOSE, "")
        text = self._hide_blocks(text, markdown, references)
        text = _PRE.sub(lambda found: self._mark(_fenced(found[1])), text)
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
                lines[start:end] = [self._mark("\n".join(lines[start:end]))]
        return "\n".join(lines)

    def _mark(self, code: str) -> str:
        self._hidden.append(code)
        return f"{_OPEN}{len(self._hidden) - 1}{_CLOSE}"


def _fenced(html: str) -> str:
    code = _TAG.sub("", html).strip("\n")
    for name, character in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        code = code.replace(name, character)
    return f"\n\n````\n{code}\n````\n\n"
