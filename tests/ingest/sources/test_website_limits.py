"""Pages of a website that say who may read them: in their head, in a comment, in an attribute."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from yarl import URL

from ingest.errors import PageError
from ingest.parsers.formats import parse_file
from ingest.sources.port import PageRef
from ingest.sources.web.client import WebResponse
from ingest.sources.web.document import WebDocument, read_document
from ingest.sources.web.source import WebsiteSource
from ingest.sync.sync import Sync
from kb.config.sources import WebsiteSettings
from kb.index.embedded.index import EdgeIndex
from kb.index.port import QueryVectors, SparseVector
from kb.models import Audience
from kb.retrieval.lexical import LexicalEncoder
from tests.fakes.embedder import HashEmbedder
from tests.fakes.limit_spellings import spellings
from tests.fakes.website import Website, article

LONG = "Everybody who works here has a right to twenty-five days of paid leave in each calendar year, and may take them."
SECRET = f"Band 3 earns 5817. {LONG}"
FOR_LEADS = '<meta name="audience" content="#leads">'


def as_read(page: str | bytes) -> WebDocument:
    content = page if isinstance(page, bytes) else page.encode()
    url = URL("https://docs.example/pay")
    document = read_document(WebResponse(url=url, status=200, content=content, media_type="text/html"))
    assert document is not None
    return document


@pytest.mark.parametrize(
    "head",
    [
        FOR_LEADS,
        "<META CONTENT='#leads' NAME=Audience>",
        '<meta property="og:audience" content="#leads"/>',
        '<meta itemprop="audience" content="&#35;leads">',
    ],
)
def test_a_page_is_for_whom_its_head_names(head: str) -> None:
    document = as_read(article("Pay", SECRET, head=head))
    assert (document.audience, document.closed) == (("#leads",), None)


def test_front_matter_that_a_generator_left_above_a_page_limits_it() -> None:
    assert as_read(f"---\naudience: '#leads'\n---\n{article('Pay', SECRET)}").audience == ("#leads",)
    assert not as_read(f"<!-- status: draft -->\n{article('Pay', SECRET)}").is_limited


@pytest.mark.parametrize(
    "page",
    [
        article("Pay", SECRET, head='<meta name="audience" content="leaders only">'),
        article("Pay", SECRET, head='<meta name="visibility" content="private">'),
        article("Pay", SECRET, head=f'{FOR_LEADS}<meta name="audience" content="everyone">'),
        article("Pay", SECRET, head='<meta name="аudience" content="#leads">'),
        article("Pay", SECRET, head="<!-- audience: '#leads' -->"),
        article("Pay", SECRET).replace("<body>", '<body data-audience="#leads">'),
    ],
)
def test_a_limit_that_is_not_understood_closes_the_page(page: str) -> None:
    document = as_read(page)
    assert document.closed is not None
    assert document.is_limited


@pytest.mark.parametrize(
    "head",
    [
        '<meta name="audience" content="all">',
        '<meta name="audience" content="everyone"><!-- audience: engineers -->',
        '<meta name="robots" content="index"><meta name="viewport" content="width=device-width">',
        '<meta name="distribution" content="global"><meta name="classification" content="Business">',
        "<script>var audience = '#leads'; const visibility = 'private';</script>",
        "<style>#leads { color: red } .audience { visibility: hidden }</style>",
    ],
)
def test_what_a_public_site_says_to_search_engines_and_browsers_limits_nobody(head: str) -> None:
    assert not as_read(article("Pay", SECRET, head=head)).is_limited


def test_no_spelling_in_the_place_of_a_website_s_page_is_open() -> None:
    assert [one.shown for one in list(spellings())[::19] if _is_open(as_read(one.text))] == []


def _is_open(document: WebDocument) -> bool:
    if document.is_limited:
        return False
    try:
        page = parse_file(document.content, path="pay", media_type=document.media_type)
    except PageError as error:
        return not error.withdraw
    return page.front.audience is None


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EdgeIndex]:
    index = EdgeIndex(tmp_path / "index")
    yield index
    await index.close()


async def _no_pause(_: float) -> None:
    await asyncio.sleep(0)


def a_source(site: Website, folder: Path) -> WebsiteSource:
    settings = WebsiteSettings(kind="website", name="site", start=f"{site.url}/", delay_s=0)  # type: ignore[arg-type]
    return WebsiteSource(settings, folder, may_reach=lambda address: address == "127.0.0.1", sleep=_no_pause)


async def seen(index: EdgeIndex, *channels: str) -> str:
    ones = QueryVectors(dense=[1.0] * HashEmbedder.dimension, lexical=SparseVector(indices=(), values=()))
    audience = Audience(channels=frozenset(channels))
    return "\n".join(hit.chunk.text for hit in await index.search([ones], audience=audience, limit=100))


@pytest.mark.parametrize(
    ("limited", "for_leads"),
    [
        (article("Pay", SECRET, head=FOR_LEADS), True),
        (article("Pay", SECRET, head='<meta name="audience" content="leaders only">'), False),
        (f"<html><head><title>Pay</title>{FOR_LEADS}</head><body></body></html>", False),
        (f'<html><head>{FOR_LEADS}</head><body><div id="root"></div><script src="a.js"></script></body></html>', False),
    ],
)  # fmt: skip
async def test_a_page_that_is_limited_later_leaves_the_index_of_everyone(
    limited: str, for_leads: bool, index: EdgeIndex, tmp_path: Path
) -> None:
    async with Website({"/": article("Start", LONG, '<a href="/pay">Pay</a>')}) as site:
        site.pages["/pay"] = article("Pay", SECRET)
        sync = {
            "index": index,
            "embedder": HashEmbedder(),
            "lexical": LexicalEncoder(),
            "sources": lambda: [a_source(site, tmp_path)],
            "clock": lambda: datetime(2026, 8, 22, tzinfo=UTC),
        }
        await Sync(**sync).run()  # type: ignore[arg-type]
        assert "5817" in await seen(index)
        site.pages["/pay"] = limited
        await Sync(**sync).run()  # type: ignore[arg-type]

        assert "5817" not in await seen(index)
        assert ("5817" in await seen(index, "#leads")) == for_leads
        again = await Sync(**sync).run()  # type: ignore[arg-type]
        assert again.added == []
        assert "5817" not in await seen(index)


async def test_a_draft_is_left_out_and_has_not_failed(index: EdgeIndex, tmp_path: Path) -> None:
    async with Website({"/": article("Start", LONG, '<a href="/pay">Pay</a>')}) as site:
        site.pages["/pay"] = article("Pay", SECRET, head='<meta name="status" content="draft">')
        result = await Sync(
            index=index,
            embedder=HashEmbedder(),
            lexical=LexicalEncoder(),
            sources=lambda: [a_source(site, tmp_path)],
            clock=lambda: datetime(2026, 8, 22, tzinfo=UTC),
        ).run()

        assert "5817" not in await seen(index)
        assert result.failed == []
        assert ["it is a draft" in page.reason for page in result.warned] == [True]


async def test_a_site_that_says_that_its_page_is_unchanged_does_not_open_it(tmp_path: Path) -> None:
    async with Website({"/": article("Start", LONG, '<a href="/pay">Pay</a>')}) as site:
        site.pages["/pay"] = article("Pay", SECRET, head=FOR_LEADS)
        first = [ref async for ref in a_source(site, tmp_path).discover()]
        source = a_source(site, tmp_path)
        again = [ref async for ref in source.discover()]

        assert (first, site.unchanged["/pay"]) == (again, 1)
        pay = next(ref for ref in again if ref.path.endswith("/pay"))
        assert (await source.fetch(pay)).audience == ("#leads",)


async def test_a_worker_that_crawled_nothing_knows_the_limits_too(tmp_path: Path) -> None:
    async with Website() as site:
        site.pages["/leads"] = article("Pay", SECRET, head=FOR_LEADS)
        site.pages["/closed"] = article("Pay", SECRET, head="<!-- audience: '#leads' -->")
        source, host = a_source(site, tmp_path), f"127.0.0.1:{site.port}"

        assert (await source.fetch(PageRef(path=f"{host}/leads", revision=None))).audience == ("#leads",)
        with pytest.raises(PageError) as caught:
            await source.fetch(PageRef(path=f"{host}/closed", revision=None))
        assert caught.value.withdraw
