"""A sweep makes the index equal to its sources, loses no text by accident and keeps no text that had to go."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import SyncRefusedError
from ingest.sources.folder import FolderSource
from ingest.sources.port import PageRef
from ingest.sync.sync import Sync
from kb.config.settings import SourceSettings
from kb.errors import EmbedderUnavailableError, SettingsError
from kb.index.embedded.index import EdgeIndex
from kb.index.port import Candidate, QueryVectors, SparseVector
from kb.jobs import FailedPage, ReindexProgress, SyncReport
from kb.models import Audience
from tests.fakes.embedder import HashEmbedder
from tests.fakes.git_server import git

from .conftest import Clock, write

Build = Callable[..., Sync]
EVERYBODY = Audience()


async def found(index: EdgeIndex, *, audience: Audience = EVERYBODY) -> dict[str, list[str]]:
    """Every passage that the audience can find: page path -> texts in reading order."""
    vector = QueryVectors(dense=[1.0] * HashEmbedder.dimension, lexical=SparseVector(indices=(), values=()))
    hits: list[Candidate] = await index.search([vector], audience=audience, limit=10_000)
    texts: dict[str, list[str]] = {}
    for hit in sorted(hits, key=lambda hit: hit.chunk.position):
        texts.setdefault(hit.chunk.page.path, []).append(hit.chunk.text)
    return texts


async def found_during(
    reindex: Coroutine[Any, Any, SyncReport], index: EdgeIndex, embedder: HashEmbedder
) -> tuple[dict[str, list[str]], SyncReport]:
    """What is found while a reindex waits for its first vectors, and its report."""
    embedder.gate.clear()
    embedder.arrived.clear()
    running = asyncio.create_task(reindex)
    await embedder.arrived.wait()
    during = await found(index)
    embedder.gate.set()
    return during, await running


async def page_of(index: EdgeIndex, path: str) -> Candidate:
    vector = QueryVectors(dense=[1.0] * HashEmbedder.dimension, lexical=SparseVector(indices=(), values=()))
    hits = await index.search([vector], audience=Audience(channels=frozenset({"#leads"})), limit=1000)
    return next(hit for hit in hits if hit.chunk.page.path == path)


async def test_a_draft_is_told_and_no_failure_and_what_was_indexed_of_it_goes(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    write(pages, "a.md", "# A\nAlpha.")
    write(pages, "b.md", "# B\nBeta.")
    await a_sync().run()
    write(pages, "b.md", "---\ndraft: true\n---\n# B\nBeta.")

    report = await a_sync().run()

    assert report.failed == []
    assert report.warned == [
        FailedPage(
            path="b.md", reason="it is a draft (`draft: true` in its front matter): nothing of it is indexed"
        )
    ]
    assert set(await found(index)) == {"a.md"}


@pytest.mark.parametrize(
    ("fields", "edited"),
    [
        ("date: 2020-02-03", date(2020, 2, 3)),
        ("updated: 2019-01-01\ndate: 2020-02-03", date(2019, 1, 1)),
        ("x: y", date(2024, 3, 5)),
    ],
)
async def test_a_page_that_a_commit_merely_brought_is_as_old_as_it_says(
    a_sync: Build, pages: Path, index: EdgeIndex, fields: str, edited: date
) -> None:
    write(pages, "a.md", f"---\n{fields}\n---\nAlpha.")
    git(pages, "init", "-q")
    git(pages, "add", "-A")
    git(pages, "commit", "-qm", "import", day="2024-03-05")

    await a_sync(SourceSettings(name="handbook", path=pages)).run()

    assert (await page_of(index, "a.md")).chunk.page.dates.edited == edited


@pytest.mark.parametrize(
    ("written", "edited"), [("2020-02-03", date(2025, 6, 7)), ("2026-02-03", date(2026, 2, 3))]
)
async def test_of_its_own_date_and_the_last_change_of_its_words_the_later_counts(
    a_sync: Build, pages: Path, index: EdgeIndex, written: str, edited: date
) -> None:
    write(pages, "a.md", "Alpha.")
    git(pages, "init", "-q")
    git(pages, "add", "-A")
    git(pages, "commit", "-qm", "import", day="2024-03-05")
    write(pages, "a.md", f"---\ndate: {written}\n---\nBeta.")
    git(pages, "commit", "-qam", "edit", day="2025-06-07")

    await a_sync(SourceSettings(name="handbook", path=pages)).run()

    assert (await page_of(index, "a.md")).chunk.page.dates.edited == edited


async def test_the_first_sweep_indexes_and_the_second_finds_nothing_to_do(
    a_sync: Build, pages: Path, index: EdgeIndex, embedder: HashEmbedder
) -> None:
    write(pages, "a.md", "# A\nAlpha.\n## Part\nMore.")
    write(pages, "sub/b.md", "Beta.")

    first = await a_sync().run()
    calls = len(embedder.calls)
    second = await a_sync().run()

    assert (first.added, first.chunks, first.failed) == (["a.md", "sub/b.md"], 3, [])
    assert (second.added, second.changed, second.removed, second.unchanged, second.chunks) == (
        [],
        [],
        [],
        2,
        0,
    )
    assert len(embedder.calls) == calls
    assert await found(index) == {"a.md": ["Alpha.", "More."], "sub/b.md": ["Beta."]}


async def test_changed_added_and_vanished_pages_are_told_apart(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    for name in ("a", "b", "c"):
        write(pages, f"{name}.md", f"Text {name}.")
    await a_sync().run()
    write(pages, "a.md", "New text.")
    write(pages, "d.md", "Delta.")
    (pages / "b.md").unlink()

    report = await a_sync().run()

    assert (report.added, report.changed, report.removed, report.unchanged) == (
        ["d.md"],
        ["a.md"],
        ["b.md"],
        1,
    )
    assert await found(index) == {"a.md": ["New text."], "c.md": ["Text c."], "d.md": ["Delta."]}


async def test_a_page_arrives_with_everything_its_author_says(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    write(pages, "hr/new.md", "# New")
    write(
        pages,
        "hr/old.md",
        "---\ntitle: Verlof\nlast_reviewed_on: 2024-01-31\nreview_in: 1 month\nowner: HR\nsuperseded_by: ./new.md\n"
        "date: 2020-01-01\naudience: '#leads'\n---\nHoeveel dagen verlof krijg je dit jaar van ons bedrijf en wanneer?",
    )
    await a_sync(SourceSettings(name="kb", path=pages, base_url="https://kb.example", git_dates=False)).run()

    page = (await page_of(index, "hr/old.md")).chunk.page

    assert (page.id, page.source, page.title, page.language) == ("kb:hr/old.md", "kb", "Verlof", "nl")
    assert page.place == "hr › old"
    assert (page.url, page.superseded_by) == ("https://kb.example/hr/old.md", "https://kb.example/hr/new.md")
    assert (page.owner, page.audience) == ("HR", ("#leads",))
    assert str(page.dates.review_due) == "2024-02-29"
    assert str(page.dates.edited) == "2020-01-01"


async def test_a_page_that_cannot_be_read_is_reported_and_keeps_its_earlier_text(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    write(pages, "a.md", "Alpha.")
    write(pages, "b.md", "Beta.")
    await a_sync().run()
    write(pages, "a.md", b"\xff\xfe\xfa")
    write(pages, "c.md", b"Gr\xfc\xdfe")
    write(pages, "d.md", "Delta.")

    report = await a_sync().run()

    assert report.failed == [
        FailedPage(
            path="a.md",
            reason="it is not UTF-8 text (byte 2): save it as UTF-8 (its earlier text stays in the index)",
        ),
        FailedPage(path="c.md", reason="it is not UTF-8 text (byte 2): save it as UTF-8"),
    ]
    assert (report.added, report.unchanged) == (["d.md"], 1)
    assert await found(index) == {"a.md": ["Alpha."], "b.md": ["Beta."], "d.md": ["Delta."]}


@pytest.mark.parametrize(
    "text",
    [
        "---\naudience: [what is this]\n---\nSecret?",
        "---\naudience: '#leads'\n---\nGeh\udce4lter",
        "---\ntitle: x: y\nchannels: leads\n---\nSecret?",
        "",
    ],
    ids=["malformed", "undecodable", "broken", "emptied"],
)
async def test_a_page_that_may_have_been_limited_or_emptied_leaves_the_index_at_once(
    a_sync: Build, pages: Path, index: EdgeIndex, text: str
) -> None:
    write(pages, "a.md", "Public so far.")
    write(pages, "b.md", "Beta.")
    await a_sync().run()
    write(pages, "a.md", text.encode(errors="surrogateescape"))

    report = await a_sync().run()

    assert [failure.path for failure in report.failed] == ["a.md"]
    assert "stays" not in report.failed[0].reason
    assert await found(index) == {"b.md": ["Beta."]}


async def test_a_field_that_cannot_be_read_is_a_warning_and_the_page_is_indexed(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    write(pages, "a.md", "---\nreview_by: someday\n---\nAlpha.")

    report = await a_sync().run()

    assert report.added == ["a.md"]
    assert report.warned == [FailedPage(path="a.md", reason="review_by 'someday' is no date like 2026-08-22")]
    assert await found(index) == {"a.md": ["Alpha."]}


async def test_a_source_that_becomes_limited_hides_even_pages_that_cannot_be_read_now(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    write(pages, "a.md", "Alpha.")
    write(pages, "b.md", "Beta.")
    await a_sync(SourceSettings(name="kb", path=pages)).run()
    write(pages, "a.md", b"\xff\xff")

    report = await a_sync(SourceSettings(name="kb", path=pages, audience=("#leads",))).run()

    assert await found(index) == {}
    assert await found(index, audience=Audience(channels=frozenset({"#leads"}))) == {"b.md": ["Beta."]}
    assert "stays" not in report.failed[0].reason


async def test_a_page_narrows_its_sources_audience_and_never_widens_it(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    write(pages, "one.md", "---\naudience: '#leads'\n---\nOne.")
    write(pages, "all.md", "---\naudience: everyone\n---\nAll.")
    write(pages, "other.md", "---\naudience: '#other'\n---\nOther.")

    report = await a_sync(SourceSettings(name="kb", path=pages, audience=("#leads", "#hr"))).run()

    assert await found(index) == {}
    assert await found(index, audience=Audience(channels=frozenset({"#hr"}))) == {"all.md": ["All."]}
    assert "no channel in common" in report.failed[0].reason


async def test_one_sources_sweep_leaves_the_others_pages_alone(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    write(pages, "x/same.md", "X.")
    write(pages, "y/same.md", "Y.")
    both = (SourceSettings(name="kb", path=pages / "x"), SourceSettings(name="kb-2", path=pages / "y"))
    await a_sync(*both).run()
    write(pages, "x/new.md", "New.")
    (pages / "y" / "same.md").unlink()

    report = await a_sync(*both).run(source="kb")
    await a_sync(both[0]).run()

    assert (report.added, report.removed) == (["new.md"], [])
    assert set(await index.revisions()) == {"kb:same.md", "kb:new.md", "kb-2:same.md"}
    with pytest.raises(SettingsError, match="known: kb, kb-2"):
        await a_sync(*both).run(source="nope")


async def test_a_source_that_is_gone_or_suddenly_empty_removes_nothing(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    for at in range(5):
        write(pages, f"x/{at}.md", f"Page {at}.")
        write(pages, f"y/{at}.md", f"Other {at}.")
    both = (SourceSettings(name="x", path=pages / "x"), SourceSettings(name="y", path=pages / "y"))
    await a_sync(*both).run()
    (pages / "x").rename(pages / "moved")

    report = await a_sync(*both).run()
    (pages / "x").mkdir()
    emptied = await a_sync(*both).run()

    assert [failure.path for failure in report.failed] == ["x"]
    assert "there is no folder" in report.failed[0].reason
    assert "lists no page, but 5 of its pages are indexed" in emptied.failed[0].reason
    assert (report.removed, emptied.removed, report.unchanged) == ([], [], 5)
    assert (await index.counts()).pages == 10
    with pytest.raises(SyncRefusedError, match="lists no page"):
        await a_sync(both[0]).run()


class HalfListed(FolderSource):
    """A folder in which one sub-folder cannot be listed."""

    async def discover(self) -> AsyncIterator[PageRef]:
        async for ref in super().discover():
            if not ref.path.startswith("sub/"):
                yield ref
        yield PageRef(path="sub/", revision=None)


async def test_pages_of_a_folder_that_cannot_be_listed_stay(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    write(pages, "a.md", "Alpha.")
    write(pages, "sub/b.md", "Beta.")
    await a_sync().run()
    source = HalfListed(SourceSettings(name="handbook", path=pages, git_dates=False))

    report = await a_sync(sources=lambda: [source]).run()

    assert report.removed == []
    assert report.failed == [
        FailedPage(path="sub/", reason="this folder cannot be read: check its permissions")
    ]
    assert set(await found(index)) == {"a.md", "sub/b.md"}


async def test_a_full_reindex_answers_from_the_old_index_until_the_swap(
    a_sync: Build, pages: Path, index: EdgeIndex, embedder: HashEmbedder
) -> None:
    write(pages, "a.md", "Alpha.")
    write(pages, "b.md", "Beta.")
    await a_sync().run()
    write(pages, "a.md", "New.")
    (pages / "b.md").unlink()
    write(pages, "c.md", "Gamma.")

    during, report = await found_during(a_sync().run(full=True), index, embedder)

    assert during == {"a.md": ["Alpha."], "b.md": ["Beta."]}
    assert (report.added, report.changed, report.removed) == (["c.md"], ["a.md"], ["b.md"])
    assert await found(index) == {"a.md": ["New."], "c.md": ["Gamma."]}


async def test_another_embedder_rebuilds_by_itself(a_sync: Build, pages: Path, index: EdgeIndex) -> None:
    write(pages, "a.md", "Alpha.")
    await a_sync().run()

    report = await a_sync(embedder=HashEmbedder(name="better")).run()

    manifest = await index.manifest()
    assert manifest is not None
    assert manifest.embedder == "better"
    assert (report.unchanged, report.chunks) == (1, 1)


async def test_a_rebuild_is_refused_when_a_source_fails_or_much_cannot_be_read(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    for at in range(10):
        write(pages, f"{at}.md", f"Page {at}.")
    await a_sync().run()
    for at in range(4):
        write(pages, f"{at}.md", b"\xff\xff")

    with pytest.raises(SyncRefusedError, match="4 of 10 indexed pages would be gone"):
        await a_sync().run(full=True)
    for at in range(10):
        (pages / f"{at}.md").unlink()
    with pytest.raises(SyncRefusedError, match="lists no page"):
        await a_sync().run(full=True)

    assert (await index.counts()).pages == 10


async def test_a_page_limited_by_its_author_is_hidden_before_a_full_reindex_swaps(
    a_sync: Build, pages: Path, index: EdgeIndex, embedder: HashEmbedder
) -> None:
    write(pages, "a.md", "Alpha.")
    write(pages, "b.md", "Beta.")
    await a_sync().run()
    write(pages, "a.md", "---\naudience: '#leads'\n---\nAlpha.")

    during, _ = await found_during(a_sync().run(full=True), index, embedder)

    assert during == {"b.md": ["Beta."]}
    assert await found(index) == {"b.md": ["Beta."]}


async def test_full_over_one_source_replaces_its_pages_in_place(
    a_sync: Build, pages: Path, index: EdgeIndex, embedder: HashEmbedder
) -> None:
    write(pages, "x/a.md", "Alpha.")
    write(pages, "y/b.md", "Beta.")
    both = (SourceSettings(name="x", path=pages / "x"), SourceSettings(name="y", path=pages / "y"))
    await a_sync(*both).run()
    embedder.calls.clear()

    report = await a_sync(*both).run(full=True, source="x")

    assert [len(call) for call in embedder.calls] == [1]
    assert (report.unchanged, report.chunks) == (1, 1)
    assert (await index.counts()).pages == 2


@pytest.mark.parametrize("full", [False, True])
async def test_a_sweep_stopped_anywhere_is_made_whole_by_the_next(
    a_sync: Build, pages: Path, index: EdgeIndex, full: bool
) -> None:
    chance = random.Random(7)
    for at in range(40):
        write(
            pages,
            f"{at}.md",
            f"# Page {at}\n" + "\n".join(f"## S{part}\nText {part} of {at}." for part in range(9)),
        )
    await a_sync().run()
    for at in range(0, 40, 2):
        write(pages, f"{at}.md", f"Changed {at}.")
    (pages / "1.md").unlink()

    for _ in range(4):
        running = asyncio.create_task(a_sync().run(full=full))
        await asyncio.sleep(chance.random() * 0.1)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    await a_sync().run()

    texts = await found(index)
    assert len(texts) == 39
    assert texts["2.md"] == ["Changed 2."]
    assert texts["3.md"] == [f"Text {part} of 3." for part in range(9)]


async def test_an_embedder_that_fails_halfway_stops_the_sweep_and_the_next_resumes(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    class Failing(HashEmbedder):
        async def embed_documents(self, texts):  # type: ignore[no-untyped-def]
            if self.calls:
                raise EmbedderUnavailableError("out of memory")
            return await super().embed_documents(texts)

    for at in range(40):
        write(pages, f"{at}.md", "\n".join(f"## S{part}\nText {part}." for part in range(9)))

    with pytest.raises(EmbedderUnavailableError):
        await a_sync(embedder=Failing()).run()
    done = (await index.counts()).pages
    report = await a_sync().run()

    assert 0 < done < 40
    assert (report.unchanged, len(report.added)) == (done, 40 - done)


async def test_progress_counts_pages_and_estimates_the_time_left_by_size(
    a_sync: Build, pages: Path, clock: Clock, embedder: HashEmbedder
) -> None:
    for at in range(30):
        write(pages, f"{at}.md", "\n".join(f"## S{part}\nText {part}." for part in range(9)))
    steps: list[ReindexProgress] = []

    def listen(step: ReindexProgress) -> None:
        steps.append(step)
        clock.moves(10)

    report = await a_sync().run(on_progress=listen)

    assert (steps[0].phase, steps[0].total) == ("reading", 0)
    assert {step.total for step in steps[1:]} == {30}
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert (steps[-1].phase, steps[-1].done, steps[-1].seconds_left) == ("indexing", 30, 0.0)
    middle = steps[2]
    assert middle.seconds_left == pytest.approx(10 * (30 - middle.done) / middle.done)
    assert report.seconds == 10 * len(steps)


async def test_texts_of_many_pages_share_a_call_to_the_embedder_the_first_ones_a_small_one(
    a_sync: Build, pages: Path, embedder: HashEmbedder
) -> None:
    for at in range(50):
        write(pages, f"{at}.md", f"Page {at}.")

    await a_sync().run()

    assert [len(call) for call in embedder.calls] == [16, 32, 2]


async def test_a_page_that_changed_between_listing_and_reading_is_stored_under_what_was_read(
    a_sync: Build, pages: Path, index: EdgeIndex
) -> None:
    class Racing(FolderSource):
        async def fetch(self, ref: PageRef):  # type: ignore[no-untyped-def]
            write(pages, "a.md", "Newer.")
            return await super().fetch(replace(ref))

    write(pages, "a.md", "Older.")
    settings = SourceSettings(name="handbook", path=pages, git_dates=False)

    await a_sync(sources=lambda: [Racing(settings)]).run()
    report = await a_sync(settings).run()

    assert report.unchanged == 1
    assert await found(index) == {"a.md": ["Newer."]}


async def test_a_source_added_while_the_bot_runs_is_swept_by_the_next_run(a_sync: Build, pages: Path) -> None:
    write(pages, "x/a.md", "Alpha.")
    write(pages, "y/b.md", "Beta.")
    sources = [FolderSource(SourceSettings(name="x", path=pages / "x"))]
    sync = a_sync(sources=lambda: sources)
    await sync.run()
    sources.append(FolderSource(SourceSettings(name="y", path=pages / "y")))

    report = await sync.run()

    assert (report.added, report.unchanged, sync.source_names) == (["b.md"], 1, ["x", "y"])
