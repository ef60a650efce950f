"""A process that cuts one page after the other into chunks, with the tokenizers of the models and without the models.

Tokenizers hold Python's lock while they count: here nobody else waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ingest.chunking.chunks import chunk_page
from ingest.frames import begin, frame, read_frame
from ingest.page import ParsedPage, Section
from ingest.parsers.wire import SECTIONS, Broken, CutTask, FlatChunk, Pieces, broken
from kb.inference.counting import counter_of

CHUNKS = 128
"""Chunks of one frame: some 200 kB."""
_counter = lru_cache(maxsize=1)(counter_of)
"""Keeps the counter of the models that were asked for last: a rebuild may ask for others."""


def main() -> None:
    requests, replies = begin()
    while (head := read_frame(requests)) is not None:
        task = CutTask.model_validate_json(head)
        sections: list[Section] = []
        for _ in range(task.frames):
            sections += SECTIONS.validate_json(read_frame(requests) or b"")
        for reply in _replies(task, tuple(sections)):
            replies.write(frame(reply.model_dump_json().encode()))
        replies.flush()


def _replies(task: CutTask, sections: tuple[Section, ...]) -> Iterator[Pieces | Broken]:
    try:
        chunks = chunk_page(
            task.page,
            ParsedPage(title=task.page.title, sections=sections),
            count_tokens=_counter(task.models),
            max_tokens=task.max_tokens,
        )
    except Exception as error:  # noqa: BLE001 (the edge of this process: the pool is told)
        yield broken(error)
        return
    flat = [FlatChunk(id=chunk.id, text=chunk.text, section=chunk.section, url=chunk.url) for chunk in chunks]
    for first in range(0, len(flat) or 1, CHUNKS):
        yield Pieces(chunks=tuple(flat[first : first + CHUNKS]), last=first + CHUNKS >= len(flat))


if __name__ == "__main__":
    main()
