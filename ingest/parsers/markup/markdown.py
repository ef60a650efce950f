"""Parses Markdown, plain or as a site generator has it (`dialects.py`)."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference

from ingest.errors import PageError
from ingest.front_matter.front_matter import FrontMatter
from ingest.front_matter.page_fields import mentions_a_limit, split_front_matter
from ingest.page import ParsedPage
from ingest.parsers.markup.code_masking import CodeMask, References
from ingest.parsers.markup.dialects import NO_DIALECT, Dialect
from ingest.parsers.markup.generator_syntax import drop_syntax, unfold
from ingest.parsers.markup.html import html_to_markdown
from ingest.parsers.outline import Outline, Part, Slugs, block_parser, parsed_page
from ingest.parsers.pictures import description
from ingest.parsers.text import cleaned, title_from

SUFFIXES = (".html.md.erb", ".md.erb", ".markdown", ".mdx", ".md")

_PICTURE = re.compile(
    r"\[!\[(?P<linked>[^\[\]]*)\]\([^()\s]*(?:\s+[^()]*)?\)\]\([^()\s]*\)"
    r"|!\[(?P<alone>[^\[\]]*)\]\([^()\s]*(?:\s+[^()]*)?\)"
)
_LINK_TITLE = re.compile(
    r"(\]\([ \t]*(?:<[^<>\n]*>|[^()\s<>]*(?:\([^()\s]*\)[^()\s]*)*))\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\))[ \t]*\)"
)
"""The title of a link, shown while a mouse rests on it, so unseen by most readers."""
_NOTE = re.compile(
    r"(\A\s*-{3,}[ \t]*\n(?:(?!-{3,}[ \t]*$|[ \t]*[`~]{3})[^\n]*\n)+)(?=-{3,}[ \t]*$)", re.MULTILINE
)
"""A text between two rulers that is no front matter. The second ruler would make a heading of its last paragraph."""
_ANCHOR_LIKE = re.compile(
    r"(^[ ]{0,3}#{1,6}[ \t](?:[^\n{]|\{(?!#))*)(?=\{#[^{}\n]*\}[ \t]*(?:#+[ \t]*)?$)"
    r"|()(?=\{#[^{}\n]*\}(?:[ \t]*\n[ ]{0,3}(?:=+|-+)[ \t]*$|\s*</h[1-6]\b))",
    re.MULTILINE | re.IGNORECASE,
)
"""The position before a heading's last word that looks like its anchor."""
_BAR_ENTITY = re.compile(r"&(?:#124|#x7c|vert|verbar|VerticalLine);", re.IGNORECASE)
_FOOTNOTE = re.compile(r"^([ ]{0,3}\[\^[^\]\s]+\]):", re.MULTILINE)
_REFERENCE = re.compile(
    r"^[ ]{0,3}\[[^\[\]]+\]:"  # a definition, which stays as it is
    r"|\[([^\[\]]+)\](?:\[([^\[\]]*)\]|(?![(\[]))",
    re.MULTILINE,
)
_FIELD = re.compile(r"(?P<name>[^:=\n]+?)[ \t]*[:=](?:[ \t]+(?P<value>.*))?")
_CONTINUED_FIELD = re.compile(r"[ \t]|-[ \t]|-$|[#\]\[{}]|(?:-{3}|\+{3}|;{3}|\.{3})\w*[ \t]*$")
"""An indented line, an entry of a list, a comment, a bracket, or the fence itself."""
_FIELD_NAME = re.compile(r"[\"']?[\w.@/-]+[\"']?")
_SITE_FIELDS = """
abstract author authors bio categories category created date description draft excerpt id intro keywords lang language
layout lead meta owner permalink published seo slug status subtitle summary tagline tags teaser title type updated
version weight
"""
_FIELD_NAMES = frozenset(_SITE_FIELDS.split())
"""Site generators' fields. One of them makes a block front matter, whatever the others are."""
_SENTENCE = 5
_CAPITALISED_SENTENCE = 3
"""Words. Names of fields are in lower case as a rule."""


