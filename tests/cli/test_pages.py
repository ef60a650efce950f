"""The playground's page viewer shows nobody what the bot would not have shown them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.cli.pages import PageViewer
from kb.settings import SourceSettings


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
    return PageViewer(lambda: [SourceSettings(name="s", path=folder, **source)])  # type: ignore[arg-type]


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


@pytest.mark.parametrize("address", ["../outside.md", "script.py", "missing.md", ""])
async def test_nothing_but_pages_of_the_sources_opens(pages: Path, address: str):
    viewer = a_viewer(pages)
    assert await viewer.read(address) is None
    assert await viewer.read(viewer.address(address)) is None
