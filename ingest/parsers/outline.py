"""Cuts Markdown into sections under their heading paths: the last step of every parser.

The text of a block is the document's own Markdown, cut out by line numbers, not a rendering: it is what gets quoted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from textwrap import dedent

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingest.errors import PageError
from ingest.front_matter.front_matter import FrontMatter
from ingest.page import Block, ParsedPage, Section
from ingest.parsers.grids import with_merged_cells

_MAX_TITLE = 200
_MAX_INTRO = 200
"""Characters of a line that may introduce a table or code and be repeated over its pieces."""
_BOLD_LINE = re.compile(r"(\*\*|__)(?!\s)[^\n*_]{1,80}(?<!\s)\1:?")
"""A line in bold alone, which is a heading to its readers."""
_INLINE = MarkdownIt("commonmark")
_MARK_UP = re.compile(r"[\\`*_\[<&\n]")
"""A quick test: a heading without one of these characters is its own words."""
_PADDING = re.compile(r"(?<=\|)[ \t]{2,}|[ \t]{2,}(?=\|)")
_DASHES = re.compile(r"-{4,}")
"""Alignment of a table's columns, which costs tokens: a wide table's delimiter row alone has filled a passage."""
_EXPLICIT_ANCHOR = re.compile(r"\s*(?<!\\)\{#([^}\s]+)[^}]*\}\s*$")
_NOT_IN_SLUGS = re.compile(r"[^a-z0-9_ -]", re.IGNORECASE)
"""Characters of ASCII that GitHub drops from an anchor."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A stretch of a document. `place`: the URL fragment of everything in it, such as a page of a PDF ("page=3")."""

    text: str
    place: str | None = None
    blocks: Sequence[Token] | None = None
    """The tokens of its blocks; None where it was not parsed yet."""


def block_parser() -> MarkdownIt:
    """Builds a parser of block structure. Inline mark-up takes two thirds of the time and matters in headings only."""
    return MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])


class Slugs:
    """Makes the anchors of one page as GitHub does, by the rules of github-slugger
    (https://github.com/Flet/github-slugger). A repeated heading gets -1, -2.
    """

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def claim(self, heading: str) -> str:
        base = _slug(heading.lower())
        slug = base
        while slug in self._used:
            self._used[base] += 1
            slug = f"{base}-{self._used[base]}"
        self._used[slug] = 0
        return slug


def _slug(heading: str) -> str:
    if heading.isascii():
        return _NOT_IN_SLUGS.sub("", heading).replace(" ", "-")
    return "".join(filter(_is_in_slugs, heading)).replace(" ", "-")


def _is_in_slugs(character: str) -> bool:
    """Keeps letters, digits, joiners and marks: without its vowel signs a Hindi anchor leads nowhere."""
    category = unicodedata.category(character)
    return character in "- " or category[0] in "LM" or category in ("Nd", "Nl", "Pc")


class Outline:
    """The headings of a document, from its parts, and the blocks under each.

    Args:
        slugs: makes an anchor for each heading that brings none.
        own_anchors: `{#id}` at a heading's end is its anchor, not a word of the author's (who would write `\\{#id}`).
    """

    def __init__(
        self,
        *parts: Part,
        parser: MarkdownIt | None = None,
        slugs: Slugs | None = None,
        own_anchors: bool = False,
    ) -> None:
        parser = parser or block_parser()
        self._drafts: list[_Draft] = []
        for part in parts:
            reading = _Reading(part, parser, slugs, own_anchors=own_anchors)
            self._drafts += reading.drafts(continues=bool(self._drafts))

    @property
    def first_title(self) -> str | None:
        return next((draft.heading for draft in self._drafts if draft.level == 1), None)

    @property
    def document_title(self) -> str | None:
        """The title of a document whose author may have made every chapter a heading of the first level.

        The first heading of that level is the title only where no other follows, or the next one follows at once.
        """
        tops = [index for index, draft in enumerate(self._drafts) if draft.level == 1]
        if len(tops) > 1 and tops[1] > tops[0] + 1:
            return None
        return self._drafts[tops[0]].heading if tops else None

    @property
    def has_text(self) -> bool:
        """Whether there is more than headings."""
        return any(draft.blocks for draft in self._drafts)

    @property
    def opening_heading(self) -> str | None:
        """The heading that the document starts with, of whatever level; None where it starts with text."""
        first = next((draft for draft in self._drafts if draft.level or draft.blocks), None)
        return first.heading if first is not None and first.level else None

    def sections(self, title: str) -> Iterator[Section]:
        """Yields the sections with text. The heading that repeats the page's title opens the page and is in no path."""
        above: list[_Draft] = []
        for draft in self._drafts:
            is_title = draft.level > 0 and _same(draft.heading, title) and (draft.level == 1 or not above)
            if not draft.continues:
                above = [] if is_title else [head for head in above if head.level < draft.level]
            path = tuple(head.heading for head in above)
            if draft.level and not is_title:
                above.append(draft)
                path = (*path, draft.heading)
                if not draft.blocks and not draft.heads:
                    draft.blocks.append(Block(kind="prose", parts=(draft.heading,)))
            if draft.blocks:
                yield Section(
                    path=path, anchor=draft.place if is_title else draft.anchor, blocks=tuple(draft.blocks)
                )


