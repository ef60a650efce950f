"""Markdown, plain or as a site generator has it (`dialects.py`), to sections under their heading paths.

The text of a block is the page's own Markdown, cut out by line numbers, not a rendering: it is what gets quoted.
"""

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
from ingest.parsers.markup.code_masking import References, Shelter
from ingest.parsers.markup.dialects import NO_DIALECT, Dialect
from ingest.parsers.markup.generator_syntax import drop_syntax, unfold
from ingest.parsers.markup.html import html_to_markdown
from ingest.parsers.markup.slugs import Slugs
from ingest.parsers.outline import Outline, Part, block_parser, parsed_page
from ingest.parsers.pictures import description
from ingest.parsers.text import cleaned, title_from
from ingest.parsers.top_notes import is_note

SUFFIXES = (".html.md.erb", ".md.erb", ".markdown", ".mdx", ".md")

_PICTURE = re.compile(
    r"\[!\[(?P<linked>[^\[\]]*)\]\([^()\s]*(?:\s+[^()]*)?\)\]\([^()\s]*\)"
    r"|!\[(?P<alone>[^\[\]]*)\]\([^()\s]*(?:\s+[^()]*)?\)"
)
_LINK_TITLE = re.compile(
    r"(\]\([ \t]*(?:<[^<>\n]*>|[^()\s<>]*(?:\([^()\s]*\)[^()\s]*)*))\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\))[ \t]*\)"
)
"""Shown while a mouse rests on the link, so unseen by most readers."""
_NOTE = re.compile(
    r"(\A\s*-{3,}[ \t]*\n(?:(?!-{3,}[ \t]*$|[ \t]*[`~]{3})[^\n]*\n)+)(?=-{3,}[ \t]*$)", re.MULTILINE
)
"""A text between two rulers that is no front matter. The second one would make a heading of its last paragraph."""
_ANCHOR_LIKE = re.compile(
    r"(^[ ]{0,3}#{1,6}[ \t](?:[^\n{]|\{(?!#))*)(?=\{#[^{}\n]*\}[ \t]*(?:#+[ \t]*)?$)"
    r"|()(?=\{#[^{}\n]*\}(?:[ \t]*\n[ ]{0,3}(?:=+|-+)[ \t]*$|\s*</h[1-6]\b))",
    re.MULTILINE | re.IGNORECASE,
)
"""In front of what would be the address of a heading, were it not its last word."""
_BAR_ENTITY = re.compile(r"&(?:#124|#x7c|vert|verbar|VerticalLine);", re.IGNORECASE)
_FOOTNOTE = re.compile(r"^([ ]{0,3}\[\^[^\]\s]+\]):", re.MULTILINE)
_REFERENCE = re.compile(
    r"^[ ]{0,3}\[[^\[\]]+\]:"  # a definition, which stays as it is
    r"|\[([^\[\]]+)\](?:\[([^\[\]]*)\]|(?![(\[]))",
    re.MULTILINE,
)


def parse_markdown(content: bytes, *, path: str, dialect: Dialect = NO_DIALECT) -> ParsedPage:
    """Reads a page; `path` names one without a title. `dialect`: see
    `dialect_of`; by default no brace is a generator's.

    Raises:
        PageError: not text, nothing but white space, or limited to readers that cannot be told.
    """
    text = _decoded(content)
    front, body = split_front_matter(text)
    head = text[: len(text) - len(body)]
    if replace(front, notes=()) == FrontMatter() and is_note(head):
        front, head, body = FrontMatter(), "", text
    dialect = dialect.told_by(head)
    if not head:
        body = _NOTE.sub(r"\1\n", body)
    markdown = _markdown(mdx=dialect.has("jsx"))
    plain = _plain_markdown(body, markdown, dialect, title=front.title or "")
    outline = Outline([plain], markdown, anchors=Slugs().claim, own_anchors=True)
    title = front.title or outline.first_title or title_from(path)
    return parsed_page(title, outline, front)


def _decoded(content: bytes) -> str:
    """UTF-8, or UTF-16 with its mark. Not guessed: front matter decides who may read the page."""
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
    """The body with generator syntax and HTML gone, and with links that say where they lead."""
    references: References = {}
    shelter = Shelter(liquid=dialect.has("liquid"))
    text = shelter.hide(unfold(body, dialect), markdown, references)
    # else `[^1]: https://...` would be taken for a link's address and vanish
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
    text = _REFERENCE.sub(lambda found: _resolved(found, references, shelter), text)
    text = shelter.restore(text)
    return Part(text=text, blocks=shelter.blocks(text))


def _with_whole_rows(text: str, markdown: MarkdownIt, *, mdx: bool) -> str:
    """Rows of tables whose HTML, or whose entity for a bar, would have torn them."""
    lines = text.split("\n")
    if not any(map(_may_be_torn, lines)):
        return text
    for token in markdown.parse(text, {"references": {}}):
        if token.type == "table_open" and token.map:
            for at in range(*token.map):
                if _may_be_torn(lines[at]):
                    row = html_to_markdown(_BAR_ENTITY.sub(r"\\|", lines[at]), mdx=mdx)
                    lines[at] = " ".join(row.split())
    return "\n".join(lines)


def _may_be_torn(line: str) -> bool:
    return "|" in line and ("<" in line or "&" in line)


def _resolved(found: re.Match[str], references: References, shelter: Shelter) -> str:
    """`[text][label]` with the address in the place of the label: a passage is read without the page's end."""
    label = shelter.restore(found[2] or found[1] or "")
    target = references.get(normalizeReference(label)) if label and label[0] != "^" else None
    return f"[{found[1]}]({target['href']})" if target else found[0]
