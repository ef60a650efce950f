"""Copies of generations from one index into another: what is there
already is not written again, and all is compared at the end.

The passages, their vectors and the manifest travel; nothing is embedded. What an engine
keeps beside the passages it makes anew from what it is given, as with any write.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from kb.calibration import Calibration
from kb.errors import FootnoteError, IndexDamagedError, IndexMismatchError
from kb.index.port import Copy, IndexedChunk, IndexManifest, PageHeld, VectorIndex

logger = logging.getLogger(__name__)

TOGETHER = 256
"""Passages that are read and written at a time, or one page where it has more."""
ROUNDING = 1e-6
"""Most by which a number of a dense vector may differ: each engine scales vectors to 1 anew, in 32 bits."""
TOLD = 5
"""Differences that an error names."""

Phase = Literal["copying", "checking"]


class CopyDiffersError(FootnoteError):
    """A copy differs from its original; the message says where."""


class Source(Protocol):
    """A generation that is read whole: a `VectorIndex`, the `Previous` of one, or a backup."""

    async def inventory(self) -> Mapping[str, PageHeld]: ...

    async def stored(self, page_ids: Sequence[str]) -> Sequence[IndexedChunk]: ...

    async def calibration(self) -> Calibration | None: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """Progress of one generation: "live" or "previous". `done` of `total` passages."""

    generation: str
    phase: Phase
    done: int
    total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Copied:
    """`written`: passages that were not there yet, `of` all of the generation."""

    generation: str
    pages: int
    of: int
    written: int


OnStep = Callable[[Step], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Generation:
    """`name`: "live" or "previous"."""

    name: str
    manifest: IndexManifest
    source: Source


async def copy_index(source: VectorIndex, target: VectorIndex, *, label: str, tell: OnStep) -> list[Copied]:
    """Copies the generations and makes the copy of the live one live. Resumes what an earlier run of this label began.

    Raises:
        CopyDiffersError: the target is as it was; so with an index that does not answer.
    """
    copies: list[Copy] = []
    done = []
    try:
        async with aclosing(generations(source)) as found:
            async for generation in found:
                copies.append(await target.begin_copy(f"{label}:{generation.name}", generation.manifest))
                done.append(await copy(generation, copies[-1], tell))
                await copies[-1].complete()
        await copies[-1].swap()
    finally:
        for begun in copies:
            await begun.leave()
    return done


async def generations(index: VectorIndex) -> AsyncGenerator[Generation, None]:
    """Yields the previous generation, kept for a rollback, where there is one that can be read, then the live one. Each
    is closed after its turn: a caller that may stop in between closes the generator.

    Raises:
        IndexMismatchError: the index is empty.
    """
    manifest = await index.manifest()
    if manifest is None:
        raise IndexMismatchError("the index is empty: there is nothing to copy")
    try:
        previous = await index.open_previous()
    except IndexDamagedError as error:  # it is no longer of use for a rollback
        logger.warning("index.previous.left_out", extra={"cause": str(error)})
        previous = None
    if previous is not None:
        try:
            yield Generation(name="previous", manifest=await previous.manifest(), source=previous)
        finally:
            await previous.discard()
    yield Generation(name="live", manifest=manifest, source=index)


async def copy(generation: Generation, target: Copy, tell: OnStep) -> Copied:
    """Makes the target hold what the generation holds, and compares every passage of both afterwards.

    Raises:
        CopyDiffersError: something differs although it was written.
    """
    source = generation.source
    wanted, held = await source.inventory(), await target.inventory()
    total = sum(page.passages for page in wanted.values())
    gone = [page for page in held if page not in wanted]
    for first in range(0, len(gone), TOGETHER):
        await target.delete_pages(gone[first : first + TOGETHER])
    missing = {page: wanted_page for page, wanted_page in wanted.items() if held.get(page) != wanted_page}
    written = 0
    done = total - sum(page.passages for page in missing.values())
    for pages in together(missing):
        tell(Step(generation=generation.name, phase="copying", done=done, total=total))
        passages = await source.stored(pages)
        await target.replace_pages(by_page(passages))
        written, done = written + len(passages), done + len(passages)
    written += await _checked(generation, target, wanted, earlier=wanted.keys() - missing.keys(), tell=tell)
    calibration = await source.calibration()
    if calibration is not None:
        await target.calibrate(calibration)
    return Copied(generation=generation.name, pages=len(wanted), of=total, written=written)


def by_page(passages: Sequence[IndexedChunk]) -> dict[str, list[IndexedChunk]]:
    """Groups passages by page id, each page's in their order on the page."""
    found: dict[str, list[IndexedChunk]] = {}
    for passage in sorted(passages, key=lambda passage: passage.chunk.position):
        found.setdefault(passage.chunk.page.id, []).append(passage)
    return found


