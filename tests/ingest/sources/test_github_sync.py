"""Whole syncs of a source on GitHub: taken up where one was killed, and
what goes at once or only when somebody insists.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.errors import SyncRefusedError
from ingest.sources.github.source import GithubSource
from ingest.sync.sync import Sync
from kb.config.sources import GithubSettings
from kb.index.embedded.index import EdgeIndex
from kb.index.port import QueryVectors, SparseVector
from kb.models import Audience
from kb.retrieval.lexical import LexicalEncoder
from tests.fakes.embedder import HashEmbedder
from tests.fakes.github import Github, Post, Thread
from tests.fakes.syncing_source import killed_while_embedding

REPOSITORY = "acme/product"
ISSUES = 60
"""Two passages each. The first group that is embedded has 16 passages, each next one twice as many."""


@pytest.fixture
async def github() -> AsyncIterator[Github]:
    async with Github() as server:
        repo = server.repo(REPOSITORY)
        for number in range(1, ISSUES + 1):
            answer = Post(body=f"Turn the wheel number {number}.", author="dana", association="MEMBER")
            question = Post(body=f"How does machine {number} start?")
            repo.issues[number] = Thread(
                number=number,
                title=f"Machine {number}",
                question=question,
                comments=[answer],
                labels=["answered"],
            )
        yield server


def a_source(github: Github, folder: Path, **settings: object) -> GithubSource:
    chosen = {"repositories": (REPOSITORY,), "api_url": github.url, "token": github.token, **settings}
    made = GithubSettings.model_validate({"kind": "github", "name": "answers", **chosen})
    return GithubSource(made, folder / "kept")


def a_sync(github: Github, index: EdgeIndex, folder: Path, **settings: object) -> Sync:
    return Sync(
        index=index,
        embedder=HashEmbedder(),
        lexical=LexicalEncoder(),
        sources=lambda: [a_source(github, folder, **settings)],
        clock=lambda: datetime(2026, 8, 22, tzinfo=UTC),
    )


async def texts(index: EdgeIndex, audience: Audience) -> str:
    ones = QueryVectors(dense=[1.0] * HashEmbedder.dimension, lexical=SparseVector(indices=(), values=()))
    return "\n".join(hit.chunk.text for hit in await index.search([ones], audience=audience, limit=200))


def comments_asked_for(github: Github) -> set[str]:
    return {path.split("/")[-2] for path in github.requests if path.endswith("/comments")}


async def test_after_kill_9_only_what_is_not_indexed_yet_is_read_again(
    github: Github, tmp_path: Path
) -> None:
    folder = tmp_path / "index"
    await killed_while_embedding(a_source(github, tmp_path), tmp_path / "kept", folder, calls=3)
    github.requests.clear()
    index = EdgeIndex(folder)
    try:
        held = await index.revisions()
        assert 0 < len(held) < ISSUES
        report = await a_sync(github, index, tmp_path).run()
        assert (len(report.added), report.unchanged, report.failed) == (ISSUES - len(held), len(held), [])
        assert comments_asked_for(github) == {path.split("/")[-1] for path in report.added}
    finally:
        await index.close()


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EdgeIndex]:
    index = EdgeIndex(tmp_path / "index")
    yield index
    await index.close()


async def test_only_a_changed_issue_is_read_again(github: Github, index: EdgeIndex, tmp_path: Path) -> None:
    await a_sync(github, index, tmp_path).run()
    github.requests.clear()
    github.repos[REPOSITORY].issues[3].comments[0].body = "Turn the handle."
    github.repos[REPOSITORY].issues[3].updated = "2026-06-01T10:00:00Z"
    report = await a_sync(github, index, tmp_path).run()

    assert (report.changed, report.unchanged) == ([f"{REPOSITORY}/issues/3"], ISSUES - 1)
    assert comments_asked_for(github) == {"3"}
    assert "Turn the handle." in await texts(index, Audience())


async def test_a_repository_that_becomes_private_leaves_the_index_at_once_however_large_it_is(
    github: Github, index: EdgeIndex, tmp_path: Path
) -> None:
    await a_sync(github, index, tmp_path).run()
    github.repos[REPOSITORY].private = True
    report = await a_sync(github, index, tmp_path).run()

    assert len(report.removed) == ISSUES
    assert [failure.path for failure in report.failed] == [REPOSITORY]
    assert await index.revisions() == {}


async def test_readers_that_are_named_get_the_private_pages_and_nobody_else_does(
    github: Github, index: EdgeIndex, tmp_path: Path
) -> None:
    github.repos[REPOSITORY].private = True
    await a_sync(github, index, tmp_path, readers={REPOSITORY: ["#eng"]}).run()

    assert await texts(index, Audience()) == ""
    assert "wheel number 5" in await texts(index, Audience(channels=frozenset({"#eng"})))


async def test_a_label_that_was_renamed_empties_nothing_unless_somebody_insists(
    github: Github, index: EdgeIndex, tmp_path: Path
) -> None:
    await a_sync(github, index, tmp_path).run()
    for issue in github.repos[REPOSITORY].issues.values():
        issue.labels = ["solved"]
    with pytest.raises(SyncRefusedError, match="nothing of it is removed"):
        await a_sync(github, index, tmp_path).run()
    assert len(await index.revisions()) == ISSUES

    await a_sync(github, index, tmp_path).run(force=True)
    assert await index.revisions() == {}
