"""A process that cuts one page after the other into chunks, with the tokenizers of the models and without the models.

Tokenizers hold Python's lock for as long as they count: here nobody else waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import BinaryIO

from ingest.chunking.chunks import chunk_page
from ingest.frames import begin, frame, read_frame
from ingest.page import ParsedPage, Section
from ingest.parsers.wire import SECTIONS, Broken, CutTask, FlatChunk, Pieces, broken
from kb.inference.counting import counter_of

CHUNKS = 128
"""Chunks of one frame: some 200 kB."""


def main() -> None:
    requests, replies = begin()
    while (head := read_frame(requests)) is not None:
        task = CutTask.model_validate_json(head)
        sections = tuple(_sections(requests, task.frames))
        for reply in _replies(task, sections):
            replies.write(frame(reply.model_dump_json().encode()))
        replies.flush()


def _sections(requests: BinaryIO, frames: int) -> Iterator[Section]:
    for _ in range(frames):
        yield from SECTIONS.validate_json(read_frame(requests) or b"")


def _replies(task: CutTask, sections: tuple[Section, ...]) -> Iterator[Pieces | Broken]:
    try:
        chunks = chunk_page(
            task.page,
            ParsedPage(title=task.page.title, sections=sections),
            count_tokens=_counter(task.models),
            max_tokens=task.max_tokens,
        )
    except Exception as error:  # noqa: BLE001 (the edge of this process: told to the pool)
        yield broken(error)
        return
    for first in range(0, len(chunks) or 1, CHUNKS):
        yield Pieces(
            chunks=tuple(
                FlatChunk(id=one.id, text=one.text, section=one.section, url=one.url)
                for one in chunks[first : first + CHUNKS]
            ),
            last=first + CHUNKS >= len(chunks),
        )


_counter = lru_cache(maxsize=1)(counter_of)
"""The counter of the models that were asked for last: a rebuild may ask for others."""


if __name__ == "__main__":
    main()
