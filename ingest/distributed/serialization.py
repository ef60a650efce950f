"""What travels between a sync and its workers: a page as it was read, and the page ready for the index."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from array import array
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

import numpy as np
from pydantic import TypeAdapter

from ingest.errors import PageError
from ingest.origin import Origin
from ingest.pipeline import PreparedPage
from ingest.sources.port import RawPage
from kb.index.port import IndexedChunk, IndexManifest, SparseVector
from kb.models import Chunk, Page

LINE = 64
"""Chunks of a line: 0.4 MB, which take 2 ms to read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PageJob:
    """One page to prepare and embed. `run`: the sync that wants it."""

    id: str
    run: str
    origin: Origin
    raw: RawPage


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadyPage:
    """A page and its chunks with their vectors."""

    page: PreparedPage
    chunks: tuple[IndexedChunk, ...]

    def linked_to(self, page: PreparedPage) -> list[IndexedChunk]:
        """Pairs the vectors with the chunks of the page as it is now: links are not embedded."""
        return [
            replace(indexed, chunk=chunk) for indexed, chunk in zip(self.chunks, page.chunks, strict=True)
        ]


Outcome = ReadyPage | PageError


def manifest_key_of(manifest: IndexManifest) -> str:
    """Hashes a manifest: an index holds vectors of a single one."""
    return hashlib.blake2b(encode_manifest(manifest), digest_size=8).hexdigest()


def encode_manifest(manifest: IndexManifest) -> bytes:
    return json.dumps(asdict(manifest), sort_keys=True).encode()


def decode_manifest(wire: bytes) -> IndexManifest:
    return _MANIFEST.validate_json(wire)


def encode_job(job: PageJob) -> dict[bytes, bytes]:
    """Writes the fields of a stream's entry: the page's content travels as it is."""
    bare = replace(job, raw=replace(job.raw, content=b""))
    return {_JOB_FIELD: _JOB.dump_json(bare), _CONTENT_FIELD: job.raw.content}


def decode_job(fields: Mapping[bytes, bytes]) -> PageJob:
    """Reads the fields of a stream's entry.

    Raises:
        ValueError: it is no job, or one of another version of Footnote.
    """
    if fields.keys() != {_JOB_FIELD, _CONTENT_FIELD}:
        raise ValueError("no job of a page")
    job = _JOB.validate_json(fields[_JOB_FIELD])
    return replace(job, raw=replace(job.raw, content=fields[_CONTENT_FIELD]))


async def encode_outcome(job: str, outcome: Outcome) -> bytes:
    """Writes a line of JSON, and one for every few chunks. Other tasks run between two lines."""
    if isinstance(outcome, PageError):
        return _OUTCOME.dump_json(
            _Outcome(job=job, reason=outcome.reason, withdraw=outcome.withdraw, left_out=outcome.left_out)
        )
    lines = [_OUTCOME.dump_json(_Outcome(job=job, page=outcome.page.page, notes=outcome.page.notes))]
    for first in range(0, len(outcome.chunks), LINE):
        lines.append(_CHUNKS.dump_json(tuple(map(_flat, outcome.chunks[first : first + LINE]))))
        await asyncio.sleep(0)
    return b"\n".join(lines)


async def decode_outcome(wire: bytes) -> tuple[str, Outcome]:
    """Returns the job's id, and what came of it.

    Raises:
        ValueError: it is not an outcome, or one of another version of Footnote.
    """
    head, *lines = wire.split(b"\n")
    outcome = _OUTCOME.validate_json(head)
    if outcome.page is None:
        return outcome.job, PageError(outcome.reason, withdraw=outcome.withdraw, left_out=outcome.left_out)
    flat: list[IndexedChunk] = []
    for line in lines:
        flat += [_whole(chunk, outcome.page) for chunk in _CHUNKS.validate_json(line)]
        await asyncio.sleep(0)
    indexed = tuple(flat)
    prepared = PreparedPage(
        page=outcome.page, chunks=tuple(chunk.chunk for chunk in indexed), notes=outcome.notes
    )
    return outcome.job, ReadyPage(page=prepared, chunks=indexed)


@dataclass(frozen=True, kw_only=True, slots=True)
class _FlatChunk:
    """A chunk without its page, which comes once; the vector as base64 of little-endian float32."""

    id: str
    position: int
    text: str
    section: tuple[str, ...]
    url: str
    dense: str
    lexical: SparseVector


@dataclass(frozen=True, kw_only=True, slots=True)
class _Outcome:
    job: str
    page: Page | None = None
    notes: tuple[str, ...] = ()
    reason: str = ""
    withdraw: bool = False
    left_out: bool = False


def _flat(indexed: IndexedChunk) -> _FlatChunk:
    chunk = indexed.chunk
    dense = base64.b64encode(np.asarray(indexed.dense, dtype="<f4").tobytes()).decode()
    return _FlatChunk(
        id=chunk.id,
        position=chunk.position,
        text=chunk.text,
        section=chunk.section,
        url=chunk.url,
        dense=dense,
        lexical=indexed.lexical,
    )


def _whole(flat: _FlatChunk, page: Page) -> IndexedChunk:
    chunk = Chunk(
        id=flat.id, page=page, position=flat.position, text=flat.text, section=flat.section, url=flat.url
    )
    dense = array("f", np.frombuffer(base64.b64decode(flat.dense), dtype="<f4").astype(np.float32).tobytes())
    return IndexedChunk(chunk=chunk, dense=dense, lexical=flat.lexical)


_JOB_FIELD, _CONTENT_FIELD = b"job", b"content"
_JOB = TypeAdapter(PageJob)
_OUTCOME: TypeAdapter[_Outcome] = TypeAdapter(_Outcome)
_CHUNKS: TypeAdapter[tuple[_FlatChunk, ...]] = TypeAdapter(tuple[_FlatChunk, ...])
_MANIFEST: TypeAdapter[IndexManifest] = TypeAdapter(IndexManifest)
