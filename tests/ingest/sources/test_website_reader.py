"""Large pages of a website are read in a process of their own, to the same end."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from yarl import URL

from ingest.processes import ProcessPool
from ingest.sources.web import reader as web_reader
from ingest.sources.web.client import WebError, WebResponse
from ingest.sources.web.document import WebDocument, read_document
from ingest.sources.web.reader import WebReader
from tests.fakes.website import article

LONG = "Everybody who works here has a right to twenty-five days of paid leave in each calendar year, and may take them."
LINKS = "".join(f'<a href="p{number}?q=%C3%BC">{number}</a> ' for number in range(2_500))


def an_answer(content: str | bytes, media_type: str = "text/html", robots: str = "") -> WebResponse:
    return WebResponse(
        url=URL("https://docs.example/caf%C3%A9/?a=1%2B2"),
        status=200,
        content=content if isinstance(content, bytes) else content.encode(),
        media_type=media_type,
        robots=robots,
    )


ANSWERS = [
    an_answer(article("Leave", LONG, f"<p>{LINKS}</p>", head='<link rel="canonical" href="/leave">')),
    an_answer(article("Leave", LONG, head='<meta property="article:modified_time" content="2026-03-04">')),
    an_answer(article("Leave", LONG, head='<meta name="audience" content="#leads">')),
    an_answer(article("Leave", LONG, head="<!-- audience: '#leads' -->")),
    an_answer(article("Leave", LONG), robots="noindex, nofollow"),
    an_answer("<!-- nothing -->"),
    an_answer(f"# Leave\n\n{LONG}", "text/markdown"),
    an_answer(b"%PDF-1.7", "application/pdf"),
    an_answer(b"\x89PNG", "image/png"),
]


@pytest.fixture(scope="module")
def expected() -> list[WebDocument | None]:
    return [read_document(answer) for answer in ANSWERS]


@pytest.fixture
async def apart() -> AsyncIterator[WebReader]:
    reader = WebReader(large=0)
    yield reader
    await reader.close()


async def test_a_page_is_the_same_wherever_it_is_read(
    apart: WebReader, expected: list[WebDocument | None]
) -> None:
    assert [await apart.read(answer) for answer in ANSWERS] == expected
    here = WebReader(large=1 << 30)
    assert [await here.read(answer) for answer in ANSWERS] == expected
    assert expected[0] is not None
    assert len(expected[0].links) > 2_500


async def test_only_large_pages_start_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_reader, "read_document", lambda answer: None)
    reader = WebReader(large=10_000)
    try:
        assert await reader.read(an_answer(article("Leave", LONG))) is None
        assert await reader.read(an_answer(article("Leave", LONG, f"<p>{LINKS}</p>"))) is not None
    finally:
        await reader.close()


async def test_a_page_that_takes_too_long_fails_and_the_next_one_is_read(apart: WebReader) -> None:
    hurried = WebReader(large=0, seconds=0.001)
    with pytest.raises(WebError, match="took longer"):
        await hurried.read(ANSWERS[0])
    await hurried.close()
    assert await apart.read(ANSWERS[1]) is not None


async def test_a_process_that_dies_fails_its_page_alone(apart: WebReader) -> None:
    apart._pool = ProcessPool("ingest.sources.web.worker", workers=1, memory_bytes=60 << 20)
    huge = an_answer(article("Leave", *(f"{LONG} {number}" for number in range(20_000))))
    with pytest.raises(WebError):
        await apart.read(huge)
    assert await apart.read(ANSWERS[1]) is not None
