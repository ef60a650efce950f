"""A page of hundreds of passages is put into the embedded index in short
steps, and is whole only after the last of them.
"""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kb.index.embedded.index import EdgeIndex
from kb.index.embedded.shard import Shard
from kb.index.embedded.steps import AT_ONCE, TOGETHER, steps
from kb.index.port import IndexedChunk, IndexManifest, SparseVector
from kb.models import EVERYONE, Audience, Chunk, Page

MANIFEST = IndexManifest(embedder="tiny", dimension=2, chunker="v1")
EVERYBODY = Audience()


def passages(revision: str, texts: list[str], *, of: str = "log") -> list[IndexedChunk]:
    page = Page(
        id=f"kb:{of}.md",
        source="kb",
        path=f"{of}.md",
        title="Log",
        url="https://kb.example/log",
        revision=revision,
        audience=(EVERYONE,),
    )
    return [
        IndexedChunk(
            chunk=Chunk(id=f"{of}#{text}", page=page, position=at, text=text, url=page.url),
            dense=array("f", [1.0, 0.0]),
            lexical=SparseVector(indices=(1,), values=(1.0,)),
        )
        for at, text in enumerate(texts)
    ]


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EdgeIndex]:
    index = EdgeIndex(tmp_path, manifest=MANIFEST)
    yield index
    await index.close()


async def texts_of(index: EdgeIndex) -> list[str]:
    return [chunk.text async for batch in index.passages(audience=EVERYBODY) for chunk in batch]


async def test_a_large_page_takes_the_place_of_what_was_there(index: EdgeIndex) -> None:
    await index.replace_pages({"kb:log.md": passages("r1", [f"old {n}" for n in range(200)])})
    new = [f"new {n}" for n in range(3 * AT_ONCE)]
    await index.replace_pages({"kb:log.md": passages("r2", new)})

    assert sorted(await texts_of(index)) == sorted(new)
    assert await index.revisions() == {"kb:log.md": "r2"}


@pytest.mark.parametrize("before", [0, 3])
def test_a_large_page_that_was_cut_off_at_any_step_has_no_revision_and_can_be_begun_anew(
    tmp_path: Path, before: int
) -> None:
    shard = Shard.create(tmp_path, MANIFEST)
    for step in steps({"kb:log.md": passages("r1", [f"old {n}" for n in range(before)])}):
        step(shard)
    chunks = passages("r2", [f"new {n}" for n in range(2 * AT_ONCE)])
    *unfinished, last = steps({"kb:log.md": chunks})

    for step in unfinished:
        step(shard)
        assert shard.revisions() == {"kb:log.md": ""}
    last(shard)

    assert shard.revisions() == {"kb:log.md": "r2"}
    assert shard.counts().chunks == 2 * AT_ONCE
    assert len(unfinished) >= 2 * AT_ONCE / TOGETHER
    shard.close()


def test_an_ordinary_page_is_one_step() -> None:
    assert len(list(steps({"kb:log.md": passages("r1", ["one"] * AT_ONCE)}))) == 1


def test_small_pages_share_a_step_and_each_is_replaced_whole(tmp_path: Path) -> None:
    shard = Shard.create(tmp_path, MANIFEST)
    before = {f"kb:p{at}.md": passages("r1", ["a", "b", "c"], of=f"p{at}") for at in range(40)}
    taken = list(steps(before))
    for step in taken:
        step(shard)
    for step in steps({"kb:p0.md": passages("r2", ["b"], of="p0"), "kb:p1.md": [], "kb:new.md": []}):
        step(shard)

    assert len(taken) == 4, "ten pages of three passages each"
    assert shard.counts().chunks == 40 * 3 - 2 - 3
    assert shard.revisions() == {page: "r1" for page in before if page != "kb:p1.md"} | {"kb:p0.md": "r2"}
    assert shard.words.counts.passages == shard.counts().chunks
    shard.close()