def parse_markdown(content: bytes, *, path: str, dialect: Dialect = NO_DIALECT) -> ParsedPage:
    """Parses a page; `path` titles one without a title.

    Args:
        dialect: from `dialect_of`; by default no brace is a generator's.

    Raises:
        PageError: it is not text, has nothing but white space, or is restricted to readers that cannot be told.
    """
    text = _decoded(content)
    front, body = split_front_matter(text)
    head = text[: len(text) - len(body)]
    if replace(front, notes=()) == FrontMatter() and _is_note(head):
        front, head, body = FrontMatter(), "", text
    dialect = dialect.refined_by(head)
    if not head:
        body = _NOTE.sub(r"\1\n", body)
    markdown = _markdown(mdx=dialect.has("jsx"))
    plain = _plain_markdown(body, markdown, dialect, title=front.title or "")
    outline = Outline(plain, parser=markdown, slugs=Slugs(), own_anchors=True)
    title = front.title or outline.first_title or title_from(path)
    return parsed_page(title, outline, front)


def _decoded(content: bytes) -> str:
    """Decodes UTF-8, or UTF-16 with its mark. Never guesses: front matter decides who may read the page."""
    utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        text = content.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise PageError(
            f"it is not UTF-8 text (byte {error.start}): save it as UTF-8", withdraw=mentions_a_limit(content)
        ) from error
    if "\0" in text:
        raise PageError("it is not text but binary data", withdraw=mentions_a_limit(content))
    return cleaned(text)


@cache
def _markdown(*, mdx: bool) -> MarkdownIt:
    parser = block_parser()
    return parser.disable("code") if mdx else parser  # in MDX, indented text is the content of a component


def _plain_markdown(body: str, markdown: MarkdownIt, dialect: Dialect, *, title: str) -> Part:
    """Drops generator syntax and HTML from the body, and writes the addresses of links into them."""
    references: References = {}
    mask = CodeMask(liquid=dialect.has("liquid"))
    text = mask.hide(unfold(body, dialect), markdown, references)
    # Without this, `[^1]: https://...` would be taken for a link's address and vanish.
    text = _FOOTNOTE.sub(r"\1", text)
    text = drop_syntax(text, dialect, title=title)
    if not dialect.anchored:
        text = _ANCHOR_LIKE.sub(r"\g<0>\\", text)
    text = _with_whole_rows(text, markdown, mdx=dialect.has("jsx"))
    text = html_to_markdown(text, mdx=dialect.has("jsx"))
    text = _LINK_TITLE.sub(r"\1)", text)
    text = _PICTURE.sub(
        lambda found: found[0] if description(found["linked"] or found["alone"] or "") else "", text
    )
    text = _REFERENCE.sub(lambda found: _resolved(found, references, mask), text)
    text = mask.restore(text)
    return Part(text=text, blocks=mask.blocks(text))


def _with_whole_rows(text: str, markdown: MarkdownIt, *, mdx: bool) -> str:
    """Rewrites the HTML in rows of tables, and the entities of bars, which would tear the rows."""
    lines = text.split("\n")
    if not any(map(_may_be_torn, lines)):
        return text
    for token in markdown.parse(text, {"references": {}}):
        if token.type == "table_open" and token.map:
            for number in range(*token.map):
                line = lines[number]
                if _may_be_torn(line):
                    row = html_to_markdown(_BAR_ENTITY.sub(r"\\|", line), mdx=mdx)
                    # Its indentation keeps it in its list.
                    lines[number] = line[: len(line) - len(line.lstrip())] + " ".join(row.split())
    return "\n".join(lines)


def _may_be_torn(line: str) -> bool:
    return "|" in line and ("<" in line or "&" in line)


def _resolved(found: re.Match[str], references: References, mask: CodeMask) -> str:
    """Replaces the label of `[text][label]` by its address: a passage is read without the page's end."""
    label = mask.restore(found[2] or found[1] or "")
    target = references.get(normalizeReference(label)) if label and label[0] != "^" else None
    return f"[{found[1]}]({target['href']})" if target else found[0]


def _is_note(head: str) -> bool:
    """Whether a block between rulers, of which no field is understood, is sentences for readers ("Note: we moved.")
    and no front matter, though YAML would read it.
    """
    lines = [line.rstrip() for line in head.splitlines() if line.strip() and not _CONTINUED_FIELD.match(line)]
    fields = [_FIELD.fullmatch(line) for line in lines]
    if any(field and field["name"].strip("\"'").lower() in _FIELD_NAMES for field in fields):
        return False
    return any(field is None or _is_sentence(field["name"], field["value"] or "") for field in fields)


def _is_sentence(name: str, value: str) -> bool:
    if not _FIELD_NAME.fullmatch(name):
        return True
    if value.startswith(("[", "{", '"', "'")):
        return False
    return len(value.split()) >= (_CAPITALISED_SENTENCE if name.strip("\"'")[:1].isupper() else _SENTENCE)
