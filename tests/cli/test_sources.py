"""Which sources a knowledge base is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.cli.composition.connectors import open_source
from bot.cli.composition.sources import SourceRegistry
from kb.config.configuration import load_settings
from kb.store.data_folder import DataFolder

KINDS = """
[[sources]]
name = "handbook"
path = "/srv/handbook"
[[sources]]
kind = "git"
name = "docs"
url = "https://git.example/acme/docs.git"
[[sources]]
kind = "website"
name = "site"
start = "https://docs.example.com/"
[[sources]]
kind = "confluence"
name = "wiki"
url = "https://acme.atlassian.net/wiki"
[[sources]]
kind = "notion"
name = "team"
[[sources]]
kind = "slack_export"
name = "slack"
path = "/srv/export.zip"
[[sources]]
kind = "drive"
name = "drive"
path = "/srv/drive"
[[sources]]
kind = "github"
name = "answers"
repositories = ["acme/product"]
"""


def book(tmp_path: Path, toml: str = "") -> SourceRegistry:
    file = tmp_path / "footnote.toml"
    file.write_text(toml)
    (tmp_path / "data").mkdir(exist_ok=True)
    settings = load_settings(environ={}, file=file, data=tmp_path / "data")
    return SourceRegistry(DataFolder(tmp_path / "data"), settings)


async def test_every_kind_of_settings_opens_as_a_source_of_its_name(tmp_path: Path) -> None:
    sources = book(tmp_path, KINDS)
    opened = [open_source(one, sources.kept) for one in sources.all()]

    assert [one.name for one in opened] == [
        "handbook",
        "docs",
        "site",
        "wiki",
        "team",
        "slack",
        "drive",
        "answers",
    ]
    assert [type(one).__name__ for one in opened] == [
        "FolderSource", "GitSource", "WebsiteSource", "ConfluenceSource", "NotionSource", "SlackExportSource",
        "DriveSource", "GithubSource",
    ]  # fmt: skip
    for one in opened:
        await one.close()


def test_only_folders_are_shown_from_this_machine(tmp_path: Path) -> None:
    assert [one.name for one in book(tmp_path, KINDS).folders()] == ["handbook", "drive"]


def test_a_folder_is_remembered_under_its_name_beside_other_kinds(tmp_path: Path) -> None:
    (tmp_path / "Our Pages").mkdir()
    added = book(tmp_path, KINDS).add(tmp_path / "Our Pages")

    assert added.name == "our-pages"
    assert book(tmp_path, KINDS).add(tmp_path / "Our Pages") == added
    assert [one.name for one in book(tmp_path).all()] == ["our-pages"]


async def test_a_file_is_uploaded_and_a_new_one_of_its_name_replaces_it(tmp_path: Path) -> None:
    file = tmp_path / "Leave policy.md"
    file.write_text("# Leave")
    source = book(tmp_path).add(file)
    file.write_text("# Leave, 2026")
    (tmp_path / "pay.md").write_text("# Pay")
    assert book(tmp_path).add(file) == book(tmp_path).add(tmp_path / "pay.md") == source
    file.unlink()

    opened = open_source(source, tmp_path)
    refs = {ref.path: ref async for ref in opened.discover()}
    assert sorted(refs) == ["Leave policy.md", "pay.md"]
    assert (await opened.fetch(refs["Leave policy.md"])).content == b"# Leave, 2026"


def test_a_path_with_nothing_at_it_is_refused(tmp_path: Path) -> None:
    from kb.errors import SettingsError

    with pytest.raises(SettingsError, match="no folder or file"):
        book(tmp_path).add(tmp_path / "nothing.md")