async def _checked(
    generation: Generation,
    target: Copy,
    wanted: Mapping[str, PageHeld],
    *,
    earlier: set[str],
    tell: OnStep,
) -> int:
    """Compares all passages. What an `earlier` run wrote and has changed since is written again; returns how many
    passages.
    """
    total, done, again = sum(page.passages for page in wanted.values()), 0, 0
    wrong: list[str] = []
    for pages in together(wanted):
        tell(Step(generation=generation.name, phase="checking", done=done, total=total))
        passages = await generation.source.stored(pages)
        differing = differences(passages, await target.stored(pages))
        if differing and earlier.intersection(pages):
            await target.replace_pages(by_page(passages))
            again += len(passages)
            differing = differences(passages, await target.stored(pages))
        wrong += differing
        done += len(passages)
    wrong += [
        f"page {page} is in the copy alone" for page in (await target.inventory()).keys() - wanted.keys()
    ]
    if wrong:
        more = f"; and {len(wrong) - TOLD} more" if len(wrong) > TOLD else ""
        raise CopyDiffersError(
            f"the copy of the {generation.name} generation differs: {'; '.join(wrong[:TOLD])}{more}. "
            "It was not put to use; run the command again"
        )
    tell(Step(generation=generation.name, phase="checking", done=total, total=total))
    return again


def differences(wanted: Sequence[IndexedChunk], held: Sequence[IndexedChunk]) -> list[str]:
    """Words how the copy differs from what is wanted: one line a passage, with the passage's id."""
    copies: dict[str, list[IndexedChunk]] = {}
    for passage in held:
        copies.setdefault(passage.chunk.id, []).append(passage)
    differing = []
    for passage in wanted:
        found = copies.pop(passage.chunk.id, [])
        if what := _difference(passage, found):
            differing.append(f"passage {passage.chunk.id} {what}")
    return differing + [f"passage {name} is in the copy alone" for name in copies]


def _difference(wanted: IndexedChunk, found: Sequence[IndexedChunk]) -> str:
    """Words how a passage differs from its copy; "" where it does not."""
    if len(found) != 1:
        return f"is there {len(found)} times" if found else "is missing"
    held = found[0]
    if held.chunk != wanted.chunk:
        return "has another text, place or page"
    if len(held.dense) != len(wanted.dense):
        return f"has a vector of {len(held.dense)} numbers, not {len(wanted.dense)}"
    if not np.allclose(_scaled(held.dense), _scaled(wanted.dense), rtol=0, atol=ROUNDING):
        return "has another vector"
    if _terms(held) != _terms(wanted):
        return "has other terms"
    return ""


def _scaled(vector: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    numbers = np.asarray(vector, dtype=np.float64)
    return numbers / (np.linalg.norm(numbers) or 1.0)


def _terms(passage: IndexedChunk) -> dict[int, float]:
    """Returns the weight of each term in 32 bits, as the engines keep it."""
    values = np.asarray(passage.lexical.values, dtype=np.float32).tolist()
    return dict(zip(passage.lexical.indices, values, strict=True))


def together(pages: Mapping[str, PageHeld]) -> Iterator[list[str]]:
    """Groups the ids of pages so that a group has about `TOGETHER` passages."""
    some: list[str] = []
    passages = 0
    for page, held in pages.items():
        if some and passages + held.passages > TOGETHER:
            yield some
            some, passages = [], 0
        some.append(page)
        passages += held.passages
    if some:
        yield some
