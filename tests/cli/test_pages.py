"""The playground's page viewer shows nobody what the bot would not have shown them."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from urllib.parse import quote

import aiohttp
import pytest

from bot.cli.serving.pages import PageViewer
from bot.playground import sample_workspace
from ingest.chunking.chunks import chunk_page
from ingest.parsers.formats import parse_file
from ingest.parsers.reader import DirectReader
from kb.config.settings import SourceSettings
from kb.models import Page, PageDates
from tests.fakes.documents import a_docx, a_pdf, a_pptx, an_xlsx, paragraph
from tests.fakes.playground import Playground


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "open.md").write_text("# Open\n\nFor everyone.")
    (folder / "pay.md").write_text("---\naudience: ['#people-leads']\n---\n# Pay\n\nSecret.")
    (folder / "broken.md").write_text("---\naudience: [\n---\n# Broken")
    (folder / "script.py").write_text("# not a page")
    (tmp_path / "outside.md").write_text("# Outside")
    return folder


def a_viewer(folder: Path, **source: object) -> PageViewer:
    settings = SourceSettings(name="s", path=folder, **source)  # type: ignore[arg-type]
    return PageViewer(lambda: [settings], DirectReader())


async def test_a_page_for_everyone_opens_with_and_without_a_key(pages: Path):
    viewer = a_viewer(pages)
    assert "For everyone." in (await viewer.read("open.md") or "")
    assert "For everyone." in (await viewer.read(viewer.address("open.md")) or "")


async def test_a_limited_page_opens_by_the_key_of_its_own_citation_alone(pages: Path):
    viewer = a_viewer(pages)
    assert "Secret." in (await viewer.read(viewer.address("pay.md")) or "")
    another = viewer.address("open.md").split("/")[0]
    for address in ("pay.md", f"{another}/pay.md", "~/pay.md", a_viewer(pages).address("pay.md")):
        assert await viewer.read(address) is None


async def test_a_page_whose_limit_cannot_be_read_stays_closed(pages: Path):
    assert await a_viewer(pages).read("broken.md") is None


async def test_a_limited_source_has_no_open_page(pages: Path):
    assert await a_viewer(pages, audience=("#people-leads",)).read("open.md") is None


@pytest.mark.parametrize(
    "address",
    [
        "../outside.md",
        "script.py",
        "missing.md",
        "",
        "/etc/passwd.md",
        ".hidden.md",
        "linked/pay.md",
        "drafts/a.md",
    ],
)
async def test_nothing_but_pages_of_the_sources_opens(pages: Path, address: str):
    (pages / ".hidden.md").write_text("# Hidden")
    (pages / "drafts").mkdir()
    (pages / "drafts" / "a.md").write_text("# A draft")
    (pages / "linked").symlink_to(pages, target_is_directory=True)
    viewer = a_viewer(pages, exclude=("drafts/",))
    assert await viewer.read(address) is None
    assert await viewer.read(viewer.address(address)) is None


ATTACK = "<script>alert(1)</script><img src=x onerror=alert(2)>"
SHOWN_ATTACK = ATTACK.replace("<", "&lt;").replace(">", "&gt;")
FILES: dict[str, bytes] = {
    "rules.docx": a_docx(
        body=paragraph("Rules", heading=1) + paragraph("Twelve tents.") + paragraph(SHOWN_ATTACK)
    ),
    "rules.pdf": a_pdf([[(24, "Rules"), (11, "Page one.")], [(11, "Twelve tents.")], [(11, ATTACK)]]),
    "rules.pptx": a_pptx([("Rules", "Twelve tents."), ("Attack", SHOWN_ATTACK)]),
    "rules.xlsx": an_xlsx({"Rules": [["What", "How many"], ["Tents", "Twelve tents."], ["x", SHOWN_ATTACK]]}),
    "rules.html": f"<h1>Rules</h1><p>Twelve tents.</p><h2 id='who'>Who</h2><p>All. {SHOWN_ATTACK}</p>"
    "<script>alert(3)</script>".encode(),
    "rules.csv": f'what,how many\ntents,Twelve tents.\n"{ATTACK}",1\n'.encode(),
    "rules.txt": f"Rules\n\nTwelve tents.\n\n{ATTACK}\n".encode(),
    "rules.rst": f"Rules\n=====\n\nTwelve tents.\n\n{ATTACK}\n".encode(),
    "rules.ipynb": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "markdown", '
    b'"id": "a", "metadata": {}, "source": ["# Rules\\n", "\\n", "Twelve tents. <script>alert(1)</script>"]}]}',
    "rules.eml": f"Subject: Rules\nContent-Type: text/plain\n\nTwelve tents.\n\n{ATTACK}\n".encode(),
}


@pytest.mark.parametrize("name", FILES)
async def test_a_page_of_every_format_opens_where_its_citations_lead_and_none_of_its_mark_up_works(
    tmp_path: Path, name: str
):
    (tmp_path / name).write_bytes(FILES[name])
    viewer = a_viewer(tmp_path)
    parsed = parse_file(FILES[name], path=name)
    page = Page(
        id=f"s:{name}",
        source="s",
        path=name,
        title=parsed.title,
        url=name,
        language="en",
        revision="1",
        dates=PageDates(),
    )
    chunks = chunk_page(page, parsed, count_tokens=lambda text: len(text.split()), max_tokens=200)
    (cited,) = [chunk for chunk in chunks if "Twelve tents." in chunk.text]
    fragments = {chunk.url.partition("#")[2] for chunk in chunks} - {""}
    async with (
        Playground(sample_workspace(), pages=viewer.read) as slack,
        aiohttp.ClientSession(slack.url) as browser,
        browser.get(f"/kb/{viewer.address(cited.url.partition('#')[0])}") as response,
    ):
        assert response.status == 200
        shown = await response.text()
    assert "Twelve tents." in shown
    assert fragments <= {unescape(one) for one in re.findall(r"id='([^']+)'", shown)}
    assert (fragments != set()) == (name in {"rules.pdf", "rules.html"})
    assert "<script" not in shown
    assert "<img" not in shown


async def test_a_limited_source_of_documents_opens_by_the_key_alone(tmp_path: Path):
    (tmp_path / "pay scale.pdf").write_bytes(a_pdf([[(11, "Secret.")]]))
    viewer = a_viewer(tmp_path, audience=("#people-leads",))
    assert await viewer.read(quote("pay scale.pdf")) is None
    assert await viewer.read("pay scale.pdf") is None
    key = viewer.address("pay scale.pdf").partition("/")[0]
    assert "Secret." in str(await viewer.read(f"{key}/pay scale.pdf"))


async def test_a_file_that_is_not_indexed_does_not_open(tmp_path: Path):
    (tmp_path / "locked.pdf").write_bytes(a_pdf([[(11, "Secret.")]], encrypted=True))
    (tmp_path / "tent.png").write_bytes(b"\x89PNG")
    viewer = a_viewer(tmp_path)
    for name in ("locked.pdf", "tent.png"):
        assert await viewer.read(viewer.address(name)) is None
