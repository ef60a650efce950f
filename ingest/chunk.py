"""Sections to chunks: pure, with ids that stay the same while the text does.

A chunk never spans two headings, so its heading path and its link are exact (a section that goes on over the pages of a PDF is
joined while it fits). Blocks are kept whole while they fit; what does not fit is cut where a reader would: between list
items (a piece from within an item repeats the lines that it is nested in), table rows (each piece repeats the header),
lines of code, paragraphs, sentences, and only then between words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from hashlib import blake2b
from textwrap import dedent
from uuid import UUID, uuid5

from ingest.parsers.page import Block, ParsedPage, Section
from kb.models import Chunk, Page
from kb.places import MAX_CHARACTERS, fitted

CHUNKER = "sections-7"
"""Raise it whenever parsing or chunking gives other chunks for the same page: the index is then rebuilt."""
MAX_TOKENS = 256
"""What all-MiniLM-L6-v2 was trained to read; title, place and heading path count."""

CountTokens = Callable[[str], int]
"""The embedder's own count for one text. Whether special tokens count is up to it."""

_NAMESPACE = UUID("6f0f6a52-6e9c-5d0e-9f4b-0c6a3a3b7f21")
_PARAGRAPHS = re.compile(r"(?<=\n)\s*\n+")
_SENTENCES = re.compile(r"(?<=[.!?…])(?<![ (]\w\.)\s+|(?<=[。！？।])")
_LINES = re.compile(r"(?<=\n)")
_WORDS = re.compile(r"(?<=\s)(?=\S)")
_CUTS = (_PARAGRAPHS, _SENTENCES, _LINES, _WORDS)
"""From the best place to cut a text to the worst; each leaves every character on one side or the other. Lines come late:
many authors end them at a width, in the middle of a sentence.
"""
_QUOTED_CUTS = (_PARAGRAPHS, _LINES, _SENTENCES, _WORDS)
"""Every line of a quotation has its mark."""
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_ITEMS = re.compile(rf"(?<=\n)(?={_ITEM.pattern})")


def chunker_name(max_tokens: int) -> str:
    """What the index remembers: another name means that its chunks are of another make."""
    return f"{CHUNKER}/{max_tokens}"


def chunk_page(
    page: Page,
    parsed: ParsedPage,
    *,
    count_tokens: CountTokens,
    max_tokens: int = MAX_TOKENS,
    join_below: int = 0,
) -> list[Chunk]:
    """The page's chunks in reading order; `count_tokens(chunk.embedded_text) <= max_tokens` for each.

    Args:
        page: its title and its place must leave room for text, see `fitting_title` and `fitting_place`.
        max_tokens: at least 32.
        join_below: sections of fewer tokens are joined with a neighbour under the same parent. Measured in
            docs/chunking.md; off, since it finds no more and the link of a joined section is its neighbour's.
    """
    chunks: list[Chunk] = []
    seen: dict[str, int] = {}
    measure = _Measure(count_tokens)
    for section in _joined(parsed.sections, page.heading, measure, max_tokens, join_below):
        path, blocks = _fitting(section, page.heading, measure, max_tokens)
        url = f"{page.url}#{section.anchor}" if section.anchor else page.url
        for text in _texts(blocks, (page.heading, *path), measure, max_tokens):
            key = "\x1f".join((page.id, *path, blake2b(text.encode(), digest_size=16).hexdigest()))
            seen[key] = seen.get(key, 0) + 1
            chunk_id = str(uuid5(_NAMESPACE, f"{key}\x1f{seen[key]}"))
            chunks.append(
                Chunk(id=chunk_id, page=page, position=len(chunks), text=text, section=path, url=url)
            )
    return chunks


