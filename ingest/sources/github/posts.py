"""The Markdown of one post, so that it can stand on a page with others: nothing in it reaches beyond its end.

What GitHub does not show (HTML comments, of which issue templates are full) goes. `#123`, `@name` and
addresses stay the words that they are. A heading in a post is one below the page's own; in a remark, of which
many stand under one heading, it is a line of text. A fence or a tag that its author forgot to close is
closed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark").enable("table")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_ATX = re.compile(r"#{1,6}(?=[ \t]|$)")
_CLOSING_HASHES = re.compile(r"[ \t]+#+[ \t]*$")
_FILTERED = re.compile(
    r"<(?=[?!]|/?(?:title|textarea|style|xmp|iframe|noembed|noframes|script|plaintext)\b)", re.IGNORECASE
)
"""Tags that GitHub shows as text (https://github.github.com/gfm/#disallowed-raw-html-extension-),
and `<?php`, code for which its author forgot the fence.
"""
_NO_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)((?:\s[^<>]*)?/?)>")
_HEADING_NAME = re.compile(r"[hH][1-6]")
_MAY_STAY_OPEN = frozenset({
    "area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
    "li", "p", "td", "th", "tr", "tbody", "thead", "tfoot", "dt", "dd", "pre",
})  # fmt: skip
"""Empty ones, those that HTML closes by itself, and `pre`, which is closed at the end of its block."""
_PRE = re.compile(r"<pre\b", re.IGNORECASE)
_END_OF_PRE = re.compile(r"</pre\b", re.IGNORECASE)
_WITHIN_PRE = re.compile(r"<pre\b.*?(?:</pre\b|\Z)", re.IGNORECASE | re.DOTALL)
_PARTS = re.compile(r"</?(?:li|p|td|th|tr|tbody|thead|tfoot|dt|dd)(?:\s[^<>]*)?/?>", re.IGNORECASE)
"""Tags that would end the code which `pre` shows: a fence in it would begin one then."""
_ATX_LINE = re.compile(r"[ \t]*(#{1,6})[ \t]+(.*)")
_UNDERLINE = re.compile(r"^[ \t]*(?==+[ \t]*$|-+[ \t]*$)", re.MULTILINE)
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_DEEPEST = 6
_BELOW = 2
"""The page's own headings have the levels 1 and 2."""

Heading = Callable[[int, str], str]
"""Level and words -> the line."""


def as_answer(text: str) -> str:
    return _bounded(text, lambda level, words: f"{'#' * min(_DEEPEST, level + _BELOW)} {words}")


def as_remark(text: str) -> str:
    return _bounded(text, lambda _, words: words)


def signed(author: str, text: str) -> str:
    """Puts a text under its author's name; empty where there is none."""
    if not text:
        return ""
    begins_with_prose = _PARSER.parse(text)[0].type == "paragraph_open"
    return f"**{author}**:{' ' if begins_with_prose else chr(10) * 2}{text}"


@dataclass(frozen=True, slots=True)
class _Tags:
    """HTML without comments; what GitHub shows as text is text, and headings are
    below the page's own. `dropped`: names of tags that would reach beyond the post.
    """

    write: Heading
    dropped: set[str]

    def shown(self, html: str) -> str:
        html = _TAG.sub(self._tag, _FILTERED.sub("&lt;", _COMMENT.sub("", html)))
        ended = html.rfind(">") + 1
        return html[:ended] + _NO_TAG.sub("&lt;", html[ended:])

    def _tag(self, found: re.Match[str]) -> str:
        closing, name, rest = found.groups()
        if name.lower() in self.dropped:
            return ""
        if not _HEADING_NAME.fullmatch(name):
            return found[0]
        level = self.write(int(name[1]), "").count("#")
        return f"<{closing}{f'h{level}' if level else 'p'}{rest}>"


def _unbalanced(tokens: list[Token]) -> set[str]:
    """Names of tags that the post closes before it opens them, or never."""
    parts = [part for token in tokens for part in (token, *(token.children or ()))]
    html = [part.content for part in parts if part.type in ("html_block", "html_inline")]
    opened, stray = Counter[str](), set[str]()
    for closing, name, rest in _TAG.findall(_COMMENT.sub("", "\n".join(html))):
        name = name.lower()
        opened[name] += -1 if closing else not rest.endswith("/")
        if opened[name] < 0:
            stray.add(name)
    return (stray | {name for name, times in opened.items() if times}) - _MAY_STAY_OPEN


def _bounded(text: str, write: Heading) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    tokens = _PARSER.parse("\n".join(lines))
    tags = _Tags(write, dropped=_unbalanced(tokens))
    for token in reversed(tokens):
        if token.map is None:
            continue
        start, end = token.map
        match token.type:
            case "html_block":
                lines[start:end] = _shown("\n".join(lines[start:end]), write, tags)
            case "inline":
                lines[start:end] = _paragraph(lines[start:end], token, tags)
            case "heading_open" if token.level == 0:
                lines[start:end] = [write(int(token.tag[1]), _words(lines[start:end], token)), ""]
            case "hr" if token.level == 0 and lines[start - 1].strip():
                lines[start:start] = [""]  # under a footnote, as for code below
            case "fence":
                lines[end:end] = _missing_fence(lines[start:end], token)
    return "\n".join(lines).strip("\n").rstrip()


def _shown(block: str, write: Heading, tags: _Tags) -> list[str]:
    """Writes a block of HTML as a reader sees it, which ends where the post does. What looks
    like Markdown in it will be Markdown once the tags are gone, but for what code shows.
    """
    lines: list[str] = []
    fence, deep = "", 0
    html = _WITHIN_PRE.sub(lambda code: _PARTS.sub("", code[0]), tags.shown(block))
    for line in html.split("\n"):
        is_code = bool(fence) or deep > 0
        if deep:  # it does not nest
            line = _PRE.sub("&lt;pre", line)
        if not fence:
            deep = max(0, min(1, deep + len(_PRE.findall(line)) - len(_END_OF_PRE.findall(line))))
        mark = _FENCE.match(line)
        if mark and fence and mark[1].startswith(fence) and not line[mark.end() :].strip():
            fence = ""
            lines += [line, ""]
        elif mark and not is_code and not deep:
            fence = mark[1]
            lines += ["", line]  # an empty line ends the HTML, so that it is a fence
        else:
            lines.append(line if is_code or deep else _line(line, write))
    return lines + ["</pre>"] * deep + ([fence] if fence else [])


def _line(line: str, write: Heading) -> str:
    if found := _ATX_LINE.fullmatch(line):
        return write(len(found[1]), found[2])
    return _UNDERLINE.sub(r"\g<0>\\", line)


def _paragraph(lines: list[str], token: Token, tags: _Tags) -> list[str]:
    """Writes a paragraph or a heading as a reader sees it. `<` that opens no tag is a word; code stays as it is."""
    text, end = "\n".join(lines), 0
    for child in token.children or ():
        if child.type not in ("text", "html_inline", "code_inline"):
            continue
        found = text.find(child.content, end)
        if found < 0:
            continue
        shown = child.content
        if child.type == "html_inline":
            shown = tags.shown(shown)
        elif child.type == "text":
            shown = _NO_TAG.sub("&lt;", shown)
        text = text[:found] + shown + text[found + len(child.content) :]
        end = found + len(shown)
    kept = _UNDERLINE.sub(r"\g<0>\\", text).split("\n")  # under a footnote it would make a heading of it
    return kept + [""] * (len(lines) - len(kept))  # the lines of what comes before keep their numbers


def _words(lines: list[str], token: Token) -> str:
    """Returns the words of a heading with hashes, or underlined."""
    if token.markup in ("=", "-"):
        return " ".join(line.strip() for line in lines[:-1] if line.strip())
    return _CLOSING_HASHES.sub("", _ATX.sub("", lines[0], count=1)).strip()


def _missing_fence(lines: list[str], token: Token) -> list[str]:
    """Returns the fence that closes open code; one in a list or a quotation ends with it and needs none."""
    mark = re.escape(token.markup[0])
    closing = re.compile(rf" {{0,3}}{mark}{{{len(token.markup)},}}[ \t]*")
    is_closed = len(lines) > 1 and any(closing.fullmatch(line) for line in lines[1:])
    return [] if token.level or is_closed else [token.markup]
