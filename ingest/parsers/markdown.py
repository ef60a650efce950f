"""Markdown (plain, GitHub's, MDX, ERB and Liquid pages) to sections under their heading paths.

The text of a block is the page's own Markdown, cut out by line numbers, not a rendering: it is what gets quoted.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference

from ingest.errors import PageError
from ingest.front_matter import mentions_a_limit, split_front_matter
from ingest.parsers.dialects import drop_dialects
from ingest.parsers.html import html_to_markdown
from ingest.parsers.outline import Outline, Part, block_parser, parsed_page
from ingest.parsers.page import ParsedPage
from ingest.parsers.pictures import description
from ingest.parsers.shelter import References, Shelter
from ingest.parsers.slugs import Slugs
from ingest.parsers.text import cleaned, title_from

SUFFIXES = (".html.md.erb", ".md.erb", ".markdown", ".mdx", ".md")

_PICTURE = re.compile(
    r"\[!\[(?P<linked>[^\[\]]*)\]\([^()\s]*(?:\s+[^()]*)?\)\]\([^()\s]*\)"
    r"|!\[(?P<alone>[^\[\]]*)\]\([^()\s]*(?:\s+[^()]*)?\)"
)
_LINK_TITLE = re.compile(
    r"(\]\([ \t]*(?:<[^<>\n]*>|[^()\s<>]*(?:\([^()\s]*\)[^()\s]*)*))\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\))[ \t]*\)"
)
"""Shown while a mouse rests on the link, so unseen by most readers."""
_FOOTNOTE = re.compile(r"^([ ]{0,3}\[\^[^\]\s]+\]):", re.MULTILINE)
_REFERENCE = re.compile(
    r"^[ ]{0,3}\[[^\[\]]+\]:"  # a definition, which stays as it is
    r"|\[([^\[\]]+)\](?:\[([^\[\]]*)\]|(?![(\[]))",
    re.MULTILINE,
)


def parse_markdown(content: bytes, *, path: str) -> ParsedPage:
    """Reads a page; `path` tells the dialect and names a page without a title.

    Raises:
        PageError: not text, nothing but white space, or limited to readers that cannot be told.
    """
    front, body = split_front_matter(_decoded(content))
    markdown = _markdown(mdx=path.endswith(".mdx"))
    text = _plain_markdown(body, markdown, title=front.title or "", mdx=path.endswith(".mdx"))
    outline = Outline([Part(text=text)], markdown, anchors=Slugs().claim)
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


def _markdown(*, mdx: bool) -> MarkdownIt:
    parser = block_parser()
    return parser.disable("code") if mdx else parser  # in MDX, indented text is the content of a component


def _plain_markdown(body: str, markdown: MarkdownIt, *, title: str, mdx: bool) -> str:
    """The body with generator syntax and HTML gone, and with links that say where they lead."""
    body = _FOOTNOTE.sub(
        r"\1", body
    )  # else `[^1]: https://...` would be taken for a link's address and vanish
    references: References = {}
    shelter = Shelter()
    text = shelter.hide(body, markdown, references)
    text = drop_dialects(text, title=title, mdx=mdx)
    text = html_to_markdown(text, mdx=mdx)
    text = _LINK_TITLE.sub(r"\1)", text)
    text = _PICTURE.sub(
        lambda found: found[0] if description(found["linked"] or found["alone"] or "") else "", text
    )
    text = _REFERENCE.sub(lambda found: _resolved(found, references), text)
    return shelter.restore(text)


def _resolved(found: re.Match[str], references: References) -> str:
    """`[text][label]` with the address in the place of the label: a passage is read without the page's end."""
    target = references.get(normalizeReference(found[2] or found[1])) if found[1] else None
    return f"[{found[1]}]({target['href']})" if target else found[0]
