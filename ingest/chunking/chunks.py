"""Sections to chunks: pure, with ids that stay the same while the text does.

A chunk never spans two headings, so its heading path and its link are exact (a section that goes on over the
pages of a PDF is joined while it fits). Blocks are kept whole while they fit; what does not fit is cut where
a reader would: between list items (a piece from within an item repeats the lines that it is nested in), table
rows (each piece repeats the header), lines of code, paragraphs, sentences, and only then between words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from uuid import UUID, uuid5

from ingest.chunking.cutting import CountTokens, Measure, packed, pieces_of
from ingest.page import Block, ParsedPage, Section
from kb.models import Chunk, Page
from kb.pages.places import MAX_CHARACTERS, fitted

CHUNKER = "sections-7"
"""Raise it whenever parsing or chunking gives other chunks for the same page: the index is then rebuilt."""
MAX_TOKENS = 256
"""What all-MiniLM-L6-v2 was trained to read; title, place and heading path count."""
MANY = 200
"""Texts of one section from which on only those are cut anew that do not fit; of fewer, all."""

_NAMESPACE = UUID("6f0f6a52-6e9c-5d0e-9f4b-0c6a3a3b7f21")


def chunker_name(max_tokens: int) -> str:
    """What the index remembers: another name means that its chunks were cut another way."""
    return f"{CHUNKER}/{max_tokens}"


def chunk_page(
    page: Page,
    parsed: ParsedPage,
    *,
    count_tokens: CountTokens,
    max_tokens: int = MAX_TOKENS,
) -> list[Chunk]:
    """The page's chunks in reading order; `count_tokens(chunk.embedded_text) <= max_tokens` for each.

    Args:
        page: its title and its place must leave room for text, see `fitting_title` and `fitting_place`.
        max_tokens: at least 32.
    """
    chunks: list[Chunk] = []
    seen: dict[str, int] = {}
    measure = Measure(count_tokens, max_tokens)
    for section in _joined(parsed.sections, page.heading, measure, max_tokens):
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
    measure = Measure(count_tokens, max_tokens)
    return _shortened(title, lambda text: measure.whole(text) <= max_tokens // 4)


def fitting_place(parts: Sequence[str], *, count_tokens: CountTokens, max_tokens: int = MAX_TOKENS) -> str:
    """The parts of a place (`kb.pages.places`) that fit in an eighth of a chunk; empty where none does."""
    for characters in (MAX_CHARACTERS, MAX_CHARACTERS * 2 // 3, MAX_CHARACTERS // 3):
        place = fitted(parts, characters)
        if count_tokens(place) <= max_tokens // 8:
            return place
    return ""


def _joined(
    sections: Sequence[Section], heading: str, measure: Measure, max_tokens: int
) -> Iterator[Section]:
    """Sections, with the parts of one section (a PDF has one a page) joined while both fit a chunk."""
    held: Section | None = None
    size = 0
    for section in sections:
        added = sum(measure.part(block.text) for block in section.blocks)
        if held is not None:
            room = max_tokens - measure.whole(_prefix((heading, *held.path)))
            if section.path == held.path and size + added < room:
                held = Section(path=held.path, anchor=held.anchor, blocks=(*held.blocks, *section.blocks))
                size += added
                continue
            yield held
        held, size = section, added
    if held is not None:
        yield held


def _fitting(
    section: Section, heading: str, measure: Measure, max_tokens: int
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


def _texts(blocks: Sequence[Block], headings: Sequence[str], measure: Measure, max_tokens: int) -> list[str]:
    """The texts of a section's chunks.

    Counts of parts add up exactly for most tokenizers, not for all; so
    the whole is counted too and, if need be, cut finer.
    """
    prefix = _prefix(headings)
    room = max_tokens - measure.whole(prefix)
    while True:
        pieces = (piece for block in blocks for piece in pieces_of(block, room, measure))
        texts = [text.strip("\n").rstrip() for text in packed(pieces, "\n\n", room, measure)]
        excess = max((measure.whole(prefix + text) for text in texts), default=0) - max_tokens
        if excess <= 0 or room <= 1:
            return [text for text in texts if text.strip()]
        if len(texts) > MANY:
            return [piece for text in texts for piece in _finer(text, headings, measure, max_tokens)]
        room = max(1, room - excess)


def _finer(text: str, headings: Sequence[str], measure: Measure, max_tokens: int) -> list[str]:
    if measure.whole(_prefix(headings) + text) <= max_tokens:
        return [text] if text.strip() else []
    return _texts([Block(kind="prose", parts=(text,))], headings, measure, max_tokens)
