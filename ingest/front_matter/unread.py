"""Limits that nobody reads: an author named the readers of a page where, or in a way that, no program takes in.

Three signs, in the text as it looks (`lookalikes`). Anywhere: a name for readers at the start of a
line, a cell or a comment, with one of Slack's names for its value (`| Audience | #leads |`); words that
describe readers ("Audience: all staff") limit nobody. Between two rulers, and in what stands above a page's
first sentence in a fence, a comment or a block of code: a name for readers, whatever its value. Code further
down shows how something is written, and is not meant.
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
from ingest.front_matter.marked import named_by_marks

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
_BARE = re.compile(
    r"(?:^|\W)(?P<name>audiences?)(?=\W)[^\w\n]*?(?:[:=|({\t\]]|'\s+content=|\"\s+content=|#\s)[^\w\n"
    r"]*(?P<value>[\w-]+)[^\w\n]*$"
    r"|^\W*(?P<named>[Aa]udiences?|AUDIENCE)\b[^:=\n#@]{0,20}[:=][^\n#@]{0,16}[#@](?P<mark>\w)"
)
"""A field though nothing says so but its small letter, or one of Slack's
names; "Audience: engineers" describes them.
"""
_NAMED = re.compile("[Aa]udience|AUDIENCE")
"""A quick look: without a match nothing is bare."""
_ONE_WORD = re.compile(r"audiences?: [\"']?[\w-]+[^\w\n]*$")
_TAG = re.compile(r"</?(?!meta\b)\w+[^<>]{0,200}>")
_SENTENCE = re.compile(r"(?<!\w)[^\W\d_]+(?:[^\w\n:=|]{1,9}\w+){3}")
_CODE_SPAN = re.compile(r"`[^`\n]*[:=][^`\n]*`")
_QUOTE = re.compile(r"^(?:[ \t]*>[ \t]?)+|^[ ]{0,3}\[\^[^\]\s]{1,40}\]:[ \t]*", re.MULTILINE)
"""Marks of a quotation, or of a note, before what a line says."""


def refuse_unread_limits(text: str, *, marks: bool = True, fields: bool = True, code: bool = True) -> None:
    """`marks`: Slack's names count anywhere, and a field that stands
    alone. `fields`: so does what is fenced or in a comment;
    `code`: and code at the top.

    Raises:
        PageError: the page has readers of its own that nobody would keep it to.
    """
    looks = _QUOTE.sub("", plainly(text))
    name = next(_named(looks), None) if marks else None
    if name is None and marks and fields:
        shown = looks if "&lt;" not in text else _QUOTE.sub("", plainly(text.replace("&lt;", "(")))
        name = next(named_by_marks(_without_examples(shown), _is_prose), None)
    if name is None and fields:
        name = next(_Enclosed(code=code, bare=marks).limits(looks), None)
    if name is not None:
        raise PageError(
            f"it names its readers (`{name}`) in front matter that is none, where it is not read: "
            f"begin and end it with a line "
            "of three dashes, and let nothing stand above it; or write `audience: everyone` there, "
            "for all of the company",
            withdraw=True,
        )


def _named(text: str) -> Iterator[str]:
    """Names for readers that have a channel, a group or a person for their value."""
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
            yield before["name"].strip()


def _is_limit(name: str, gap: str, text: str, at: int) -> bool:
    if len(name.split()) > 3 or is_word_of_pages(name) or not surely_limits(name):
        return False
    if "](" in gap:
        return False  # a link to a heading
    if _SEPARATOR.search(gap.replace("\n", "")):
        return True
    return _ONLY_MARKS.match(text, at) is not None


def _is_sentence(line: str) -> bool:
    return _SENTENCE.search(line[:_LINE]) is not None


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
        indented = line.startswith(("    ", "\t")) and not line.lstrip().startswith(("-", "*", "+"))
        if begun and (in_code or fence or indented):
            kept.append("")
            continue
        if not in_code and not line.startswith("#"):
            begun = begun or _is_sentence(line)
        kept.append(_CODE_SPAN.sub("", line) if begun else line)
    return "\n".join(kept)


@dataclass(slots=True)
class _Enclosed:
    """Reads a page line by line; what is held in `held` counts when its lower ruler is found."""

    code: bool
    bare: bool
    inside: _Inside = ""
    begun: bool = False
    """The page's first sentence has been read: from here on rulers and comments are a page's own."""
    gap: bool = False
    held: list[str] = field(default_factory=list)

    def limits(self, text: str) -> Iterator[str]:
        bare = self.bare and _NAMED.search(text) is not None
        for line in text.split("\n"):
            if bare and not self.begun and (name := self._bare(line[:_LINE])):
                yield name
            line = line[:_LINE].strip()
            if self.inside:
                for one in self._said(line):
                    yield from self._in(one)
            elif (said := self._outside(line)) is not None:
                yield from self._in(said)
                self._ends_with(line)

    def _in(self, said: str) -> Iterator[str]:
        return (found["name"].strip() for found in _KEY.finditer(said) if self._limits(found))

    def _bare(self, line: str) -> str | None:
        if self.inside or not _NAMED.search(line):
            return None
        found = _BARE.search(_TAG.sub(" ", line))
        if found is None or (found["value"] and not closes(found["name"], found["value"])):
            return None
        return found["name"] or found["named"]

    def _limits(self, found: re.Match[str]) -> bool:
        name, value = found["name"], found["value"]
        if self.inside == "comment" and self.begun:
            return surely_limits(name) and (
                names_readers(value) or _ONE_WORD.match(f"{name}: {value}") is not None
            )
        return len(name.split()) <= 3 and closes(name, value)

    def _said(self, line: str) -> Iterator[str]:
        """What of a line within something, or of lines before it, is meant for a program."""
        if self.inside == "comment":
            yield line
            self._ends_with(line)
        elif self.inside == "code":
            if _CODE.match(line):
                self.inside = ""
            elif not self.begun and self.code:
                yield line
        elif self.inside == "ruler":
            yield from self._between(line)

    def _outside(self, line: str) -> str | None:
        opens = _OPENS.match(line)
        kind = opens.lastgroup if opens else None
        if opens is None or (kind == "remark" and self.begun):
            self.begun = self.begun or _is_prose(line)
        elif kind == "code":
            self.inside = "code"
        elif kind == "ruler":
            self.inside, self.gap, self.held = "ruler", False, []
        else:
            self.inside = "comment" if kind == "comment" else ""
            return line[opens.end() :]
        return None

    def _ends_with(self, line: str) -> None:
        if self.inside == "comment" and _ENDS.search(line):
            self.inside = ""

    def _between(self, line: str) -> Iterator[str]:
        if _RULER.match(line) or _CODE.match(line):
            yield from self.held
            self.inside, self.held = ("ruler", []) if not self.held and _RULER.match(line) else ("", [])
        elif not line:
            self.gap = True
            if not self.held:
                self.inside = ""
        elif _FIELD.match(line) and not (self.gap and self.begun):
            self.held.append(line)
            if not self.begun:
                yield line
        elif self.gap or self.begun:
            self.inside, self.held = "", []
            if (said := self._outside(line)) is not None:
                yield said
                self._ends_with(line)
