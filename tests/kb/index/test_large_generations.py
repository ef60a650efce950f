"""Generations that are large enough to be quantized, by the real engine in a real process."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.calibration import Calibration
from kb.index.copies import copy_index, differences
from kb.index.embedded import quantizing
from kb.index.embedded.index import EdgeIndex
from kb.index.port import IndexCounts
from tests.fakes.large_indexes import (
    LARGE,
    MANIFEST,
    PAGES,
    assert_exact,
    found,
    generations,
    is_quantized,
    live,
    page,
    put,
    rebuilt,
)

pytestmark = pytest.mark.usefixtures("large")


async def test_a_large_rebuild_goes_live_quantized_and_finds_the_same(
    index: EdgeIndex, tmp_path: Path
) -> None:
    await rebuilt(index)
    folder = tmp_path / "index"
    assert is_quantized(folder)
    assert generations(folder) == [live(folder).name]
    assert await index.counts() == IndexCounts(pages=PAGES, chunks=PAGES)
    await assert_exact(index, range(PAGES))


async def test_a_small_one_stays_as_it_is(
    index: EdgeIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quantizing, "module_command", None)  # there is no process to be had
    await rebuilt(index, LARGE)
    await index.settle()
    assert not is_quantized(tmp_path / "index")
    await assert_exact(index, range(LARGE))


async def test_writes_to_a_quantized_index_are_found_and_outlast_a_restart(
    index: EdgeIndex, tmp_path: Path
) -> None:
    await rebuilt(index)
    gone = next(iter(page(3)))
    await index.delete_pages([gone])
    await index.replace_pages(page(4, vector=PAGES + 4))
    await index.replace_pages(page(PAGES))
    rows = list(range(PAGES + 1))
    rows[4] = PAGES + 4
    for opened in (index, EdgeIndex(tmp_path / "index")):
        assert await opened.counts() == IndexCounts(pages=PAGES, chunks=PAGES)
        assert "Leave 3" not in await found(opened, 3, limit=PAGES)
        assert (await found(opened, PAGES, limit=1)).keys() == {f"Leave {PAGES}"}
        told = await found(opened, PAGES + 4, limit=1)
        assert told == {"Leave 4": pytest.approx(1.0, abs=1e-5)}
        assert gone not in await opened.revisions()
        await opened.count_words()
        assert opened.words.passages == PAGES
        await opened.close()


async def test_partly_quantized_vectors_are_searched_exactly(index: EdgeIndex) -> None:
    await rebuilt(index)
    for number in range(PAGES, PAGES + LARGE // 2):
        await index.replace_pages(page(number))
    for number in range(0, PAGES, 3):
        await index.replace_pages(page(number, vector=2 * PAGES + number))
    rows = list(range(PAGES + LARGE // 2))
    for number in range(0, PAGES, 3):
        rows[number] = 2 * PAGES + number
    await assert_exact(index, rows)


async def test_an_index_that_grows_large_is_quantized_after_the_sync_and_keeps_its_way_back(
    index: EdgeIndex, tmp_path: Path
) -> None:
    await rebuilt(index, 5)
    await rebuilt(index, 1)
    await put(index, PAGES)
    await index.calibrate(Calibration(passages=PAGES))
    await index.settle()
    folder = tmp_path / "index"
    assert is_quantized(folder)
    quantized = live(folder)
    await assert_exact(index, range(PAGES))
    assert await index.calibration() == Calibration(passages=PAGES)
    await index.settle()  # nothing came since
    assert live(folder) == quantized
    previous = await index.open_previous()
    assert previous is not None
    assert await previous.counts() == IndexCounts(pages=5, chunks=5)
    await previous.discard()
    for number in range(PAGES, PAGES + LARGE + 1):
        await index.replace_pages(page(number))
    await index.settle()
    assert live(folder) != quantized
    assert is_quantized(folder)


async def test_the_way_back_is_taken_as_it_is(index: EdgeIndex, tmp_path: Path) -> None:
    await rebuilt(index, LARGE)
    await put(index, PAGES)
    rebuild = await index.begin_rebuild(MANIFEST)
    await put(rebuild, 1)
    await rebuild.swap()
    previous = await index.open_previous()
    assert previous is not None
    await previous.swap()
    assert not is_quantized(tmp_path / "index")
    assert await index.counts() == IndexCounts(pages=PAGES, chunks=PAGES)


async def test_a_copy_of_a_large_index_is_quantized_and_the_same(index: EdgeIndex, tmp_path: Path) -> None:
    await rebuilt(index, 2)
    await rebuilt(index)
    copy = EdgeIndex(tmp_path / "copy")
    await copy_index(index, copy, label="x", tell=lambda _: None)
    assert is_quantized(tmp_path / "copy")
    pages = list(await index.revisions())
    assert differences(await index.stored(pages), await copy.stored(pages)) == []
    assert await copy.others(["x:live", "x:previous"]) == generations(tmp_path / "copy")
    previous = await copy.open_previous()
    assert previous is not None
    assert await previous.counts() == IndexCounts(pages=2, chunks=2)
    await previous.discard()
    await copy.close()


async def test_words_are_known_after_a_restart_without_counting_anew(
    index: EdgeIndex, tmp_path: Path
) -> None:
    await rebuilt(index)
    await index.close()
    again = EdgeIndex(tmp_path / "index")
    assert await again.manifest() == MANIFEST
    assert again.words.passages == PAGES
    await again.close()
