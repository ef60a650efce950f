"""Git repositories on a server, by git's own server program."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import PageError, SourceUnavailableError
from ingest.sources.folder import FolderSource
from ingest.sources.hosting import hosted_folder
from ingest.sources.port import PageRef
from ingest.sources.repository import GitSource
from kb.config.sources import FolderSettings, GitSettings
from tests.fakes.git_server import GitServer, git
from tests.fakes.listing import listed

pytestmark = pytest.mark.skipif(
    subprocess.run(["git", "http-backend"], capture_output=True, check=False).stderr.startswith(
        b"git: 'http-backend'"
    ),
    reason="this git has no http-backend",
)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[GitServer]:
    async with GitServer(tmp_path / "server") as server:
        server.push(index_md="# Home", docs__leave_md="# Leave", day="2024-03-05")
        server.push(docs__pay_md="# Pay", day="2025-06-07")
        yield server


@pytest.fixture
def a_source(server: GitServer, tmp_path: Path) -> Callable[..., GitSource]:
    def build(**settings: Any) -> GitSource:
        chosen = {"url": server.url, **settings}
        return GitSource(GitSettings(kind="git", name="docs", **chosen), tmp_path / "clones")

    return build


async def test_a_repository_is_cloned_and_each_page_dated_by_its_last_commit(a_source: Any) -> None:
    source = a_source()
    refs = await listed(source)

    assert sorted(refs) == ["docs/leave.md", "docs/pay.md", "index.md"]
    dates = {path: (await source.fetch(ref)).edited for path, ref in refs.items()}
    assert dates == {
        "docs/leave.md": date(2024, 3, 5),
        "docs/pay.md": date(2025, 6, 7),
        "index.md": date(2024, 3, 5),
    }


async def test_each_listing_brings_the_clone_up_to_date_even_after_a_rewritten_history(
    a_source: Any, server: GitServer
) -> None:
    before = await listed(a_source())
    server.push(docs__leave_md="# Leave, 2026", docs__pay_md=None, day="2026-01-01")
    after = await listed(a_source())
    assert sorted(after) == ["docs/leave.md", "index.md"]
    assert after["docs/leave.md"].revision != before["docs/leave.md"].revision
    assert after["index.md"] == before["index.md"]
    git(server.work, "reset", "-q", "--hard", "HEAD~1")
    server.publish()
    assert sorted(await listed(a_source())) == sorted(before)


async def test_a_repository_that_shows_another_branch_by_default_is_read_there(
    a_source: Any, server: GitServer
) -> None:
    await listed(a_source())
    git(server.work, "checkout", "-q", "-b", "trunk")
    (server.work / "new.md").write_text("# New")
    git(server.work, "add", "-A")
    git(server.work, "commit", "-q", "-m", "new")
    git(server.work, "push", "-q", "origin", "trunk")
    git(server.served, "symbolic-ref", "HEAD", "refs/heads/trunk")

    assert "new.md" in await listed(a_source())


async def test_a_branch_and_a_folder_are_chosen_by_settings(a_source: Any, server: GitServer) -> None:
    git(server.work, "checkout", "-q", "-b", "next")
    server.push(docs__new_md="# New")

    assert sorted(await listed(a_source(branch="next", folder="docs"))) == ["leave.md", "new.md", "pay.md"]
    with pytest.raises(SourceUnavailableError, match="correct `branch`"):
        await listed(a_source(branch="nowhere", url=server.url + "/"))


async def test_a_page_is_fetched_in_another_process_without_a_listing(a_source: Any) -> None:
    ref = (await listed(a_source()))["docs/pay.md"]
    raw = await a_source().fetch(ref)

    assert (raw.revision, raw.edited, raw.content) == (ref.revision, date(2025, 6, 7), b"# Pay")


async def test_a_server_that_is_down_makes_the_source_unavailable_and_the_clone_stays(
    a_source: Any, server: GitServer
) -> None:
    ref = (await listed(a_source()))["index.md"]
    server.down = True
    with pytest.raises(SourceUnavailableError, match="source 'docs'"):
        await listed(a_source())
    assert (await a_source().fetch(ref)).content == b"# Home"
    server.down = False
    server.wipe()
    with pytest.raises(SourceUnavailableError, match="there is no such repository"):
        await listed(a_source())


async def test_a_clone_that_was_left_half_written_is_made_anew(
    a_source: Any, server: GitServer, tmp_path: Path
) -> None:
    await listed(a_source())
    checkout = tmp_path / "clones" / "docs.checkout" / ".git"
    (checkout / "index.lock").write_text("")
    (checkout / "HEAD").write_text("garbage")
    server.push(index_md="# Home 2")

    assert "docs/leave.md" in await listed(a_source())
    assert (await a_source().fetch(PageRef(path="index.md", revision=None))).content == b"# Home 2"


async def test_a_token_opens_a_private_repository_and_is_in_no_file_and_no_message(tmp_path: Path) -> None:
    async with GitServer(tmp_path / "server", password="s3cret-token") as server:
        server.push(index_md="# Home")

        def build(token: str | None) -> GitSource:
            return GitSource(
                GitSettings(kind="git", name="docs", url=server.url, token=token), tmp_path / "clones"
            )  # type: ignore[arg-type]

        for token in (None, "wrong-token"):
            with pytest.raises(SourceUnavailableError, match="set GIT_TOKEN") as caught:
                await listed(build(token))
            assert "wrong-token" not in str(caught.value)
        assert list(await listed(build("s3cret-token"))) == ["index.md"]
        for file in (tmp_path / "clones").rglob("*"):
            assert not file.is_file() or b"s3cret" not in file.read_bytes(), file


async def test_links_in_a_repository_do_not_lead_out_of_it(
    a_source: Any, server: GitServer, tmp_path: Path
) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "a.md").write_text("# Salaries")
    (server.work / "out.md").symlink_to(tmp_path / "secrets" / "a.md")
    (server.work / "folder").symlink_to(tmp_path / "secrets")
    (server.work / "up.md").symlink_to("docs/leave.md")
    server.publish()
    source = a_source()
    refs = await listed(source)

    assert sorted(refs) == ["docs/leave.md", "docs/pay.md", "index.md", "out.md", "up.md"]
    with pytest.raises(PageError, match="leads out of the folder"):
        await source.fetch(refs["out.md"])
    assert (await source.fetch(refs["up.md"])).content == b"# Leave"
    with pytest.raises(SourceUnavailableError, match="leads out of the repository"):
        await listed(a_source(folder="folder"))
    with pytest.raises(SourceUnavailableError, match="leads out of the repository"):
        await listed(a_source(folder="../.."))


async def test_a_checkout_is_pulled_before_a_listing_where_the_settings_say_so(
    server: GitServer, tmp_path: Path
) -> None:
    await asyncio.to_thread(git, tmp_path, "clone", "-q", server.url, "checkout")
    server.push(docs__new_md="# New")
    settings = FolderSettings(name="docs", path=tmp_path / "checkout")
    assert "docs/new.md" not in await listed(FolderSource(settings))
    pulling = settings.model_copy(update={"pull": True})
    assert "docs/new.md" in await listed(FolderSource(pulling))
    server.down = True
    with pytest.raises(SourceUnavailableError, match=r"cannot be brought up to date.*or switch `pull` off"):
        await listed(FolderSource(pulling))


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://github.com/acme/docs.git", "https://github.com/acme/docs/blob/main/guide/a%20b.md"),
        ("git@github.com:acme/docs.git", "https://github.com/acme/docs/blob/main/guide/a%20b.md"),
        ("https://x-token:abc@github.com/acme/docs", "https://github.com/acme/docs/blob/main/guide/a%20b.md"),
        ("ssh://git@gitlab.acme.example:2222/team/sub/docs.git", "https://gitlab.acme.example/team/sub/docs/-/blob/main/guide/a%20b.md"),
        ("https://bitbucket.org/acme/docs.git", "https://bitbucket.org/acme/docs/src/main/guide/a%20b.md"),
        ("https://github.com/acme/docs.wiki.git", "https://github.com/acme/docs/wiki/a%20b"),
        ("https://gitlab.com/acme/docs.wiki.git", "https://gitlab.com/acme/docs/-/wikis/a%20b"),
        ("https://git.acme.example/docs.git", None),
        ("/srv/git/docs.git", None),
    ],
)  # fmt: skip
def test_files_link_to_where_their_host_shows_them(remote: str, address: str | None) -> None:
    hosted = hosted_folder(remote, "main", "guide/")
    assert (hosted.url_of("a b.md") if hosted else None) == address


async def test_a_checkout_of_a_hosted_repository_links_to_its_files_there(
    server: GitServer, tmp_path: Path
) -> None:
    await asyncio.to_thread(git, tmp_path, "clone", "-q", server.url, "checkout")
    git(tmp_path / "checkout", "remote", "set-url", "origin", "git@github.com:acme/docs.git")
    source = FolderSource(FolderSettings(name="docs", path=tmp_path / "checkout" / "docs"))
    refs = await listed(source)

    assert (
        await source.fetch(refs["leave.md"])
    ).url == "https://github.com/acme/docs/blob/main/docs/leave.md"
    own = FolderSource(
        FolderSettings(name="docs", path=tmp_path / "checkout", base_url="https://docs.example")
    )
    await listed(own)
    assert own.url_of("index.md") == "https://docs.example/index.md"


def test_a_token_is_not_sent_in_the_clear() -> None:
    with pytest.raises(ValueError, match="use https"):
        GitSettings(kind="git", name="x", url="http://git.example/a.git", token="t")  # type: ignore[arg-type]