def parsed_page(title: str, outline: Outline, front: FrontMatter | None = None) -> ParsedPage:
    """Builds the page.

    Raises:
        PageError: there is nothing but white space.
    """
    sections = tuple(outline.sections(title))
    if not sections:
        raise PageError("it has no text", withdraw=True)
    return ParsedPage(title=title[:_MAX_TITLE], sections=sections, front=front or FrontMatter())


@dataclass(kw_only=True, slots=True)
class _Draft:
    """A section while its blocks are added. Level 0 has no heading: the text before the first one."""

    level: int
    heading: str
    anchor: str | None
    place: str | None = None
    continues: bool = False
    """Whether it continues the section above, on another page of a paginated document."""
    blocks: list[Block] = field(default_factory=list)
    heads: bool = False
    """Whether a deeper section follows, whose path carries this heading's words."""


class _Reading:
    """One part, read from top to bottom."""

    def __init__(self, part: Part, parser: MarkdownIt, slugs: Slugs | None, *, own_anchors: bool) -> None:
        self._lines = part.text.split("\n")
        self._tokens = parser.parse(part.text) if part.blocks is None else part.blocks
        self._place = part.place
        self._slugs = slugs
        self._own_anchors = own_anchors

    def drafts(self, *, continues: bool) -> Iterator[_Draft]:
        draft = _Draft(level=0, heading="", anchor=self._place, place=self._place, continues=continues)
        for index, token in enumerate(self._tokens):
            if token.type == "heading_open":
                heading, anchor = self._heading(self._tokens[index + 1])
                if token.level == 0 and heading:
                    level = int(token.tag[1])
                    draft.heads = level > draft.level
                    yield draft
                    draft = _Draft(level=level, heading=heading, anchor=anchor, place=self._place)
                    continue
            if token.level == 0 and (block := self._block(token, index)):
                _append(draft.blocks, block)
        yield draft

    def _block(self, token: Token, index: int) -> Block | None:
        if not token.map:
            return None
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
                header, rule, *rows = (_PADDING.sub(" ", line) for line in lines)
                return Block(
                    kind="table",
                    parts=tuple(with_merged_cells(rows)),
                    lead=f"{header}\n{_DASHES.sub('---', rule)}",
                )
            case "bullet_list_open" | "ordered_list_open":
                return Block(kind="list", parts=self._items(index))
            case "hr" | "heading_open":
                return None
            case _:
                text = "\n".join(lines).strip()
                return Block(kind="prose", parts=(text,)) if text else None

    def _items(self, index: int) -> tuple[str, ...]:
        inside = takewhile(lambda token: token.level > 0, self._tokens[index + 1 :])
        return tuple(
            "\n".join(self._lines[slice(*token.map)]).rstrip()
            for token in inside
            if token.type == "list_item_open" and token.level == 1 and token.map
        )

    def _heading(self, inline: Token) -> tuple[str, str | None]:
        """Returns a heading's words without mark-up, and its anchor."""
        explicit = _EXPLICIT_ANCHOR.search(inline.content) if self._own_anchors else None
        words = inline.content[: explicit.start()] if explicit else inline.content
        text = " ".join((_rendered(words) if _MARK_UP.search(words) else words).split())
        if explicit:
            return text, self._place or explicit[1]
        return text, self._place or (self._slugs.claim(text) if self._slugs else None)


def _rendered(heading: str) -> str:
    (rendered,) = _INLINE.parseInline(heading)
    breaks = ("softbreak", "hardbreak")
    return "".join(child.content if child.type not in breaks else " " for child in rendered.children or ())


def _append(blocks: list[Block], block: Block) -> None:
    """Adds a block. A line before it that announces it becomes its lead, or begins it where it is prose."""
    intro = _intro(blocks[-1], block) if blocks else ""
    if intro and block.kind == "prose":
        blocks[-1] = replace(block, parts=(f"{intro}\n\n{block.text}",))
        return
    if intro:
        before = blocks.pop()
        if before.kind == "list" and len(before.parts) > 1:
            blocks.append(replace(before, parts=before.parts[:-1]))
        block = replace(block, lead=f"{intro}\n\n{block.lead}" if block.lead else f"{intro}\n")
    blocks.append(block)


def _intro(before: Block, block: Block) -> str:
    """Returns the line before a block that announces it, and would say nothing without it.

    It may be an item ("2. Run this:") of whose list the author meant the block to be a part. A paragraph is
    announced by a line in bold only.
    """
    last = before.parts[-1] if before.kind == "list" and len(before.parts) > 1 else before.text
    if before.kind == "prose" and _BOLD_LINE.fullmatch(last) and not _BOLD_LINE.fullmatch(block.text):
        return last
    if before.kind not in ("prose", "list") or block.kind == "prose":
        return ""
    whole = before.kind == "prose" and block.kind == "list"
    # "For each column you can set its", which the items end.
    if not (last.endswith((":", "：", ":**")) or (whole and last[-1:].isalpha())):
        return ""
    if before.kind == "list" and "\n" in before.parts[-1]:
        return ""
    return last if whole or len(last) <= _MAX_INTRO else ""


def _same(heading: str, title: str) -> bool:
    return heading.casefold().strip() == title.casefold().strip()
