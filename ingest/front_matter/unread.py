"""Finds limits that nobody reads: an author named the readers of a page where, or in a way that, no program takes in.

They are looked for in the text as it looks (`lookalikes`):

- anywhere, a name for readers with one of Slack's names for its value (`| Audience | #leads |`); words that describe
  readers ("Audience: all staff") limit nobody;
- between two rulers, and above a page's first sentence in a fence, a comment or a block of code, a name for readers,
  whatever its value;
- in plain lines above the first sentence and in what markup sets apart, a name for readers with a word that can be
  the name of some (`marked`).

Code further down shows how something is written, and is not meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from ingest.errors import PageError
from ingest.front_matter.limits import MARK, NAME_HINT, closes, is_word_of_pages, names_readers, surely_limits
from ingest.front_matter.lookalikes import plainly
from ingest.front_matter.marked import PlainFields, named_by_markup

_Inside = Literal["", "ruler", "code", "comment"]

_NEAR = 120
"""Characters from where a name for readers begins to the first of them."""
_HINT = 3
"""Letters of a hint: one that begins before those characters may hide one that begins within."""
_LINE = 400
"""Characters of a line that are looked at: a field is shorter."""
_NAME = r"(?P<name>[^\W\d](?:[\w .-]{0,40}?[\w])?)"
_BEFORE_MARK = re.compile(
    rf"(?:^|[\n{{,(<;|>%!\[=#-]|\b(?:const|let|var|meta|name|property|itemprop|data-)\b)[^\w\n]{{0,8}}{_NAME}"
    r"(?P<gap>(?:</?\w+[^<>\n]*>|\b(?:content|value|is|are|channels?|names?)\b|!!?\w+|&\w+(?=[ "
    r"\t])|[^\w#@\n<]|\n|<|#(?=[^\w\n]))+?)\Z"
)
_SEPARATOR = re.compile(r"[:=|>]|\s-+[>\s]|\b(?:is|are)\b|\A[ \t]+[\"']?\Z")
_MARKS = re.compile(MARK)
_ONLY_MARKS = re.compile(rf"(?:{MARK}|[^\w\n])+$", re.MULTILINE)
_KEY = re.compile(
    (
        r"(?:^[^\w\n]{0,20}|[{,(;][^\w\n]{0,8}|\bconst |<!-+\s*)(?P<name>[^\W\d][\w .-]{0,40}?)[^\w\n"
        r":=]*?(?:[:=\t]|->)[:=> \t]*(?=(?P<value>[^\n]*))"
    ),
    re.MULTILINE,
)
_FIELD = re.compile(r"[^\w\n]*[^\W\d][\w .-]{0,40}?[^\w\n:=]*(?::{1,2}|[=|\t]|->)|[^\w\n]*$|[ \t]+\S|[-#}\]]")
_RULER = re.compile(
    r"[^\w\s#<>(){}\[\]|!]{2,}[ \t]*(?:[#!{][^\n]{0,60}|\w{0,10})$|[-=~*_][ \t]*$|(?:[-*_][ "
    r"\t]){2,}[-*_]?$|\w?---$|#{2,}$|\{{3}$|\}{3}$|:::|!!!|\\?---$|\"---$"
)
_CODE = re.compile(r"`{3,}[^`]*$|~{3,}")
_COMMENT = re.compile(r"<!-+|\{?/\*+|\{#|\{%-? comment|<%#")
_ENDS = re.compile(r"-->|\*/|#\}|endcomment|%>")
_LINE_COMMENT = re.compile(r"\[[^\]]*\]:\s*(?:#|<>)\s*[(\"']|//|%+[ \t]|;+[ \t]|\.\.[ \t]|#\+|<\?|@")
_OPENS = re.compile(
    f"(?P<comment>{_COMMENT.pattern})|(?P<code>{_CODE.pattern})|(?P<ruler>{_RULER.pattern})|(?P<remark>{_LINE_COMMENT.pattern})"
)
_LAYOUT = re.compile(r"#{1,6}[ \t]|!\[|\[\[|</?\w+[^<>]*>$|\{%|\{\{|import |export |%YAML")
_ONE_WORD = re.compile(r"audiences?: [\"']?[\w-]+[^\w\n]*$")
_SENTENCE = re.compile(r"(?<!\w)[^\W\d_]+(?:[^\w\n:=|]{1,9}\w+){3}")
_CODE_SPAN = re.compile(r"`[^`\n]*[:=][^`\n]*`")
_QUOTE = re.compile(r"^(?:[ \t]*>[ \t]?)+|^[ ]{0,3}\[\^[^\]\s]{1,40}\]:[ \t]*", re.MULTILINE)
"""Marks of a quotation, or of a note, before what a line says."""


def refuse_unread_limits(text: str, *, marks: bool = True, fields: bool = True, code: bool = True) -> None:
    """Closes a page whose readers are named where no program reads it.

    Args:
        marks: Slack's names count anywhere, and a field that stands alone.
        fields: so does what is fenced or in a comment.
        code: and code at the top.

    Raises:
        PageError: the page has readers of its own that nobody would keep it to.
    """
    for name in _unread(text, marks=marks, fields=fields, code=code):
        raise PageError(
            f"it names its readers (`{name.strip()}`) in front matter that is none, where it is not read: "
            f"begin and end it with a line "
            "of three dashes, and let nothing stand above it; or write `audience: everyone` there, "
            "for all of the company",
            withdraw=True,
        )


def _unread(text: str, *, marks: bool, fields: bool, code: bool) -> Iterator[str]:
    looks = _QUOTE.sub("", plainly(text))
    if marks:
        yield from _named_by_slack(looks)
    if marks and fields:
        shown = looks if "&lt;" not in text else _QUOTE.sub("", plainly(text.replace("&lt;", "(")))
        yield from named_by_markup(_without_examples(shown))
    if fields:
        plain, enclosed = PlainFields(), _EnclosedFields(code=code)
        for line in looks.split("\n"):
            if marks and not (enclosed.begun and _is_indented(line)):
                yield from plain.names(line[:_LINE], begun=enclosed.begun, in_code=enclosed.inside == "code")
            yield from enclosed.names(line[:_LINE].strip())


def _named_by_slack(text: str) -> Iterator[str]:
    """Yields names for readers that have a channel, a group or a person for their value."""
    if not _MARKS.search(text):
        return
    shown = _without_examples(text)
    hints = (hint.start() for hint in NAME_HINT.finditer(shown.lower()))
    last, following = -_NEAR, next(hints, len(shown))
    for mark in _MARKS.finditer(shown):
        while following < mark.start():
            last, following = following, next(hints, len(shown))
        start = max(0, mark.start() - _NEAR)
        if last < start - _HINT:
            continue
        before = _BEFORE_MARK.search(shown, start, mark.start())
        if before and _is_limit(before["name"], before["gap"], shown, mark.start()):
            yield before["name"]


def _is_limit(name: str, gap: str, text: str, start: int) -> bool:
    if len(name.split()) > 3 or is_word_of_pages(name) or not surely_limits(name):
        return False
    if "](" in gap:
        return False  # a link to a heading
    if _SEPARATOR.search(gap.replace("\n", "")):
        return True
    return _ONLY_MARKS.match(text, start) is not None


def _is_sentence(line: str) -> bool:
    return _SENTENCE.search(line[:_LINE]) is not None


def _is_indented(line: str) -> bool:
    """Tells whether Markdown takes a line for code by its indentation."""
    return line.startswith(("    ", "\t")) and not line.lstrip().startswith(("-", "*", "+"))


def _is_prose(line: str) -> bool:
    return bool(line) and _is_sentence(line) and _LAYOUT.match(line) is None and _FIELD.match(line) is None


@lru_cache(maxsize=1)
def _without_examples(text: str) -> str:
    """Drops code below the first sentence. Cached: a page is asked for twice in a row."""
    kept: list[str] = []
    in_code = begun = False
    for line in text.split("\n"):
        fence = _CODE.match(line.strip()) is not None
        if fence:
            in_code = not in_code
        if begun and (in_code or fence or _is_indented(line)):
            kept.append("")
            continue
        if not in_code and not line.startswith("#"):
            begun = begun or _is_sentence(line)
        kept.append(_CODE_SPAN.sub("", line) if begun else line)
    return "\n".join(kept)


@dataclass(slots=True)
class _EnclosedFields:
    """Reads a page line by line; what is in `held` counts when its lower ruler is found."""

    code: bool
    inside: _Inside = ""
    begun: bool = False
    """The page's first sentence has been read: from here on rulers and comments are a page's own."""
    gap: bool = False
    held: list[str] = field(default_factory=list)

    def names(self, line: str) -> Iterator[str]:
        """Yields the names for readers in a line, or in lines before it, that is meant for a program."""
        meant = self._meant(line)
        in_comment = self.inside == "comment"
        for found in (found for part in meant for found in _KEY.finditer(part)):
            if self._limits(found["name"], found["value"]):
                yield found["name"]
        if in_comment and _ENDS.search(line):
            self.inside = ""

    def _limits(self, name: str, value: str) -> bool:
        if self.inside == "comment" and self.begun:
            one_word = _ONE_WORD.match(f"{name}: {value}") is not None
            return surely_limits(name) and (names_readers(value) or one_word)
        return len(name.split()) <= 3 and closes(name, value)

    def _meant(self, line: str) -> list[str]:
        match self.inside:
            case "comment":
                return [line]
            case "ruler":
                return self._between(line)
            case "code":
                self.inside = "" if _CODE.match(line) else "code"
                return [line] if self.inside and self.code and not self.begun else []
            case _:
                return self._outside(line)

    def _outside(self, line: str) -> list[str]:
        opens = _OPENS.match(line)
        match opens and opens.lastgroup:
            case "code":
                self.inside = "code"
            case "ruler":
                self.inside, self.gap, self.held = "ruler", False, []
            case "comment" | "remark" as kind if opens and not (kind == "remark" and self.begun):
                self.inside = "comment" if kind == "comment" else ""
                return [line[opens.end() :]]
            case _:
                self.begun = self.begun or _is_prose(line)
        return []

    def _between(self, line: str) -> list[str]:
        if _RULER.match(line) or _CODE.match(line):
            held, self.held = self.held, []
            self.inside = "ruler" if not held and _RULER.match(line) else ""
            return held
        if not line:
            self.gap = True
            self.inside = "ruler" if self.held else ""
            return []
        if _FIELD.match(line) and not (self.gap and self.begun):
            self.held.append(line)
            return [] if self.begun else [line]
        if self.gap or self.begun:
            self.inside, self.held = "", []
            return self._outside(line)
        return []