def fitting_title(title: str, *, count_tokens: CountTokens, max_tokens: int = MAX_TOKENS) -> str:
    """The title, shortened to a quarter of a chunk: every chunk of the page carries it."""
    return _shortened(title, lambda text: count_tokens(text) <= max_tokens // 4)


def fitting_place(parts: Sequence[str], *, count_tokens: CountTokens, max_tokens: int = MAX_TOKENS) -> str:
    """The parts of a place (`kb.places`) that fit in an eighth of a chunk; empty where none does."""
    for characters in (MAX_CHARACTERS, MAX_CHARACTERS * 2 // 3, MAX_CHARACTERS // 3):
        place = fitted(parts, characters)
        if count_tokens(place) <= max_tokens // 8:
            return place
    return ""


class _Measure:
    """Token counts that add up: without the special tokens that the counter puts around each text.

    One page's: a block is measured when sections are joined, when it is cut and when it is packed.
    """

    def __init__(self, count_tokens: CountTokens) -> None:
        self._count = cache(count_tokens)
        self._special = count_tokens("")

    def whole(self, text: str) -> int:
        return self._count(text)

    def part(self, text: str) -> int:
        return self._count(text) - self._special


def _joined(
    sections: Sequence[Section], heading: str, measure: _Measure, max_tokens: int, join_below: int
) -> Iterator[Section]:
    """Sections with neighbours joined while both fit a chunk: parts of one section, and small ones where asked."""
    held: Section | None = None
    size = 0
    for section in sections:
        added = sum(measure.part(block.text) for block in section.blocks)
        if held is not None:
            room = max_tokens - measure.whole(_prefix((heading, *held.path)))
            same = section.path == held.path
            small = min(size, added) < join_below and section.path[:-1] in (held.path, held.path[:-1])
            if size + added < room and (same or small):
                held = _join(held, section, same=same)
                size = sum(measure.part(block.text) for block in held.blocks)
                continue
            yield held
        held, size = section, added
    if held is not None:
        yield held


def _join(one: Section, other: Section, *, same: bool) -> Section:
    """Two sections under what they have in common. A heading that is in the path no longer is in the text."""
    if same:
        return Section(path=one.path, anchor=one.anchor, blocks=(*one.blocks, *other.blocks))
    parent = other.path[:-1]
    first = one.blocks if one.path == parent else (_headed(one.path), *one.blocks)
    return Section(path=parent, anchor=one.anchor, blocks=(*first, _headed(other.path), *other.blocks))


def _headed(path: tuple[str, ...]) -> Block:
    return Block(kind="prose", parts=(f"**{path[-1]}**",))


def _fitting(
    section: Section, heading: str, measure: _Measure, max_tokens: int
) -> tuple[tuple[str, ...], Sequence[Block]]:
    """The heading path in at most half a chunk. Where it had to be shortened, its words go into the text."""

    def fits(path: tuple[str, ...]) -> bool:
        return measure.whole(_prefix((heading, *path))) <= max_tokens // 2

    if fits(section.path):
        return section.path, section.blocks
    inner = section.path[-1]
    label = _shortened(inner, lambda text: fits((text,)))
    words = Block(kind="prose", parts=(" › ".join(section.path),))
    return (label,), (words, *section.blocks)


def _shortened(text: str, fits: Callable[[str], bool]) -> str:
    if fits(text):
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(f"{text[:middle].rstrip()}…"):
            low = middle
        else:
            high = middle - 1
    return f"{text[:low].rstrip()}…"


def _prefix(headings: Sequence[str]) -> str:
    return " › ".join(headings) + "\n"


def _texts(blocks: Sequence[Block], headings: Sequence[str], measure: _Measure, max_tokens: int) -> list[str]:
    """The texts of a section's chunks.

    Counts of parts add up exactly for most tokenizers, not for all; so the whole is counted too and, if need be, cut finer.
    """
    prefix = _prefix(headings)
    room = max_tokens - measure.whole(prefix)
    while True:
        pieces = [piece for block in blocks for piece in _pieces(block, room, measure)]
        texts = [text.strip("\n").rstrip() for text in _packed(pieces, "\n\n", room, measure)]
        excess = max((measure.whole(prefix + text) for text in texts), default=0) - max_tokens
        if excess <= 0 or room <= 1:
            return [text for text in texts if text.strip()]
        room = max(1, room - excess)


def _pieces(block: Block, room: int, measure: _Measure) -> Iterator[str]:
    """A block as texts of at most `room` tokens, each of which stands alone."""
    if measure.part(block.text) <= room:
        yield block.text
        return
    if block.lead and measure.part(block.lead) > room // 3:  # too long to be repeated: it goes first, once
        yield from _cut(block.lead, room, measure)
        block = Block(kind=block.kind, parts=block.parts, tail=block.tail)
    inner = max(1, room - measure.part(block.lead) - measure.part(block.tail))
    cut = _cut_item if block.kind == "list" else _cut
    parts = [piece for part in block.parts for piece in cut(part, inner, measure)]
    for text in _packed(parts, "\n", inner, measure):
        yield block.joined((text.rstrip() if block.kind != "code" else text,))


def _cut_item(item: str, room: int, measure: _Measure) -> list[str]:
    """A list's item itself, or cut between its paragraphs and the items in it.

    A piece from within it starts with the lines that it is nested in, where those leave it two thirds of the room.
    """
    if measure.part(item) <= room:
        return [item]
    pieces: list[str] = []
    held, filled, position = "", 0, 0
    for unit in _units_of_item(item, room - room // 3, measure):
        size = measure.part(unit)
        if held and filled + size > room:
            pieces.append(held)
            held = _nested_in(item, position, room // 3, measure)
            filled = measure.part(held) if held else 0
        held, filled, position = held + unit, filled + size, position + len(unit)
    return [dedent(piece).rstrip() for piece in (*pieces, held)]


def _units_of_item(item: str, room: int, measure: _Measure) -> Iterator[str]:
    for paragraph in _units(item, _PARAGRAPHS):
        if measure.part(paragraph) <= room:
            yield paragraph
        else:
            for entry in _units(paragraph, _ITEMS):
                yield from _cut(entry, room, measure)


def _nested_in(item: str, position: int, room: int, measure: _Measure) -> str:
    """What opens the items around the text at `position`, from the outermost that leaves room."""
    start = item.rfind("\n", 0, position) + 1
    depth = _indent(item[start:])
    around: list[str] = []
    below: list[str] = []
    for line in reversed(item[:start].splitlines()):
        if not _ITEM.match(line):
            below = [line, *below] if line.strip() else []  # the rest of a paragraph that is wrapped, perhaps
            continue
        if _indent(line) < depth:
            around.insert(0, "".join(f"{one}\n" for one in (line, *below)))
            depth = _indent(line)
        below = []
    while around and measure.part("".join(around)) > room:
        del around[0]
    return "".join(around)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" \t"))


def _cut(text: str, room: int, measure: _Measure) -> list[str]:
    """The text itself, or cut at the best places that make every piece fit."""
    if measure.part(text) <= room or len(text) < 2:
        return [text]
    for cut in _QUOTED_CUTS if text.startswith(">") else _CUTS:
        units = [unit for unit in _units(text, cut) if unit]
        if len(units) > 1:
            fitting = [piece for unit in units for piece in _cut(unit, room, measure)]
            return _packed(fitting, "", room, measure)
    middle = len(text) // 2
    return [*_cut(text[:middle], room, measure), *_cut(text[middle:], room, measure)]


def _units(text: str, cut: re.Pattern[str]) -> Iterator[str]:
    """The text in units that, joined, are the text again: white space at a cut stays with what comes before."""
    start = 0
    for found in cut.finditer(text):
        yield text[start : found.end()]
        start = found.end()
    yield text[start:]


def _packed(pieces: Iterable[str], joint: str, room: int, measure: _Measure) -> list[str]:
    """Neighbours joined while they fit."""
    packed: list[str] = []
    held: list[str] = []
    filled = 0
    for piece in pieces:
        size = measure.part(piece)
        if held and filled + size > room:
            packed.append(joint.join(held))
            held, filled = [], 0
        held.append(piece)
        filled += size
    if held:
        packed.append(joint.join(held))
    return packed
