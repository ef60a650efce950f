"""A rebuilt index that looks wrong does not go live unless an admin insists, and the one before can come back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ingest.errors import SyncRefusedError
from ingest.sync.jobs import ReindexJobs
from ingest.sync.sync import Sync
from kb.config.search_settings import SearchSettings
from kb.config.settings import SourceSettings
from kb.errors import SettingsError
from kb.index.embedded.index import EdgeIndex
from kb.index.port import QueryVectors, SparseVector
from kb.jobs import ReindexRequest
from kb.models import Audience
from kb.retrieval.golden import GoldenQuestions, read_questions
from kb.retrieval.lexical import LexicalEncoder
from tests.fakes.embedder import HashEmbedder

from .conftest import Clock, write

Build = Callable[..., Sync]
TOPICS = ["leave", "laptop", "salary", "travel", "tea", "lunch", "garden", "badge", "parking", "desk"]


class QueryHashEmbedder(HashEmbedder):
    async def embed_queries(self, texts: list[str]) -> NDArray[np.float32]:
        return await self.embed_documents(texts)


async def texts(index: EdgeIndex, *channels: str) -> set[str]:
    vector = QueryVectors(dense=[1.0] * HashEmbedder.dimension, lexical=SparseVector(indices=(), values=()))
    audience = Audience(channels=frozenset(channels))
    return {hit.chunk.text for hit in await index.search([vector], audience=audience, limit=100)}


@pytest.fixture
async def sync(a_sync: Build, pages: Path) -> Sync:
    for topic in TOPICS:
        write(pages, f"{topic}.md", f"About {topic}.")
    sync = a_sync()
    await sync.run()
    return sync


async def test_losing_a_fifth_of_the_pages_is_refused_and_told_and_force_overrules(
    sync: Sync, pages: Path, index: EdgeIndex
) -> None:
    for topic in TOPICS[:4]:
        (pages / f"{topic}.md").unlink()

    with pytest.raises(SyncRefusedError, match=r"4 of 10 indexed pages would be gone \(4 of handbook\)"):
        await sync.run(full=True)
    assert (await index.counts()).pages == 10

    report = await sync.run(full=True, force=True)
    assert (await index.counts()).pages == 6
    assert report.removed == sorted(f"{topic}.md" for topic in TOPICS[:4])
    assert report.doubts == ["4 of 10 indexed pages would be gone (4 of handbook)"]


async def test_a_source_that_fails_refuses_the_rebuild_before_a_page_is_read(
    sync: Sync, a_sync: Build, pages: Path, tmp_path: Path, embedder: HashEmbedder, index: EdgeIndex
) -> None:
    sources = (
        SourceSettings(name="handbook", path=pages, git_dates=False),
        SourceSettings(name="shop", path=tmp_path / "away", git_dates=False),
    )
    calls = len(embedder.calls)

    with pytest.raises(SyncRefusedError, match="source shop failed"):
        await a_sync(*sources).run(full=True)
    assert len(embedder.calls) == calls

    await a_sync(*sources).run(full=True, force=True)
    assert (await index.counts()).pages == 10


@pytest.fixture
def golden(tmp_path: Path) -> GoldenQuestions:
    file = tmp_path / "golden.jsonl"
    asked = [
        {"question": "What about tea?", "page": "tea.md"},
        {"question": "Where is the moon?", "page": "moon.md"},
    ]
    file.write_text("\n".join(json.dumps(one) for one in asked), encoding="utf-8")
    return GoldenQuestions(
        file, embedder=QueryHashEmbedder(), lexical=LexicalEncoder(), settings=SearchSettings()
    )


async def test_a_golden_question_that_loses_its_page_refuses_and_one_that_never_had_it_does_not(
    a_sync: Build, sync: Sync, golden: GoldenQuestions, pages: Path, index: EdgeIndex
) -> None:
    guarded = a_sync(golden=golden)
    await guarded.run(full=True)
    (pages / "tea.md").unlink()

    with pytest.raises(SyncRefusedError, match=r"'What about tea\?' no longer finds tea\.md"):
        await guarded.run(full=True)
    assert "About tea." in await texts(index)

    await guarded.run(full=True, force=True)
    assert "About tea." not in await texts(index)


async def test_after_a_change_of_embedder_every_golden_question_must_find_its_page(
    a_sync: Build, sync: Sync, golden: GoldenQuestions
) -> None:
    with pytest.raises(SyncRefusedError, match=r"no longer finds moon\.md"):
        await a_sync(golden=golden, embedder=HashEmbedder(name="other")).run()


def test_a_line_that_is_no_golden_question_is_named(tmp_path: Path) -> None:
    file = tmp_path / "golden.jsonl"
    file.write_text('{"question": "a", "page": "b"}\n{"question": "a"}\n', encoding="utf-8")
    with pytest.raises(SettingsError, match="line 2"):
        read_questions(file)


async def test_a_refusal_reaches_whoever_asked_with_its_reason(sync: Sync, pages: Path, clock: Clock) -> None:
    for topic in TOPICS[:4]:
        (pages / f"{topic}.md").unlink()
    request = ReindexRequest(requested_by="U1", full=True)

    last = [step async for step in ReindexJobs(sync, clock=clock).reindex(request)][-1]

    assert (last.phase, last.refusal) == ("failed", "4 of 10 indexed pages would be gone (4 of handbook)")


async def test_a_rollback_brings_the_earlier_index_back(sync: Sync, pages: Path, index: EdgeIndex) -> None:
    write(pages, "tea.md", "Tea is over.")
    (pages / "desk.md").unlink()
    await sync.run(full=True)

    report = await sync.roll_back()

    assert (report.added, report.changed, report.removed) == (["desk.md"], ["tea.md"], [])
    assert {"About tea.", "About desk."} <= await texts(index)
    assert (await sync.run()).changed == ["tea.md"]
    assert "Tea is over." in await texts(index)


async def test_a_rollback_brings_back_neither_what_was_forgotten_nor_what_was_limited(
    sync: Sync, pages: Path, index: EdgeIndex
) -> None:
    await sync.run(full=True)
    await sync.forget("tea.md")
    write(pages, "salary.md", "---\naudience: '#leads'\n---\nAbout salary.")
    await sync.run()

    await sync.roll_back()

    assert not {"About tea.", "About salary."} & await texts(index)
    await sync.run()
    assert "About salary." in await texts(index, "#leads")
    assert not {"About tea.", "About salary."} & await texts(index)


async def test_without_an_earlier_generation_or_with_one_of_another_make_a_rollback_is_refused(
    sync: Sync, a_sync: Build, index: EdgeIndex
) -> None:
    with pytest.raises(SyncRefusedError, match="no earlier generation"):
        await sync.roll_back()
    other = a_sync(embedder=HashEmbedder(name="other"))
    await other.run()

    with pytest.raises(SyncRefusedError, match="made with hash"):
        await other.roll_back()
    assert (await index.counts()).pages == 10


@pytest.mark.parametrize("full", [False, True])
async def test_a_dry_run_tells_the_diff_and_changes_nothing(
    sync: Sync, pages: Path, index: EdgeIndex, embedder: HashEmbedder, full: bool
) -> None:
    write(pages, "tea.md", "Tea is over.")
    write(pages, "new.md", "New.")
    for topic in TOPICS[:4]:
        (pages / f"{topic}.md").unlink()
    before, calls = await index.revisions(), len(embedder.calls)

    report = await sync.run(full=full, dry_run=True)

    assert (report.dry_run, report.added, report.changed) == (True, ["new.md"], ["tea.md"])
    assert (len(report.removed), report.unchanged) == (4, 5)
    assert "4 of " in report.doubts[0]
    assert (await index.revisions(), len(embedder.calls)) == (before, calls)
