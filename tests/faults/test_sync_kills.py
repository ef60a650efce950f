"""A sync dies by kill -9 at random moments; the next one resumes, and
the index equals an undisturbed one, point for point.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import sys
import time
from pathlib import Path

import pytest

from kb.index.embedded.index import EdgeIndex
from kb.index.port import QueryVectors, SparseVector
from kb.models import Audience
from tests.fakes.embedder import HashEmbedder
from tests.fakes.syncing import OtherModel, sync_once

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("FOOTNOTE_SYNC_KILLS", "4"))
"""Twenty is the goal, four the default: each costs a start of Python, some two seconds on a busy core."""
PAGES = 150
pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    folder.mkdir()
    for number in range(PAGES):
        sections = "\n\n".join(f"## Part {part}\n\n{part} of {number}: " + "words " * 40 for part in range(5))
        (folder / f"{number}.md").write_text(f"# Page {number}\n\n{sections}\n", encoding="utf-8")
    return folder


async def points(folder: Path, dimension: int = HashEmbedder.dimension) -> dict[str, tuple[object, ...]]:
    """Everything that the index holds: passage id -> its page's revision, its text, its scores for two queries."""
    index = EdgeIndex(folder)
    ones = QueryVectors(dense=[1.0] * dimension, lexical=SparseVector(indices=(), values=()))
    slope = [float(at) for at in range(dimension)]
    ramp = QueryVectors(dense=slope, lexical=SparseVector(indices=(), values=()))
    try:
        hits = await index.search([ones, ramp], audience=Audience(), limit=100_000)
        assert len(hits) == (await index.counts()).chunks
    finally:
        await index.close()
    return {
        hit.chunk.id: (
            hit.chunk.page,
            hit.chunk.text,
            hit.chunk.position,
            *(round(score, 5) for score in hit.dense),
        )
        for hit in hits
    }


async def dimension(folder: Path) -> int:
    """The vectors' dimension of the index that answers questions."""
    index = EdgeIndex(folder)
    try:
        manifest = await index.manifest()
    finally:
        await index.close()
    assert manifest is not None
    return manifest.dimension


async def killed(pages: Path, folder: Path, after_s: float, *options: str) -> bool:
    """Runs a sync in a process of its own and kills it after its start; False: it had ended before."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(ROOT / "tests" / "fakes" / "syncing.py"),
        str(pages),
        str(folder),
        *options,
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    try:
        await asyncio.wait_for(process.wait(), after_s)
    except TimeoutError:
        process.kill()
        await process.wait()
        return True
    assert process.returncode == 0
    return False


@pytest.mark.parametrize("options", [(), ("--full",)], ids=["incremental", "full"])
async def test_a_sync_that_is_killed_again_and_again_ends_as_an_undisturbed_one(
    pages: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    chance = random.Random(7)
    if options:
        await sync_once(pages, tmp_path / "killed")
    kills = 0
    for _ in range(KILLS):
        edit(pages, chance)
        kills += await killed(pages, tmp_path / "killed", chance.uniform(0.05, 1.0), *options)
    assert kills, "no sync was at work when it was killed: the test shows nothing"
    shutil.rmtree(tmp_path / "whole", ignore_errors=True)

    await sync_once(pages, tmp_path / "killed")
    await sync_once(pages, tmp_path / "whole")

    after, whole = await points(tmp_path / "killed"), await points(tmp_path / "whole")
    assert len(whole) > PAGES
    assert after == whole


async def test_a_change_of_the_model_that_is_killed_leaves_the_old_index_whole_until_the_new_one_is(
    pages: Path, tmp_path: Path
) -> None:
    old, index, new = tmp_path / "old", tmp_path / "killed", tmp_path / "new"
    await sync_once(pages, old)
    before = await points(old)
    shutil.copytree(old, new)
    started = time.monotonic()
    assert not await killed(pages, new, 120.0, "--model")
    lasts_s = time.monotonic() - started
    after = await points(new, OtherModel.dimension)
    assert len(after) == len(before)

    chance, cut_off = random.Random(11), 0
    for _ in range(KILLS):
        if not index.exists():
            shutil.copytree(old, index)
        await killed(pages, index, chance.uniform(0.05, 0.6) * lasts_s, "--model")
        if await dimension(index) == HashEmbedder.dimension:
            cut_off += 1
            assert await points(index) == before
        else:
            assert await points(index, OtherModel.dimension) == after, "it was swapped before it was whole"
            shutil.rmtree(index)
    assert cut_off, "each sync was over when it was killed: the test shows nothing"

    if not index.exists():
        shutil.copytree(old, index)
    await sync_once(pages, index, other=True)
    assert await points(index, OtherModel.dimension) == after


def edit(pages: Path, chance: random.Random) -> None:
    """Some pages change, one goes, one comes: so that old and new passages of a page could be mixed."""
    names = sorted(pages.iterdir())
    for page in chance.sample(names, 40):
        text = page.read_text(encoding="utf-8")
        page.write_text(f"{text}\n\n## More\n\n{chance.random()} more.\n", encoding="utf-8")
    chance.choice(names).unlink()
    (pages / f"new-{chance.randrange(10**9)}.md").write_text("# New\n\nIt is new.\n", encoding="utf-8")
