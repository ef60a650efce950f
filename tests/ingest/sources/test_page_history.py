"""When the words of a page last changed: what reformats, renames or moves it makes nothing newer."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from ingest.sources.git_history import Edit, PageHistory
from ingest.sources.page_words import words_digest
from ingest.sources.repository import GitSource
from kb.config.sources import GitSettings
from tests.fakes.git_server import GitServer, git

LEAVE = "---\ntitle: Leave\n---\n\n# Leave\n\nEveryone gets *25 days* of [paid leave](leave.md) a year.\n\n* Ask first.\n* Plan ahead.\n"
REFLOWED = "---\ntitle: Leave\ntags: [hr]\n---\n\nLeave\n=====\n\nEveryone gets **25 days** of\n[paid leave][1] a year.\n\n- Ask first.\n- Plan ahead.\n\n[1]: https://kb.example/leave\n"
CHANGED = REFLOWED.replace("25", "30")


def a_checkout(root: Path, **pages: str) -> None:
    for name, text in pages.items():
        write(root, f"{name}.md", text)
    git(root, "init", "-q", "-b", "main")
    commit(root, "2021-03-05")


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, "utf-8")


def commit(root: Path, day: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", day, day=day)


async def test_a_commit_that_only_reformats_makes_no_page_newer(tmp_path: Path) -> None:
    a_checkout(tmp_path, leave=LEAVE, travel=LEAVE)
    write(tmp_path, "travel.md", CHANGED)
    commit(tmp_path, "2022-01-02")
    write(tmp_path, "leave.md", REFLOWED)
    write(tmp_path, "travel.md", CHANGED.replace("\n", "\r\n"))
    commit(tmp_path, "2026-06-07")

    assert await PageHistory(tmp_path).edits() == {
        "leave.md": Edit(date(2021, 3, 5), added=True),
        "travel.md": Edit(date(2022, 1, 2)),
    }


async def test_a_page_keeps_its_date_where_it_is_moved_and_reformatted_at_once(tmp_path: Path) -> None:
    a_checkout(tmp_path, leave=LEAVE, other="# Other\n\nSomething else.\n")
    write(tmp_path, "leave.md", CHANGED)
    commit(tmp_path, "2022-01-02")
    (tmp_path / "leave.md").unlink()
    (tmp_path / "other.md").unlink()
    write(tmp_path, "people/holidays.md", CHANGED.replace("- ", "* "))
    write(tmp_path, "people/other.md", "# Other\n\nSomething entirely else.\n")
    commit(tmp_path, "2026-06-07")
    git(tmp_path, "mv", "people/holidays.md", "people/leave.md")
    commit(tmp_path, "2026-07-08")

    assert await PageHistory(tmp_path).edits() == {
        "people/leave.md": Edit(date(2022, 1, 2)),
        "people/other.md": Edit(date(2026, 6, 7)),
    }


async def test_a_word_that_changed_counts_also_below_a_later_reformatting(tmp_path: Path) -> None:
    a_checkout(tmp_path, leave=LEAVE)
    for day, text in (
        ("2023-01-01", CHANGED),
        ("2024-01-01", CHANGED + "\n"),
        ("2025-01-01", CHANGED.upper()),
    ):
        write(tmp_path, "leave.md", text)
        commit(tmp_path, day)

    assert await PageHistory(tmp_path).edits() == {"leave.md": Edit(date(2023, 1, 1))}


async def test_of_files_that_are_no_text_every_change_counts_but_none_of_mode(tmp_path: Path) -> None:
    a_checkout(tmp_path, leave=LEAVE)
    write(tmp_path, "plan.docx", "one")
    commit(tmp_path, "2022-01-02")
    write(tmp_path, "plan.docx", "one ")
    commit(tmp_path, "2023-01-02")
    (tmp_path / "plan.docx").chmod(0o755)
    commit(tmp_path, "2024-01-02")

    assert (await PageHistory(tmp_path).edits())["plan.docx"] == Edit(date(2023, 1, 2))


async def test_what_was_deleted_and_is_not_committed_again_has_no_date(tmp_path: Path) -> None:
    a_checkout(tmp_path, leave=LEAVE, gone=LEAVE)
    (tmp_path / "gone.md").unlink()
    commit(tmp_path, "2022-01-02")
    write(tmp_path, "gone.md", LEAVE)

    assert set(await PageHistory(tmp_path).edits()) == {"leave.md"}


async def test_a_shallow_clone_dates_nothing_that_its_oldest_commit_may_have_changed(tmp_path: Path) -> None:
    origin = tmp_path / "origin"
    a_checkout(origin, leave=LEAVE)
    write(origin, "leave.md", CHANGED)
    commit(origin, "2022-01-02")
    write(origin, "leave.md", CHANGED + "\n")
    commit(origin, "2023-01-02")
    git(tmp_path, "clone", "-q", "--depth=2", origin.as_uri(), "clone")

    assert await PageHistory(tmp_path / "clone").edits() == {}


async def test_a_new_commit_is_seen_and_an_old_version_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_checkout(tmp_path, leave=LEAVE)
    write(tmp_path, "leave.md", REFLOWED)
    commit(tmp_path, "2022-01-02")
    history = PageHistory(tmp_path)
    before = await history.edits()
    write(tmp_path, "leave.md", CHANGED)
    commit(tmp_path, "2023-01-02")

    assert before == {"leave.md": Edit(date(2021, 3, 5), added=True)}
    assert await history.edits() == {"leave.md": Edit(date(2023, 1, 2))}
    monkeypatch.setattr(
        "ingest.sources.git_history._parsed", lambda *_: pytest.fail("the log was read again")
    )
    assert await history.edits() == {"leave.md": Edit(date(2023, 1, 2))}


async def test_a_clone_without_old_contents_gets_those_that_it_has_to_compare(tmp_path: Path) -> None:
    async with GitServer(tmp_path / "server", password="secret") as server:
        write(server.work, "leave.md", LEAVE)
        commit(server.work, "2021-03-05")
        write(server.work, "leave.md", CHANGED)
        commit(server.work, "2022-01-02")
        write(server.work, "leave.md", CHANGED.replace("\n", "\n\n"))
        commit(server.work, "2026-06-07")
        git(server.work, "push", "-q", "origin", "main")
        source = GitSource(
            GitSettings(kind="git", name="docs", url=server.url, token="secret"), tmp_path / "clones"
        )
        refs = [ref async for ref in source.discover()]

        assert (await source.fetch(refs[0])).edited == date(2022, 1, 2)
        kept = git(
            tmp_path / "clones" / "docs.checkout",
            "cat-file",
            "--batch-all-objects",
            "--batch-check=%(objecttype)",
        )
        assert kept.split().count("blob") == 3  # all three versions were needed, and nothing else there is


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A line\nof words.", "A line of words."),
        ("# Leave\n\nText", "Leave\n=====\n\nText"),
        ("* one\n* two", "- one\n- two"),
        ("1. one\n1. two", "1. one\n2. two"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "|a|b|\n|:--|--:|\n|1|2|"),
        ("See [the page](old.md).", "See [the page](https://kb.example/new 'Title')."),
        ("See [the page](old.md).", "See [the page][1].\n\n[1]: new.md"),
        ("*very* important", "__very__ important"),
        ("```\ncode\n```", "~~~python\ncode\n~~~"),
        ("<p>Caf&eacute; &amp; bar</p>", "Café & bar"),
        ("---\ntitle: Leave\nowner: Ann\n---\nText", "---\nowner: Bob\ntitle: 'Leave'\n---\n\nText"),
        ("---\ntitle: Leave\n---\nText", "# Leave\n\nText"),
        ("<!-- (c) Acme -->\nText", "Text"),
        ("It’s here, 9–17 h", "It's here, 9-17 h"),
        ("See <https://kb.example/leave>.", "See https://kb.example/leave."),
        ("## Leave {#leave}", "## Leave"),
    ],
)
def test_markup_and_white_space_are_no_words(one: str, other: str) -> None:
    assert words_digest(one.encode()) == words_digest(other.encode())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("25 days", "30 days"),
        ("1.5 days", "15 days"),
        ("at -5 degrees", "at 5 degrees"),
        ("5 %", "5"),
        ("It is allowed.", "It is not allowed."),
        ("one two", "two one"),
        ("€ 5", "$ 5"),
        ("on 1.2.2025", "on 1.3.2025"),
        ("---\ntitle: Leave\n---\nText", "---\ntitle: Holidays\n---\nText"),
        ("from 9:00", "from 9:30"),
        ("at least >= 5", "at least <= 5"),
    ],
)
def test_a_number_a_sign_or_an_order_that_changed_is_another_page(one: str, other: str) -> None:
    assert words_digest(one.encode()) != words_digest(other.encode())


@pytest.mark.timeout(20)
@pytest.mark.parametrize("piece", ["<!--", "<a ", "](", "[x]:", "{#", "-"])
def test_markup_that_never_ends_is_compared_in_time(piece: str) -> None:
    assert words_digest((piece * 50_000).encode()) == words_digest((piece * 50_000 + "\n").encode())
