"""Markdown to sections under their heading paths: the last step of every parser.

The text of a block is the document's own Markdown, cut out by line numbers, not a rendering: it is what gets quoted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from textwrap import dedent
from typing import TypeAlias

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingest.errors import PageError
from ingest.front_matter.front_matter import FrontMatter
from ingest.page import Block, ParsedPage, Section

Anchors: TypeAlias = Callable[[str], str] | None
"""What makes an address of a heading; None: only headings that bring their own have one."""

_MAX_TITLE = 200
_MAX_INTRO = 200
"""Characters of a line that may introduce a table or code and be repeated over its pieces."""
_INLINE = MarkdownIt("commonmark")
_MARK_UP = re.compile(r"[\\`*_\[<&\n]")
"""A quick look: without one of these a heading is its own words."""
_PADDING = re.compile(r"(?<=\|)[ \t]{2,}|[ \t]{2,}(?=\|)")
_DASHES = re.compile(r"-{4,}")
"""What lines columns up for the eye costs tokens: a wide table's rule alone has filled a passage."""
_EXPLICIT_ANCHOR = re.compile(r"\s*(?<!\\)\{#([^}\s]+)[^}]*\}\s*$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A stretch of a document. `place`: the URL fragment of everything in it, such as a page of a PDF ("page=3")."""

    text: str
    place: str | None = None
    blocks: Sequence[Token] | None = None
    """What a parser of blocks made of it; None: it was not read yet."""


def block_parser() -> MarkdownIt:
    """A parser of block structure. Inline mark-up takes two thirds of the time and matters in headings only."""
    return MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])


class Outline:
    """The top level of a document: its headings and the blocks under each.

    `own_anchors`: `{#id}` at a heading's end is its address, not a word of the author's (who would write `\\{#id}`).
    """

    def __init__(
        self,
        parts: Sequence[Part],
        parser: MarkdownIt,
        *,
        anchors: Anchors = None,
        own_anchors: bool = False,
    ) -> None:
        self._drafts: list[_Draft] = []
        for part in parts:
            reading = _Reading(part, parser, anchors, own_anchors=own_anchors)
            self._drafts += reading.drafts(continues=bool(self._drafts))

    @property
    def first_title(self) -> str | None:
        return next((draft.heading for draft in self._drafts if draft.level == 1), None)

    @property
    def document_title(self) -> str | None:
        """The title of a document whose author may have made every chapter a heading of the first level.

        The first heading of that level is it only where it is the only one, or stands over nothing but the next.
        """
        tops = [at for at, draft in enumerate(self._drafts) if draft.level == 1]
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
        """Sections with text. The heading that repeats the page's title opens the page and is in no path."""
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
    """
    Raises:
        PageError: nothing but white space.
    """
    sections = tuple(outline.sections(title))
    if not sections:
        raise PageError("it has no text", withdraw=True)
    return ParsedPage(title=title[:_MAX_TITLE], sections=sections, front=front or FrontMatter())


@dataclass(kw_only=True, slots=True)
class _Draft:
    """A section while its blocks come in. Level 0 has no heading: the text before the first one."""

    level: int
    heading: str
    anchor: str | None
    place: str | None = None
    continues: bool = False
    """Whether it goes on with the section above, on another page of a paginated document."""
    blocks: list[Block] = field(default_factory=list)
    heads: bool = False
    """Whether a deeper section follows, whose path carries this heading's words."""


class _Reading:
    """One part, read from its top to its end."""

    def __init__(self, part: Part, parser: MarkdownIt, anchors: Anchors, *, own_anchors: bool) -> None:
        self._lines = part.text.split("\n")
        self._tokens = parser.parse(part.text) if part.blocks is None else part.blocks
        self._place = part.place
        self._anchors = anchors
        self._own_anchors = own_anchors

    def drafts(self, *, continues: bool) -> Iterator[_Draft]:
        tokens = self._tokens
        draft = _Draft(level=0, heading="", anchor=self._place, place=self._place, continues=continues)
        for index, token in enumerate(tokens):
            if token.type == "heading_open":
                heading, anchor = self._heading(tokens[index + 1])
                if token.level == 0 and heading:
                    level = int(token.tag[1])
                    draft.heads = level > draft.level
                    yield draft
                    draft = _Draft(level=level, heading=heading, anchor=anchor, place=self._place)
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
            blocks[-1:] = _without_intro(blocks[-1])
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
                header, rule, *rows = (_PADDING.sub(" ", line) for line in lines)
                return Block(kind="table", parts=tuple(rows), lead=f"{header}\n{_DASHES.sub('---', rule)}")
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

    def _heading(self, inline: Token) -> tuple[str, str | None]:
        """A heading's words without mark-up, and where it is reached."""
        explicit = _EXPLICIT_ANCHOR.search(inline.content) if self._own_anchors else None
        words = inline.content[: explicit.start()] if explicit else inline.content
        text = " ".join((_rendered(words) if _MARK_UP.search(words) else words).split())
        if explicit:
            return text, self._place or explicit[1]
        return text, self._place or (self._anchors(text) if self._anchors else None)


def _rendered(heading: str) -> str:
    (rendered,) = _INLINE.parseInline(heading)
    breaks = ("softbreak", "hardbreak")
    return "".join(child.content if child.type not in breaks else " " for child in rendered.children or ())


def _intro(before: Block, block: Block) -> str:
    """The line before a list, table or code that announces it, and would say nothing without it.

    It may be an item ("2. Run this:") of whose list the author meant the block to be a part.
    """
    last = before.parts[-1] if before.kind == "list" and len(before.parts) > 1 else before.text
    if before.kind not in ("prose", "list") or block.kind == "prose" or not last.endswith((":", "：", ":**")):
        return ""
    if before.kind == "list" and "\n" in before.parts[-1]:
        return ""
    whole = before.kind == "prose" and block.kind == "list"
    return last if whole or len(last) <= _MAX_INTRO else ""


def _without_intro(before: Block) -> list[Block]:
    """What is left of the block before, when its last line became the intro of the next."""
    if before.kind == "prose" or len(before.parts) == 1:
        return []
    return [Block(kind=before.kind, parts=before.parts[:-1], lead=before.lead)]


def _same(one: str, other: str) -> bool:
    return one.casefold().strip() == other.casefold().strip()
