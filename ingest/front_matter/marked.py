"""Finds names for readers in plain lines and in markup: emphasis, comments, tags, directives, drawers of Org, folds.

`**Audience:** people-leads` right below a title, `[//]: # (audience: x)` anywhere, `<audience>`, `!!! audience "x"`,
`:AUDIENCE: x`. One word that can be a name of readers is enough, a sentence describes them; "Audience: engineers" in a
text does so in one word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ingest.front_matter.fields import key_of
from ingest.front_matter.language_words import words
from ingest.front_matter.limit_words import (
    BEGINS,
    CLASSES,
    CLOSED_WORDS,
    OPEN,
    is_closed_class,
    is_graded,
    is_limiting_label,
    is_name,
)
from ingest.front_matter.limits import closes, is_word_of_pages, surely_limits

_CODE_SPAN = re.compile(r"`[^`\n]*[<:][^`\n]*`")
_AROUND = re.compile(
    (
        r"[*_`]{1,3}|</?(?:b|i|em|strong|code|span|u|p|li|summary|details|mark|kbd|small|sub|sup|font|div)\b[^<>\n"
        r"]{0,200}>"
    ),
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"[^\w\n:\[]{0,12}(?P<name>[^\W\d][\w .-]{0,40}?)[ \t]{0,4}(?::{1,2}|[=|]|[ \t]-+[ \t])(?P<value>[^\n]{1,120})"
)
_ALONE = re.compile(r"[^\w\n\[]{0,12}(?P<name>[^\W\d][\w .-]{0,40}?)[^\w\n]{0,8}")
"""A heading, or a name whose value is on the next line."""
_BESIDE = re.compile(r"\s[|·•]\s")
_AND = re.compile(r"[,;/&|]|\s(?:and|or|und|oder|en|of|et|ou|y|e)\s|\s(?:only|nur|alleen)\b")
_LISTED = re.compile(r"[ \t>*]{0,8}:(?P<name>[^\W\d][\w .-]{0,40}?):[ \t]+(?P<value>[^\n]{1,200})")
_KEYWORD = re.compile(r"(?:^|[\s{,(\[]):(?P<name>[^\W\d][\w-]{0,40})[ \t]+[\"'\[{#:(]*(?P<value>\w[\w-]*)")
_TOKEN = re.compile(r"[^\w\n]*(?P<word>\w[\w./-]*)[^\w\n]*")
_NO_WORD = re.compile(r"[-_/\d]|(?<=[a-z])[A-Z]")
"""What words of a language have not, and names of channels and groups have."""
_READERS = (
    r"(?P<name>(?:\w{1,20}[_-])?audiences?|(?:visible|restricted|limited|shared)[ _-](?:only[ "
    r"_-])?(?:to|with)|(?:readable|viewable)[ _-]by|readers|doelgroep|zielgruppe|destinataires)"
)
_IN_COMMENT = re.compile(
    rf"\b{_READERS}\b[^\w\n:=]{{0,4}}[:=]+[ \t]*(?P<value>[^\n;,<>]{{1,80}})", re.IGNORECASE
)
_REMARK = re.compile(
    r"^[ \t>]*\[[^\]\n]{1,40}\]:[ \t]*(?:#|<>)[ \t]*[(\"'](?P<said>[^\n]{1,2000})", re.MULTILINE
)
_COMMENTS = (("<!--", "-->"), ("/*", "*/"), ("{#", "#}"), ("%%", "%%"))
_TAG = re.compile(
    r"<[?/!]?(?:\w{1,30}[:-])?audiences?(?:-\w{1,30})?(?=[\s>/?=])[^<>\n]{0,300}[>?]", re.IGNORECASE
)
_ATTRIBUTE = re.compile(
    (
        r"<\w[^<>\n"
        r"]{0,300}\s(?:data-)?(?:(?:name|itemprop|property|key|rel)\s*=\s*[\"']?)?(?P<name>audiences?)\b[\"']?\s*[^<>\n"
        r"]{0,300}>"
    ),
    re.IGNORECASE,
)
_DIRECTIVE = re.compile(
    r"^[ \t>]*(?:!!!\+?|\?{3}\+?|:{3,}|\.\.[ \t]|@)[ "
    r"\t]*(?:\{?(?:container|class|admonition|topic|rubric|directive)(?:::|\})?[ \t]+)?\{?\.?"
    r"(?P<name>audiences?)(?:-[\w-]+)?\b(?![ \t]+(?:is|are|of|for|and|in)\b)",
    re.MULTILINE | re.IGNORECASE,
)
_ONLY = re.compile(r"^[ \t]*\.\.[ \t]+(?P<name>only)::[ \t]+(?P<value>[^\n]{1,80})", re.MULTILINE)
_BUILDERS = words("""
    html singlehtml dirhtml builder latex pdf epub text man texinfo xml json gettext draft not and or builder_html builder_latex
    builder_epub latexpdf singlepage format_html format_latex htmlhelp qthelp
    """)
"""What `.. only::` of Sphinx names that is no reader."""
_ORG_TAGS = re.compile(
    r"(?:#\+filetags:|\*{1,8}[ \t][^\n]{0,300}?)[ \t]*(?P<tags>(?::[\w@-]{1,40}){1,20}:)[ \t]*", re.IGNORECASE
)
_FOLDS = re.compile(r"<(/)?details\b", re.IGNORECASE)
_BARE = re.compile(
    r"(?:^|\W)(?P<name>audiences?)(?=\W)[^\w\n]*?(?:[:=|({\t\]]|'\s+content=|\"\s+content=|#\s)[^\w\n"
    r"]*(?P<value>[\w-]+)[^\w\n]*$"
    r"|^\W*(?P<named>[Aa]udiences?|AUDIENCE)\b[^:=\n#@]{0,20}[:=][^\n#@]{0,16}[#@](?P<mark>\w)"
)
"""A field though nothing says so but its small letter, or one of Slack's
names; "Audience: engineers" describes them.
"""
_ELEMENT = re.compile(r"</?(?!meta\b)\w+[^<>]{0,200}>")


def named_by_markup(text: str) -> Iterator[str]:
    """Yields names for readers in comments, tags, attributes and directives. `text`: as it looks, without examples."""
    shown = _CODE_SPAN.sub("", text)
    low = shown.lower()
    for comment in _comments(shown):
        for found in _IN_COMMENT.finditer(comment):
            if _limits(found["name"], found["value"], field=False):
                yield found["name"]
    if "audience" in low:
        for found in (
            found for pattern in (_TAG, _ATTRIBUTE, _DIRECTIVE) for found in pattern.finditer(shown)
        ):
            if not any(key_of(word) in OPEN for word in re.findall(r"(?<=[\"'>=])\w+", found[0])):
                yield "audience"
    if ".. only::" in low:
        for found in _ONLY.finditer(shown):
            if not _BUILDERS.issuperset(re.findall(r"[\w-]+", found["value"].lower())):
                yield "only"


@dataclass(slots=True)
class PlainFields:
    """Reads a page line by line: fields above its first sentence and in folds; those of a list of fields anywhere."""

    folds: int = 0
    above: str = ""
    """The name on the line before, whose value may be on this one."""

    def names(self, line: str, *, begun: bool, in_code: bool) -> Iterator[str]:
        """Yields the names for readers. `begun`: the first sentence stands above; `in_code`: in a block of code."""
        for fold in _FOLDS.finditer(line) if "<" in line else ():
            self.folds = max(0, self.folds - 1) if fold[1] else self.folds + 1
        if (listed := _LISTED.match(line)) and _limits(listed["name"], listed["value"], field=True):
            yield listed["name"]
        if (tags := _ORG_TAGS.fullmatch(line)) and is_limiting_label("tags", tags["tags"]):
            yield tags["tags"]
        if begun and not self.folds:
            return
        plain = _AROUND.sub("", line)
        for part in (plain, *_BESIDE.split(plain)):
            if (found := _FIELD.match(part)) and _limits(found["name"], found["value"], field=False):
                yield found["name"]
        if plain.strip():
            if self.above and _limits(self.above, plain, field=False):
                yield self.above
            alone = _ALONE.fullmatch(plain)
            self.above = alone["name"] if alone and _may_limit(alone["name"]) else ""
        if begun:
            return
        if (keyword := _KEYWORD.search(plain)) and _limits(keyword["name"], keyword["value"], field=True):
            yield keyword["name"]
        bare = None if in_code or "audience" not in line.lower() else _BARE.search(_ELEMENT.sub(" ", line))
        if bare and (bare["named"] or closes(bare["name"], bare["value"])):
            yield bare["name"] or bare["named"]


def _comments(text: str) -> Iterator[str]:
    yield from (remark["said"] for remark in _REMARK.finditer(text))
    for opening, closing in _COMMENTS:
        start = text.find(opening)
        while start >= 0 and (end := text.find(closing, start + len(opening))) >= 0:
            yield text[start + len(opening) : end]
            start = text.find(opening, end + len(closing))


def _limits(name: str, value: str, *, field: bool) -> bool:
    """Tells whether a name and a value limit readers.

    `field`: they are a field by their form. Elsewhere one word of a language describes readers, unless the name is
    written as that of a field.
    """
    if len(name.split()) > 3 or not _may_limit(name):
        return False
    if is_closed_class(key_of(name), value) or (is_name(key_of(name)) and key_of(value) in CLOSED_WORDS):
        return True
    parts = [part.strip() for part in _AND.split(value) if part.strip(" \t*_|.")]
    named = [word["word"] for part in parts if (word := _TOKEN.fullmatch(part))]
    if not named or len(named) < len(parts):
        return False
    if not (field or (name.strip().islower() and len(named) == 1) or all(map(_NO_WORD.search, named))):
        return False
    return surely_limits(name) and closes(name, value)


@lru_cache(maxsize=4096)
def _may_limit(name: str) -> bool:
    """Tells whether a name's value is worth a look; cached, as a table has one name a thousand times."""
    key = key_of(name)
    return not is_word_of_pages(name) and (
        surely_limits(name) or is_name(key) or is_graded(key) or key in CLASSES | BEGINS
    )
