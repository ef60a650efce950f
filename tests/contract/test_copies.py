"""Copies of an index into another: every pair of engines passes the same suite."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from kb.calibration import Calibration
from kb.errors import IndexDamagedError, IndexMismatchError
from kb.index.copies import CopyDiffersError, Step, copy_index, differences
from kb.index.embedded.index import EdgeIndex
from kb.index.port import Copy, IndexCounts, IndexedChunk, SparseVector, VectorIndex
from kb.index.server.index import ServerIndex
from tests.contract.indexes import MANIFEST, a_chunk, a_page, found, put

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

Make = Callable[[str], VectorIndex]
BOTH = ["edge", "server"]
LIMITED = ("C01",)


@pytest.fixture
async def make(tmp_path: Path, served: Callable[..., ServerIndex]) -> AsyncIterator[Make]:
    """`make("edge-a")`: an index of the engine, by its name; the same name is the same index."""
    made: list[VectorIndex] = []

    def make(name: str) -> VectorIndex:
        if name.startswith("server"):
            return served(None, name=name)
        made.append(EdgeIndex(tmp_path / name))
        return made[-1]

    yield make
    for index in made:
        await index.close()


async def filled(index: VectorIndex) -> None:
    """Two generations: pages "old", then "kept" (of 100 passages),
    "secret" and "empty" (whose passage has no known term).
    """
    first = await index.begin_rebuild(MANIFEST)
    await put(first, a_page("old"), "leave and holiday")
    await first.swap()
    second = await index.begin_rebuild(replace(MANIFEST, chunker="v2"))
    await put(second, a_page("kept"), *[f"the price of laptop {one}" for one in range(100)])
    await put(second, a_page("secret", audience=LIMITED), "salary", "salary and leave")
    await put(second, a_page("empty"), "nothing of that")
    await second.calibrate(Calibration(passages=103))
    await second.swap()


def silent(step: Step) -> None:
    pass


@pytest.mark.parametrize("target", BOTH)
@pytest.mark.parametrize("source", BOTH)
async def test_both_generations_arrive_as_they_are(make: Make, source: str, target: str) -> None:
    old, new = make(f"{source}-a"), make(f"{target}-b")
    await filled(old)
    steps: list[Step] = []
    copied = await copy_index(old, new, label="x", tell=steps.append)
    assert [(one.generation, one.pages, one.of, one.written) for one in copied] == [
        ("previous", 1, 1, 1),
        ("live", 3, 103, 103),
    ]
    assert (steps[-1].done, steps[-1].total) == (103, 103)
    assert await new.manifest() == replace(MANIFEST, chunker="v2")
    assert await new.counts() == IndexCounts(pages=3, chunks=103)
    assert await new.calibration() == Calibration(passages=103)
    pages = ["kept", "secret", "empty"]
    assert differences(await old.stored(pages), await new.stored(pages)) == []
    assert await found(new, "salary", limit=200) == await found(old, "salary", limit=200) != set()
    for index in (old, new):
        await index.count_words()
    told = [
        (one.words.passages, one.words.frequency("laptop"), one.words.frequency("salary"))
        for one in (old, new)
    ]
    assert told == [(101, 100, 0)] * 2, "words of limited pages are counted, or public ones are not"
    previous = await new.open_previous()
    assert previous is not None
    assert await previous.manifest() == MANIFEST
    assert await previous.revisions() == {"old": "r1"}
    await previous.discard()


@pytest.mark.parametrize("target", BOTH)
async def test_what_a_cut_off_run_has_written_is_not_written_again(make: Make, target: str) -> None:
    old, new = make("edge-a"), make(f"{target}-b")
    await filled(old)

    def cut_off(step: Step) -> None:
        if (step.generation, step.phase) == ("live", "checking"):
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        await copy_index(old, new, label="x", tell=cut_off)
    assert await make(f"{target}-b").manifest() is None, "half a copy is live, or taken for damage"
    assert await new.others(["x:previous", "x:live"]) == []
    assert len(await new.others([])) == 2
    previous, live = await copy_index(old, new, label="x", tell=silent)
    assert (previous.written, live.written) == (0, 0)
    assert await new.counts() == IndexCounts(pages=3, chunks=103)
    assert len(await new.others(["x:previous", "x:live"])) == 2, "a copy that is finished is an index"


@pytest.mark.parametrize("target", BOTH)
async def test_what_changed_since_a_cut_off_run_is_copied_anew(make: Make, target: str) -> None:
    """A page that is gone, one more, one of another revision, and one that has its revision and other readers."""
    old, new = make("edge-a"), make(f"{target}-b")
    await filled(old)

    def cut_off(step: Step) -> None:
        if (step.generation, step.phase) == ("live", "checking"):
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        await copy_index(old, new, label="x", tell=cut_off)
    await old.delete_pages(["kept"])
    await put(old, a_page("more"), "shipping")
    await put(old, a_page("secret", audience=("C02",), revision="r1"), "salary", "salary and leave")
    await put(old, a_page("empty", revision="r2"), "nothing else")
    await copy_index(old, new, label="x", tell=silent)
    pages = ["more", "secret", "empty"]
    assert differences(await old.stored(pages), await new.stored(pages)) == []
    assert set(await new.revisions()) == set(pages)


@pytest.mark.parametrize("target", BOTH)
async def test_a_copy_takes_the_place_of_an_index(make: Make, target: str) -> None:
    old, new = make("edge-a"), make(f"{target}-b")
    await filled(old)
    first = await new.begin_rebuild(MANIFEST)
    await put(first, a_page("other"), "shipping")
    await first.swap()
    await copy_index(old, new, label="x", tell=silent)
    assert set(await new.revisions()) == {"kept", "secret", "empty"}
    previous = await new.open_previous()
    assert previous is not None
    assert set(await previous.revisions()) == {"old"}
    await previous.discard()


async def test_a_copy_that_has_lost_its_pointer_is_damaged(make: Make, tmp_path: Path) -> None:
    old, new = make("edge-a"), make("edge-b")
    await filled(old)
    await copy_index(old, new, label="x", tell=silent)
    (tmp_path / "edge-b" / "CURRENT").unlink()
    with pytest.raises(IndexDamagedError, match="CURRENT"):
        await make("edge-b").manifest()


async def test_an_empty_index_is_not_copied(make: Make) -> None:
    with pytest.raises(IndexMismatchError, match="empty"):
        await copy_index(make("edge-a"), make("server-b"), label="x", tell=silent)


class Forgetful:
    """A copy that gives back something else than it was given."""

    def __init__(self, copy: Copy, change: Callable[[IndexedChunk], list[IndexedChunk]]) -> None:
        self._copy = copy
        self._change = change

    async def stored(self, page_ids: Sequence[str]) -> list[IndexedChunk]:
        found = await self._copy.stored(page_ids)
        return [changed for one in found for changed in self._change(one)]

    def __getattr__(self, name: str) -> object:
        return getattr(self._copy, name)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda one: [], "secret#1 is missing"),
        (lambda one: [one, one], "secret#1 is there 2 times"),
        (lambda one: [replace(one, dense=[*one.dense[1:], 0.5])], "secret#1 has another vector"),
        (lambda one: [replace(one, dense=[*one.dense, 0.5])], "secret#1 has a vector of 9 numbers"),
        (
            lambda one: [replace(one, lexical=SparseVector(indices=(7,), values=(1.0,)))],
            "secret#1 has other terms",
        ),
        (lambda one: [replace(one, chunk=replace(one.chunk, text="x"))], "secret#1 has another text"),
        (
            lambda one: [one, replace(one, chunk=replace(one.chunk, id="secret#9"))],
            "secret#9 is in the copy alone",
        ),
    ],
)
async def test_a_difference_is_told_and_nothing_goes_live(
    make: Make, change: Callable[[IndexedChunk], list[IndexedChunk]], told: str
) -> None:
    old, new = make("edge-a"), make("edge-b")
    await filled(old)
    begin = new.begin_copy

    async def forgetful(label: str, manifest: object) -> Forgetful:
        return Forgetful(
            await begin(label, manifest), lambda one: change(one) if one.chunk.id == "secret#1" else [one]
        )

    new.begin_copy = forgetful  # type: ignore[method-assign]
    with pytest.raises(CopyDiffersError, match=told):
        await copy_index(old, new, label="x", tell=silent)
    assert await new.manifest() is None


def test_rounding_is_no_difference() -> None:
    one = a_chunk(a_page("a"), 0, "leave leave price")
    scaled = replace(one, dense=[value * 3 for value in one.dense])
    assert differences([one], [scaled]) == []
    off = replace(one, dense=[one.dense[0] + 1e-4, *one.dense[1:]])
    assert differences([one], [off]) == ["passage a#0 has another vector"]
