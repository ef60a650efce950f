"""Markdown (plain, GitHub's, MDX, ERB and Liquid pages) to sections under their heading paths.

The text of a block is the page's own Markdown, cut out by line numbers, not a rendering: it is what gets quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from textwrap import dedent

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.token import Token

from ingest.errors import PageError
from ingest.front_matter import mentions_a_limit, split_front_matter
from ingest.parsers.dialects import drop_dialects
from ingest.parsers.html import html_to_markdown
from ingest.parsers.page import Block, ParsedPage, Section
from ingest.parsers.shelter import References, Shelter
from ingest.parsers.slugs import Slugs

SUFFIXES = (".html.md.erb", ".md.erb", ".markdown", ".mdx", ".md")

_MAX_TITLE = 200
_MAX_INTRO = 200
"""Characters of a line that may introduce a table or code and be repeated over its pieces."""
_HIDDEN_CHARACTERS = re.compile(
    "[\u00ad\u034f\u061c\u115f\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]"
)
"""Invisible to a reader, so not part of what a page says. The two joiners matter after a letter of Persian or Hindi."""
_CONTROL = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]")
_FOOTNOTE = re.compile(r"^([ ]{0,3}\[\^[^\]\s]+\]):", re.MULTILINE)
_REFERENCE = re.compile(r"\[([^\[\]]+)\](?:\[([^\[\]]*)\])?(?![(\[:])")
_INLINE = MarkdownIt("commonmark")
_EXPLICIT_ANCHOR = re.compile(r"\s*\{#([^}\s]+)[^}]*\}\s*$")


def parse_markdown(content: bytes, *, path: str) -> ParsedPage:
    """Reads a page; `path` tells the dialect and names a page without a title.

    Raises:
        PageError: not text, nothing but white space, or limited to readers that cannot be told.
    """
    front, body = split_front_matter(_decoded(content))
    markdown = _markdown(mdx=path.endswith(".mdx"))
    text = _plain_markdown(body, markdown, title=front.title or "", mdx=path.endswith(".mdx"))
    outline = _Outline(text.split("\n"), markdown.parse(text))
    title = front.title or outline.first_title or _title_from(path)
    sections = tuple(outline.sections(title))
    if not sections:
        raise PageError("it has no text", withdraw=True)
    return ParsedPage(title=title[:_MAX_TITLE], sections=sections, front=front)


def _decoded(content: bytes) -> str:
    utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        text = content.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise PageError(
            f"it is not UTF-8 text (byte {error.start}): save it as UTF-8", withdraw=mentions_a_limit(content)
        ) from error
    if "\0" in text:
        raise PageError("it is not text but binary data")
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    return _HIDDEN_CHARACTERS.sub("", _CONTROL.sub("", text))


def _markdown(*, mdx: bool) -> MarkdownIt:
    """A parser of block structure. Inline mark-up takes two thirds of the time and matters in headings only."""
    parser = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])
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
    text = _REFERENCE.sub(lambda found: _resolved(found, references), text)
    return shelter.restore(text)


def _resolved(found: re.Match[str], references: References) -> str:
    """`[text][label]` with the address in the place of the label: a passage is read without the page's end."""
    target = references.get(normalizeReference(found[2] or found[1]))
    return f"[{found[1]}]({target['href']})" if target else found[0]


def _title_from(path: str) -> str:
    parts = PurePosixPath(path).parts
    name = parts[-1]
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    if name.lower() in ("index", "readme") and len(parts) > 1:
        name = parts[-2]
    words = " ".join(re.sub(r"[-_]+", " ", name).split())
    return words[:1].upper() + words[1:] or path


@dataclass(kw_only=True, slots=True)
class _Draft:
    """A section while its blocks come in."""

    level: int
    heading: str
    anchor: str | None
    blocks: list[Block] = field(default_factory=list)
    heads: bool = False
    """Whether a deeper section follows, whose path carries this heading's words."""


