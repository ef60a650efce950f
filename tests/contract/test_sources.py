"""What every source does, whatever it reads. A new connector joins by a
world of its own in `tests.fakes.source_worlds`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import PageError, SourceUnavailableError, SyncRefusedError
from ingest.sources.port import PageRef, Source
from ingest.sync.sync import Sync
from kb.index.embedded.index import EdgeIndex
from kb.index.port import QueryVectors, SparseVector
from kb.models import Audience
from kb.retrieval.lexical import LexicalEncoder
from tests.fakes.embedder import HashEmbedder
from tests.fakes.source_worlds import NAME, TEXTS, WORLDS, World
from tests.fakes.syncing_source import killed_while_embedding


@pytest.fixture(params=list(WORLDS))
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    async with WORLDS[request.param](tmp_path) as world:
        yield world


async def listed(source: Source) -> dict[str, PageRef]:
    try:
        refs = [ref async for ref in source.discover()]
        assert len({ref.path for ref in refs}) == len(refs), "a page is listed twice"
        return {ref.path: ref for ref in refs}
    finally:
        await source.close()


async def test_every_page_is_listed_and_read_under_its_path(world: World) -> None:
    source = world.source()
    refs = await listed(source)

    assert sorted(refs) == sorted(world.paths.values())
    for key, path in world.paths.items():
        raw = await source.fetch(refs[path])
        assert (raw.path, raw.revision) == (path, refs[path].revision)
        assert TEXTS[key] in raw.content.decode()
    await source.close()


async def test_a_listing_is_the_same_again_until_a_page_is_edited_and_then_for_all_others(
    world: World,
) -> None:
    before = await listed(world.source())
    assert await listed(world.source()) == before

    world.edit(
        "two",
        "Sick leave is reported by electronic mail before eight in the morning to the office of the team.",
    )
    source = world.source()
    after = await listed(source)

    assert [path for path in before if after[path].revision != before[path].revision] == [world.paths["two"]]
    assert "electronic mail" in (await source.fetch(after[world.paths["two"]])).content.decode()
    await source.close()


async def test_a_removed_page_is_not_listed(world: World) -> None:
    await listed(world.source())
    world.remove("two")

    assert sorted(await listed(world.source())) == sorted([world.paths["one"], world.paths["three"]])


async def test_a_page_is_read_by_a_source_that_listed_nothing(world: World) -> None:
    """Workers on other machines get the path alone."""
    refs = await listed(world.source())
    worker = world.source()

    for path, ref in refs.items():
        assert (await worker.fetch(PageRef(path=path, revision=None))).revision == ref.revision
    await worker.close()


async def test_a_path_that_leads_nowhere_is_a_page_error_with_a_reason(world: World) -> None:
    source = world.source()
    await listed(source)
    first = world.paths["one"]

    with pytest.raises(PageError) as caught:
        await source.fetch(PageRef(path=f"{first}x", revision=None))
    assert len(caught.value.reason) > 10
    await source.close()


async def test_a_place_that_does_not_answer_is_an_unavailable_source_and_not_an_empty_one(
    world: World,
) -> None:
    await listed(world.source())
    world.break_down()

    with pytest.raises(SourceUnavailableError, match=f"source '{NAME}': .{{20,}}"):
        await listed(world.source())


async def test_a_source_is_for_everyone_or_for_its_channels(world: World) -> None:
    assert world.source().audience == ("*",)
    assert world.source(audience=("#leads", "C0123")).audience == ("#leads", "C0123")
    assert world.source().name == NAME


async def test_a_closed_source_may_be_used_again(world: World) -> None:
    source = world.source()
    before = await listed(source)
    await source.close()

    assert await listed(source) == before


async def test_an_address_never_tells_a_place_on_this_machine(world: World, tmp_path: Path) -> None:
    source = world.source()
    for path, ref in (await listed(source)).items():
        for url in (source.url_of(path), (await source.fetch(ref)).url):
            assert str(tmp_path) not in url
            assert url == path or url.startswith("http")
    await source.close()


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EdgeIndex]:
    index = EdgeIndex(tmp_path / "index")
    yield index
    await index.close()


def parts_of(world: World, index: EdgeIndex) -> dict[str, Any]:
    return {
        "index": index,
        "embedder": HashEmbedder(),
        "lexical": LexicalEncoder(),
        "sources": lambda: [world.source()],
        "clock": lambda: datetime(2026, 8, 22, tzinfo=UTC),
    }


async def readable(index: EdgeIndex) -> str:
    """All that somebody reads who is in no channel."""
    ones = QueryVectors(dense=[1.0] * HashEmbedder.dimension, lexical=SparseVector(indices=(), values=()))
    return "\n".join(hit.chunk.text for hit in await index.search([ones], audience=Audience(), limit=100))


async def test_a_sweep_removes_what_is_gone_and_nothing_when_the_source_fails(
    world: World, index: EdgeIndex
) -> None:
    parts = parts_of(world, index)
    first = await Sync(**parts).run()
    assert (sorted(first.added), first.failed) == (sorted(world.paths.values()), [])
    assert (await Sync(**parts).run()).unchanged == 3

    world.remove("two")
    second = await Sync(**parts).run()
    assert (second.removed, second.unchanged, second.failed) == ([world.paths["two"]], 2, [])

    world.break_down()
    held = await index.revisions()
    with pytest.raises(SyncRefusedError, match=NAME):
        await Sync(**parts).run()
    assert await index.revisions() == held


async def test_a_page_that_cannot_be_read_fails_alone_and_keeps_its_earlier_text(
    world: World, index: EdgeIndex
) -> None:
    parts = parts_of(world, index)
    await Sync(**parts).run()
    if not world.break_page("two"):
        pytest.skip("a page alone cannot break here")
    report = await Sync(**parts).run()

    assert [failure.path for failure in report.failed] == [world.paths["two"]]
    assert len(report.failed[0].reason) > 10
    assert (report.unchanged, report.removed) == (2, [])
    assert TEXTS["two"] in await readable(index)


async def test_a_page_that_is_limited_later_is_read_by_everyone_no_more(
    world: World, index: EdgeIndex
) -> None:
    parts = parts_of(world, index)
    await Sync(**parts).run()
    assert TEXTS["two"] in await readable(index)
    if not world.limit("two"):
        pytest.skip("no limit is told here")
    await Sync(**parts).run()

    assert TEXTS["two"] not in await readable(index)


async def test_a_limit_of_the_rate_is_waited_out_and_nothing_is_missing(
    world: World, index: EdgeIndex
) -> None:
    if not world.slow_down():
        pytest.skip("nothing is asked of a server that has limits")
    report = await Sync(**parts_of(world, index)).run()

    assert (sorted(report.added), report.failed) == (sorted(world.paths.values()), [])


@pytest.mark.series
async def test_a_sync_that_was_killed_is_taken_up_by_the_next_one(world: World, tmp_path: Path) -> None:
    """kill -9 while it embeds, when all of the source has been asked for and nothing is indexed yet."""
    kept = getattr(world, "kept", tmp_path / "kept")
    await killed_while_embedding(world.source(), kept, tmp_path / "index")
    index = EdgeIndex(tmp_path / "index")
    try:
        report = await Sync(**parts_of(world, index)).run()
        assert (sorted(report.added), report.failed) == (sorted(world.paths.values()), [])
        assert (await Sync(**parts_of(world, index)).run()).unchanged == 3
    finally:
        await index.close()
