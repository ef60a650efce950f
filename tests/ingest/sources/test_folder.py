"""Folders and git checkouts as sources."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from ingest.errors import SourceUnavailableError
from ingest.parsers import formats as formats_module
from ingest.sources.folder import FolderSource
from ingest.sources.port import Source
from kb.config.settings import SourceSettings
from tests.fakes.git_server import git
from tests.fakes.listing import listed, reason
from tests.ingest.conftest import write

PAGES = {"index.md": "# Home", "people/leave.md": "# Leave", "people/Sick leave ü.md": "# Sick"}
Build = Callable[..., Source]


def a_folder(root: Path) -> None:
    """A plain folder needs nothing more."""


def a_checkout(root: Path) -> None:
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "pages")


@pytest.fixture(params=[a_folder, a_checkout], ids=["folder", "checkout"])
def build(request: pytest.FixtureRequest, tmp_path: Path) -> Build:
    root = tmp_path / "pages"
    for path, text in PAGES.items():
        write(root, path, text)
    request.param(root)

    def source(**settings: object) -> Source:
        return FolderSource(SourceSettings(**{"name": "handbook", "path": root, **settings}))  # type: ignore[arg-type]

    return source


async def test_every_page_is_listed_and_read_under_its_path(build: Build) -> None:
    source = build()
    refs = await listed(source)

    assert sorted(refs) == sorted(PAGES)
    for path, ref in refs.items():
        raw = await source.fetch(ref)
        assert (raw.path, raw.content.decode(), raw.revision) == (path, PAGES[path], ref.revision)
        assert ref.size == len(raw.content)


async def test_a_revision_changes_with_content_and_address_and_with_nothing_else(
    build: Build, tmp_path: Path
) -> None:
    before = await listed(build())
    os.utime(tmp_path / "pages" / "index.md", (0, 0))

    assert await listed(build()) == before

    write(tmp_path / "pages", "index.md", "# Home!")
    after = await listed(build())
    moved = await listed(build(base_url="https://kb.example"))

    assert after["index.md"].revision != before["index.md"].revision
    assert after["people/leave.md"] == before["people/leave.md"]
    assert moved["people/leave.md"].revision != before["people/leave.md"].revision


async def test_an_address_is_the_base_and_the_path_or_the_mere_path(build: Build) -> None:
    path = "people/Sick leave ü.md"

    assert build().url_of(path) == path
    assert (
        build(base_url="https://kb.example/docs").url_of(path)
        == "https://kb.example/docs/people/Sick%20leave%20%C3%BC.md"
    )
    assert build(base_url="https://kb.example/docs/").url_of("a.md") == "https://kb.example/docs/a.md"


async def test_a_source_is_for_everyone_or_for_its_channels(build: Build) -> None:
    assert build().audience == ("*",)
    assert build(audience=("#leads", "C0123")).audience == ("#leads", "C0123")


async def test_a_page_that_went_after_the_listing_says_so(build: Build, tmp_path: Path) -> None:
    source = build()
    refs = await listed(source)
    (tmp_path / "pages" / "index.md").unlink()

    assert "it is gone" in await reason(source, refs["index.md"])


async def test_a_missing_root_is_an_unavailable_source_and_not_an_empty_one(tmp_path: Path) -> None:
    source = FolderSource(SourceSettings(name="handbook", path=tmp_path / "nowhere"))

    with pytest.raises(SourceUnavailableError, match="there is no folder"):
        await listed(source)


async def test_an_empty_folder_lists_nothing(tmp_path: Path) -> None:
    assert await listed(FolderSource(SourceSettings(name="handbook", path=tmp_path))) == {}


async def test_globs_choose_and_dotted_names_are_skipped(build: Build, tmp_path: Path) -> None:
    for path in (
        "notes.py",
        "drafts/new.md",
        "a/drafts/b.md",
        ".github/x.md",
        ".hidden.md",
        "people/x.html.md.erb",
    ):
        write(tmp_path / "pages", path, "# x")

    assert sorted(await listed(build(exclude=("drafts/",)))) == sorted([*PAGES, "people/x.html.md.erb"])
    assert sorted(await listed(build(include=("people/**",), exclude=("*.erb",)))) == [
        "people/Sick leave ü.md",
        "people/leave.md",
    ]


async def test_a_link_out_of_the_folder_is_refused_and_one_within_is_followed(
    build: Build, tmp_path: Path
) -> None:
    write(tmp_path, "secret.md", "# Salaries")
    (tmp_path / "pages" / "out.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "pages" / "in.md").symlink_to(tmp_path / "pages" / "index.md")
    (tmp_path / "pages" / "dead.md").symlink_to(tmp_path / "nothing.md")
    (tmp_path / "pages" / "loop.md").symlink_to(tmp_path / "pages" / "loop.md")
    (tmp_path / "pages" / "folder").symlink_to(tmp_path)
    source = build()
    refs = await listed(source)

    assert sorted(set(refs) - set(PAGES)) == ["dead.md", "in.md", "loop.md", "out.md"]
    assert await reason(source, refs["out.md"]) == "it is a link that leads out of the folder: not followed"
    assert "a link that leads nowhere" in await reason(source, refs["dead.md"])
    assert "cannot be read" in await reason(source, refs["loop.md"])
    assert (await source.fetch(refs["in.md"])).content == b"# Home"


async def test_a_link_within_the_folder_does_not_open_what_is_kept_out(build: Build, tmp_path: Path) -> None:
    write(tmp_path, "pages/.git/config", "url = https://token@host")
    write(tmp_path, "pages/drafts/pay.md", "# Salaries")
    (tmp_path / "pages" / "hidden.md").symlink_to(Path(".git") / "config")
    (tmp_path / "pages" / "draft.md").symlink_to(Path("drafts") / "pay.md")
    source = build(exclude=["drafts/"])
    refs = await listed(source)

    for path in ("hidden.md", "draft.md"):
        assert await reason(source, refs[path]) == "it is a link to a file that is kept out: not followed"


async def test_a_file_that_is_too_large_or_no_file_says_so(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats_module, "MAX_TEXT_BYTES", 1000)
    write(tmp_path / "pages", "big.md", "x" * 1500)
    os.mkfifo(tmp_path / "pages" / "pipe.md")
    source = build()
    refs = await listed(source)

    assert refs["big.md"].revision is None
    assert "it is too large" in await reason(source, refs["big.md"])
    assert await reason(source, refs["pipe.md"]) == "it is not an ordinary file"


async def test_a_name_that_is_no_text_is_listed_and_fails(build: Build, tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path / "pages") + b"/b\xff.md")).write_bytes(b"# x")
    source = build()
    refs = await listed(source)

    assert refs["b?.md"].revision is None
    assert "a name that cannot be printed" in await reason(source, refs["b?.md"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_what_may_not_be_read_is_listed_and_fails(build: Build, tmp_path: Path) -> None:
    (tmp_path / "pages" / "index.md").chmod(0)
    (tmp_path / "pages" / "people").chmod(0)
    source = build()
    refs = await listed(source)
    (tmp_path / "pages" / "people").chmod(0o700)

    assert sorted(refs) == ["index.md", "people/"]
    assert "permissions" in await reason(source, refs["index.md"])
    assert "permissions" in await reason(source, refs["people/"])


async def test_jekyll_s_folder_of_drafts_is_left_out_with_its_reason(tmp_path: Path) -> None:
    write(tmp_path, "_drafts/leave.md", "# Leave")
    source = FolderSource(SourceSettings(name="handbook", path=tmp_path))
    refs = await listed(source)

    assert (
        await reason(source, refs["_drafts/leave.md"])
        == "it is in a folder of drafts (_drafts): nothing of it is indexed"
    )


async def test_a_checkout_dates_each_page_by_its_last_commit(tmp_path: Path) -> None:
    for name in ("old.md", "new ü.md", "sub/deep.md"):
        write(tmp_path, name, "# x")
    a_checkout(tmp_path)
    write(tmp_path, "new ü.md", "# y")
    git(tmp_path, "commit", "-qam", "edit", day="2025-06-07")
    write(tmp_path, "uncommitted.md", "# z")

    assert await edited(tmp_path) == {
        "old.md": date(2024, 3, 5),
        "new ü.md": date(2025, 6, 7),
        "sub/deep.md": date(2024, 3, 5),
        "uncommitted.md": None,
    }
    assert await edited(tmp_path / "sub") == {"deep.md": date(2024, 3, 5)}
    assert set((await edited(tmp_path, git_dates=False)).values()) == {None}


async def test_a_plain_folder_and_a_shallow_clone_date_nothing_rather_than_today(tmp_path: Path) -> None:
    origin = tmp_path / "origin"
    write(origin, "old.md", "# x")
    a_checkout(origin)
    write(origin, "new.md", "# y")
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "second", day="2025-01-02")
    write(origin, "new.md", "# z")
    git(origin, "commit", "-qam", "third", day="2025-06-07")
    git(tmp_path, "clone", "-q", "--depth=2", origin.as_uri(), "clone")
    write(tmp_path, "plain/old.md", "# x")

    assert await edited(tmp_path / "clone") == {"old.md": None, "new.md": date(2025, 6, 7)}
    assert await edited(tmp_path / "plain") == {"old.md": None}


async def test_a_missing_git_program_dates_nothing_and_the_pages_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "old.md", "# x")
    a_checkout(tmp_path)
    monkeypatch.setenv("PATH", "")

    assert await edited(tmp_path) == {"old.md": None}


async def edited(root: Path, **settings: object) -> dict[str, date | None]:
    source = FolderSource(SourceSettings(name="handbook", path=root, **settings))  # type: ignore[arg-type]
    return {path: (await source.fetch(ref)).edited for path, ref in (await listed(source)).items()}
