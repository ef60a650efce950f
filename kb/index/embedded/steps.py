"""Replacing pages in steps that are short: the engine holds Python's lock and shuts searches out while it writes.

An ordinary page is part of one step, so that a search sees it before or after; small ones share a step.
A page of hundreds of passages is put in a few at a time beside what the index held of it, which goes at
the end; until then it has no revision, so that a sweep that was cut off begins it anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from kb.index.port import IndexedChunk

AT_ONCE = 64
"""Passages of a page that is one step."""
TOGETHER = 32
"""Passages of one step of several pages, or of a larger one: 10 ms of the engine."""


class Replaceable(Protocol):
    """`kb.index.embedded.shard.Shard`, as this uses it."""

    def replace_pages(self, pages: Mapping[str, Sequence[IndexedChunk]]) -> None: ...

    def add(self, page_id: str, chunks: Sequence[IndexedChunk]) -> None: ...

    def drop_others(self, page_id: str, chunk_ids: frozenset[str]) -> None: ...


Step = Callable[[Replaceable], None]


def steps(pages: Mapping[str, Sequence[IndexedChunk]]) -> Iterator[Step]:
    """Whoever takes them one after the other may stop between any two."""
    together: dict[str, Sequence[IndexedChunk]] = {}
    passages = 0
    for page_id, chunks in pages.items():
        if together and passages + len(chunks) > TOGETHER:
            yield partial(_replace, together)
            together, passages = {}, 0
        if len(chunks) <= AT_ONCE:
            together[page_id] = chunks
            passages += len(chunks)
        else:
            yield from _steps_of_large(page_id, chunks)
    if together:
        yield partial(_replace, together)


def _steps_of_large(page_id: str, chunks: Sequence[IndexedChunk]) -> Iterator[Step]:
    first = chunks[0]
    without = replace(first, chunk=replace(first.chunk, page=replace(first.chunk.page, revision="")))
    for some in in_parts([without, *chunks[1:]], TOGETHER):
        yield partial(_add, page_id, some)
    yield partial(_drop_others, page_id, frozenset(one.chunk.id for one in chunks))
    yield partial(_add, page_id, [first])


def in_parts(items: Sequence[IndexedChunk], size: int) -> Iterator[Sequence[IndexedChunk]]:
    for first in range(0, len(items), size):
        yield items[first : first + size]


def _replace(pages: Mapping[str, Sequence[IndexedChunk]], shard: Replaceable) -> None:
    shard.replace_pages(pages)


def _add(page_id: str, chunks: Sequence[IndexedChunk], shard: Replaceable) -> None:
    shard.add(page_id, chunks)


def _drop_others(page_id: str, chunk_ids: frozenset[str], shard: Replaceable) -> None:
    shard.drop_others(page_id, chunk_ids)
