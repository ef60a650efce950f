"""Replacing pages in steps that are short: the engine holds Python's lock and shuts searches out while it writes.

An ordinary page is part of one step, so that a search sees it before or after; small ones share a step.
A page of hundreds of passages is put in a few at a time beside what the index held of it, which goes at
the end; until then it has no revision, so that a sweep that was cut off begins it anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from kb.index.embedded.shard_writes import ShardWrites
from kb.index.port import IndexedChunk

AT_ONCE = 64
"""Passages of a page that is one step."""
TOGETHER = 32
"""Passages of one step of several pages, or of a larger one: 10 ms of the engine."""


Step = Callable[[ShardWrites], None]


def steps(pages: Mapping[str, Sequence[IndexedChunk]]) -> Iterator[Step]:
    """Yields the steps of a write, to be taken in order; the caller may stop between any two."""
    together: dict[str, Sequence[IndexedChunk]] = {}
    passages = 0
    for page_id, chunks in pages.items():
        if together and passages + len(chunks) > TOGETHER:
            yield partial(ShardWrites.replace_pages, pages=together)
            together, passages = {}, 0
        if len(chunks) <= AT_ONCE:
            together[page_id] = chunks
            passages += len(chunks)
        else:
            yield from _steps_of_large(page_id, chunks)
    if together:
        yield partial(ShardWrites.replace_pages, pages=together)


def _steps_of_large(page_id: str, chunks: Sequence[IndexedChunk]) -> Iterator[Step]:
    first = chunks[0]
    without = replace(first, chunk=replace(first.chunk, page=replace(first.chunk.page, revision="")))
    beside = [without, *chunks[1:]]
    for start in range(0, len(beside), TOGETHER):
        some = beside[start : start + TOGETHER]
        yield partial(ShardWrites.add, page_id=page_id, chunks=some)
    yield partial(
        ShardWrites.drop_others, page_id=page_id, chunk_ids=frozenset(indexed.chunk.id for indexed in chunks)
    )
    yield partial(ShardWrites.add, page_id=page_id, chunks=[first])