class _Outline:
    """The top level of a parsed page. `lines` is the text that the tokens' line numbers refer to."""

    def __init__(self, lines: Sequence[str], tokens: Sequence[Token]) -> None:
        self._lines = lines
        self._drafts = list(self._drafted(tokens))

    @property
    def first_title(self) -> str | None:
        return next((draft.heading for draft in self._drafts if draft.level == 1), None)

    def sections(self, title: str) -> Iterator[Section]:
        """Sections with text. The heading that repeats the page's title opens the page and is in no path."""
        above: list[_Draft] = []
        for draft in self._drafts:
            is_title = draft.level == 1 and _same(draft.heading, title)
            above = [] if is_title else [head for head in above if head.level < draft.level]
            path = tuple(head.heading for head in above)
            if draft.level and not is_title:
                above.append(draft)
                path = (*path, draft.heading)
                if not draft.blocks and not draft.heads:
                    draft.blocks.append(Block(kind="prose", parts=(draft.heading,)))
            if draft.blocks:
                yield Section(
                    path=path, anchor=None if is_title else draft.anchor, blocks=tuple(draft.blocks)
                )

    def _drafted(self, tokens: Sequence[Token]) -> Iterator[_Draft]:
        slugs = Slugs()
        draft = _Draft(level=0, heading="", anchor=None)
        for index, token in enumerate(tokens):
            if token.type == "heading_open":
                heading, anchor = _heading(tokens[index + 1], slugs)
                if token.level == 0 and heading:
                    level = int(token.tag[1])
                    draft.heads = level > draft.level
                    yield draft
                    draft = _Draft(level=level, heading=heading, anchor=anchor)
                    continue
            if token.level == 0 and token.map:
                self._add(draft.blocks, token, tokens, index)
        yield draft

    def _add(self, blocks: list[Block], token: Token, tokens: Sequence[Token], index: int) -> None:
        block = self._block(token, tokens, index)
        if block is None:
            return
        intro = _intro(blocks[-1], block) if blocks else ""
        if intro:
            blocks.pop()
            lead = f"{intro}\n\n{block.lead}" if block.lead else f"{intro}\n"
            block = Block(kind=block.kind, parts=block.parts, lead=lead, tail=block.tail)
        blocks.append(block)

    def _block(self, token: Token, tokens: Sequence[Token], index: int) -> Block | None:
        assert token.map is not None
        start, end = token.map
        lines = dedent("\n".join(self._lines[start:end])).strip("\n").split("\n")
        match token.type:
            case "fence":
                closed = len(lines) > 1 and lines[-1].strip().startswith(token.markup)
                body, tail = (lines[1:-1], lines[-1]) if closed else (lines[1:], "")
                return Block(kind="code", parts=tuple(body), lead=lines[0], tail=tail) if any(body) else None
            case "code_block":
                return Block(kind="code", parts=tuple(self._lines[start:end]))
            case "table_open":
                return Block(kind="table", parts=tuple(lines[2:]), lead="\n".join(lines[:2]))
            case "bullet_list_open" | "ordered_list_open":
                return Block(kind="list", parts=self._items(tokens, index))
            case "hr" | "heading_open":
                return None
            case _:
                text = "\n".join(lines).strip()
                return Block(kind="prose", parts=(text,)) if text else None

    def _items(self, tokens: Sequence[Token], index: int) -> tuple[str, ...]:
        items = []
        for token in tokens[index + 1 :]:
            if token.level == 0:
                break
            if token.type == "list_item_open" and token.level == 1 and token.map:
                items.append("\n".join(self._lines[slice(*token.map)]).rstrip())
        return tuple(items)


def _heading(inline: Token, slugs: Slugs) -> tuple[str, str]:
    """A heading's words without mark-up, and its anchor."""
    (rendered,) = _INLINE.parseInline(inline.content)
    pieces = [child.content if child.type != "softbreak" else " " for child in rendered.children or ()]
    text = " ".join("".join(pieces).split())
    explicit = _EXPLICIT_ANCHOR.search(text)
    if explicit:
        return text[: explicit.start()], explicit[1]
    return text, slugs.claim(text)


def _intro(before: Block, block: Block) -> str:
    """The line before a list, table or code that announces it, and would say nothing without it."""
    text = before.text
    if before.kind != "prose" or block.kind == "prose" or not text.endswith((":", "：", ":**")):
        return ""
    return text if block.kind == "list" or len(text) <= _MAX_INTRO else ""


def _same(one: str, other: str) -> bool:
    return one.casefold().strip() == other.casefold().strip()
