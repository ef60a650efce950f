"""Cuts sections into chunks: pure, with ids that stay the same while the text does.

A chunk never spans two headings, so its heading path and its link are exact (a section that continues over the
pages of a PDF is joined while it fits). Blocks are kept whole while they fit; others are cut where a reader would:
between list items (a piece from within an item repeats the lines that it is nested in), table rows (each piece
repeats the header and holds a few rows), lines of code, paragraphs, sentences, and only then between words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from uuid import UUID, uuid5

from ingest.chunking.cutting import CountTokens, Measure, packed, pieces_of
from ingest.page import Block, ParsedPage, Section
from kb.models import Chunk, Page
from kb.pages.places import MAX_CHARACTERS, fitted

CHUNKER = "sections-9"
"""Raise it whenever parsing or chunking gives other chunks for the same page: the index is then rebuilt."""
MAX_TOKENS = 256
"""The length on which all-MiniLM-L6-v2 was trained; title, place and heading path count."""
MANY = 200
"""Number of texts of one section above which only those that do not fit are cut again, instead of all."""

_NAMESPACE = UUID("6f0f6a52-6e9c-5d0e-9f4b-0c6a3a3b7f21")


def chunker_name(max_tokens: int) -> str:
    """Names the way of cutting in an index's manifest: an index with another name is rebuilt."""
    return f"{CHUNKER}/{max_tokens}"


def chunk_page(
    page: Page,
    parsed: ParsedPage,
    *,
    count_tokens: CountTokens,
    max_tokens: int = MAX_TOKENS,
) -> list[Chunk]:
    """Cuts a page into chunks in reading order; `count_tokens(chunk.embedded_text) <= max_tokens` for each.

    Args:
        page: its title and its place must leave room for text, see `fitting_title` and `fitting_place`.
        max_tokens: at least 32.
    """
    chunks: list[Chunk] = []
    occurrences: Counter[str] = Counter()
    measure = Measure(count_tokens, max_tokens)
    for section in _joined(parsed.sections, page.heading, measure):
        path, blocks = _with_fitting_path(section, page.heading, measure)
        url = f"{page.url}#{section.anchor}" if section.anchor else page.url
        for text in _texts(blocks, _prefix((page.heading, *path)), measure):
            key = "\x1f".join((page.id, *path, blake2b(text.encode(), digest_size=16).hexdigest()))
            occurrences[key] += 1
            chunk_id = str(uuid5(_NAMESPACE, f"{key}\x1f{occurrences[key]}"))
            chunks.append(
                Chunk(id=chunk_id, page=page, position=len(chunks), text=text, section=path, url=url)
            )
    return chunks


def fitting_title(title: str, *, count_tokens: CountTokens, max_tokens: int = MAX_TOKENS) -> str:
    """Shortens a title to a quarter of a chunk: every chunk of the page carries it."""
    measure = Measure(count_tokens, max_tokens)
    return _shortened(title, lambda text: measure.whole(text) <= max_tokens // 4)


def fitting_place(parts: Sequence[str], *, count_tokens: CountTokens, max_tokens: int = MAX_TOKENS) -> str:
    """Joins the parts of a place (`kb.pages.places`) that fit in an eighth of a chunk; empty where none does."""
    for characters in (MAX_CHARACTERS, MAX_CHARACTERS * 2 // 3, MAX_CHARACTERS // 3):
        place = fitted(parts, characters)
        if count_tokens(place) <= max_tokens // 8:
            return place
    return ""


def _joined(sections: Sequence[Section], heading: str, measure: Measure) -> Iterator[Section]:
    """Joins neighbours of one heading path (a PDF has a section for each page) while both fit a chunk."""
    held: Section | None = None
    size = 0
    for section in sections:
        added = sum(measure.part(block.text) for block in section.blocks)
        if held is not None:
            room = measure.max_tokens - measure.whole(_prefix((heading, *held.path)))
            if section.path == held.path and size + added < room:
                held = replace(held, blocks=(*held.blocks, *section.blocks))
                size += added
                continue
            yield held
        held, size = section, added
    if held is not None:
        yield held


def _with_fitting_path(
    section: Section, heading: str, measure: Measure
) -> tuple[tuple[str, ...], Sequence[Block]]:
    """Limits the heading path to half a chunk. Where it has to be shortened, its words go into the text."""

    def fits(path: tuple[str, ...]) -> bool:
        return measure.whole(_prefix((heading, *path))) <= measure.max_tokens // 2

    if fits(section.path):
        return section.path, section.blocks
    label = _shortened(section.path[-1], lambda text: fits((text,)))
    words = Block(kind="prose", parts=(" › ".join(section.path),))
    return (label,), (words, *section.blocks)


def _shortened(text: str, fits: Callable[[str], bool]) -> str:
    """Cuts a text to its longest beginning that fits."""
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


def _texts(blocks: Sequence[Block], prefix: str, measure: Measure) -> list[str]:
    """Cuts a section's blocks into the texts of its chunks.

    The counts of parts add up exactly for most tokenizers, not for all; so
    the whole is counted too and, if need be, cut into smaller pieces.
    """
    room = measure.max_tokens - measure.whole(prefix)
    while True:
        texts = [
            text.strip("\n").rstrip()
            for run in _runs(blocks, room, measure)
            for text in packed(run, "\n\n", room, measure.part)
        ]
        texts = [text for text in texts if text]
        excess = max((measure.whole(prefix + text) for text in texts), default=0) - measure.max_tokens
        if excess <= 0 or room <= 1:
            return texts
        if len(texts) > MANY:
            return [piece for text in texts for piece in _cut_again(text, prefix, measure)]
        room = max(1, room - excess)


def _runs(blocks: Sequence[Block], room: int, measure: Measure) -> Iterator[list[str]]:
    """Yields runs of pieces that may share a chunk. Pieces of one table do not; what stands around it may join them."""
    run: list[str] = []
    for block in blocks:
        for number, piece in enumerate(pieces_of(block, room, measure)):
            if number and block.kind == "table":
                yield run
                run = []
            run.append(piece)
    yield run


def _cut_again(text: str, prefix: str, measure: Measure) -> list[str]:
    if measure.whole(prefix + text) <= measure.max_tokens:
        return [text]
    return _texts([Block(kind="prose", parts=(text,))], prefix, measure)
