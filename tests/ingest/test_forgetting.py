"""A page that is forgotten by hand is gone at once, everywhere, and no sync brings it back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.errors import ForgetRefusedError
from ingest.sync.forgetting import pages_at
from ingest.sync.jobs import ReindexJobs
from ingest.sync.sync import Sync
from kb.config.settings import SourceSettings
from kb.conversation.history import readable_turns
from kb.index.embedded.index import EdgeIndex
from kb.index.port import PageAddress, QueryVectors, SparseVector
from kb.jobs import ReindexRequest
from kb.models import Audience, Retrieved, Turn
from tests.fakes.embedder import HashEmbedder

from .conftest import Clock, write

Build = Callable[..., Sync]
EVERYBODY = Audience()
TEA = PageAddress(page_id="kb:tea.md", url="https://kb.example/Tea%20time/", title="Tea")
ROOT = "https://kb.example"


async def paths(index: EdgeIndex, *, anchors: tuple[str, ...] = ()) -> set[str]:
    vector = QueryVectors(dense=[1.0] * HashEmbedder.dimension, lexical=SparseVector(indices=(), values=()))
    hits = await index.search([vector], audience=EVERYBODY, limit=100, anchor_pages=anchors)
    return {hit.chunk.page.path for hit in hits}


@pytest.fixture
async def sync(a_sync: Build, pages: Path) -> Sync:
    write(pages, "tea.md", "Tea is at four.")
    write(pages, "lunch.md", "Lunch is at noon.")
    sync = a_sync(SourceSettings(name="kb", path=pages, base_url=ROOT, git_dates=False))
    await sync.run()
    return sync


async def test_a_forgotten_page_is_gone_from_search_anchors_and_history(
    sync: Sync, index: EdgeIndex, clock: Clock
) -> None:
    turn = Turn(
        question="When is tea?",
        answer="At four.",
        retrieved=(Retrieved(page_id="kb:tea.md", chunk_id="1", title="Tea", cited=True),),
        asked_at=clock(),
        outcome="answered",
    )
    assert (await readable_turns([turn], index, audience=EVERYBODY))[0].answer == "At four."

    gone = await sync.forget(f"{ROOT}/tea.md#when")

    assert [page.page_id for page in gone] == ["kb:tea.md"]
    assert await paths(index, anchors=("kb:tea.md",)) == {"lunch.md"}
    (left,) = await readable_turns([turn], index, audience=EVERYBODY)
    assert (left.answer, left.retrieved) == ("", ())


@pytest.mark.parametrize("full", [False, True])
async def test_no_sync_brings_it_back_before_that_is_asked_for(
    sync: Sync, index: EdgeIndex, pages: Path, full: bool
) -> None:
    await sync.forget(f"{ROOT}/tea.md")
    write(pages, "tea.md", "Tea is at five.")

    await sync.run(full=full)
    assert await paths(index) == {"lunch.md"}

    assert await sync.remember("kb:tea.md") == ["kb:tea.md"]
    await sync.run()
    assert await paths(index) == {"lunch.md", "tea.md"}


@pytest.mark.parametrize("full", [False, True])
async def test_a_page_that_is_forgotten_while_it_is_being_indexed_does_not_come_back(
    sync: Sync, index: EdgeIndex, embedder: HashEmbedder, pages: Path, clock: Clock, full: bool
) -> None:
    write(pages, "tea.md", "Tea is at five.")
    jobs = ReindexJobs(sync, clock=clock)
    embedder.arrived.clear()
    embedder.gate.clear()
    running = asyncio.create_task(_to_the_end(jobs, full=full))
    await embedder.arrived.wait()

    assert await jobs.forget(f"{ROOT}/tea.md")
    assert await paths(index) == {"lunch.md"}
    embedder.gate.set()

    assert await running == "done"
    assert await paths(index) == {"lunch.md"}


async def _to_the_end(jobs: ReindexJobs, *, full: bool) -> str:
    return [step.phase async for step in jobs.reindex(ReindexRequest(requested_by="U1", full=full))][-1]


async def test_an_address_where_no_page_is_forgets_nothing(sync: Sync, index: EdgeIndex) -> None:
    assert await sync.forget(f"{ROOT}/coffee.md") == []
    assert await paths(index) == {"lunch.md", "tea.md"}


@pytest.mark.parametrize(
    "written",
    [
        "https://kb.example/Tea%20time/",
        "https://KB.example/Tea time#milk",
        "<https://kb.example/Tea%20time|kb.example/Tea time>",
        "kb:tea.md",
        "tea.md",
    ],
)
def test_a_page_is_known_by_its_url_as_people_copy_it_its_path_and_its_id(written: str) -> None:
    assert pages_at(written, [TEA, PageAddress(page_id="kb:x.md", url="x.md", title="X")]) == [TEA]


NOTION = PageAddress(
    page_id="team:1f0c2d3e4f5061728394a5b6c7d8e9f0",
    url="https://www.notion.so/Leave-1f0c2d3e4f5061728394a5b6c7d8e9f0",
    title="Leave",
)
CLOUD = PageAddress(
    page_id="wiki:ENG/123", url="https://acme.atlassian.net/wiki/spaces/ENG/pages/123/Leave", title="Leave"
)
SERVER = PageAddress(page_id="old:ENG/123", url="https://wiki.acme.example/display/ENG/Leave", title="Leave")
SITE = PageAddress(page_id="site:acme.example/docs/index", url="https://acme.example/docs/", title="Docs")
SHOP = PageAddress(page_id="site:acme.example/shop?id=1", url="https://acme.example/shop?id=1", title="Shop")


@pytest.mark.parametrize(
    ("written", "page"),
    [
        ("https://www.notion.so/acme/Holidays-1f0c2d3e4f5061728394a5b6c7d8e9f0?pvs=4", NOTION),
        ("https://acme.notion.site/1f0c2d3e-4f50-6172-8394-a5b6c7d8e9f0", NOTION),
        ("https://acme.atlassian.net/wiki/spaces/ENG/pages/123/Holidays", CLOUD),
        ("https://acme.atlassian.net/wiki/pages/viewpage.action?spaceKey=ENG&pageId=123", CLOUD),
        ("https://wiki.acme.example/pages/viewpage.action?pageId=123#top", SERVER),
        ("http://acme.example/docs/index.html?utm_source=mail", SITE),
    ],
)
def test_a_page_is_known_by_the_address_that_a_browser_shows(written: str, page: PageAddress) -> None:
    assert pages_at(written, [NOTION, CLOUD, SERVER, SITE, SHOP]) == [page]


@pytest.mark.parametrize(
    "written",
    [
        "https://acme.example/shop?id=2",
        "https://acme.atlassian.net/wiki/spaces/ENG/pages/1234/Leave",
        "https://www.notion.so/2f0c2d3e4f5061728394a5b6c7d8e9f0",
    ],
)
def test_the_address_of_another_page_forgets_none(written: str) -> None:
    assert pages_at(written, [NOTION, CLOUD, SERVER, SITE, SHOP]) == []


def test_a_path_that_two_sources_have_forgets_neither() -> None:
    other = PageAddress(page_id="shop:tea.md", url="tea.md", title="Tea")
    with pytest.raises(ForgetRefusedError, match=r"kb:tea\.md, shop:tea\.md"):
        pages_at("tea.md", [TEA, other])
