"""How sources are configured."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from kb.config.configuration import load_settings
from kb.config.sources import (
    ConfluenceSettings,
    FolderSettings,
    GithubSettings,
    GitSettings,
    GoogleDriveSettings,
    NotionSettings,
    SharePointSettings,
    WebsiteSettings,
)
from kb.errors import SettingsError


def loaded(tmp_path: Path, toml: str, **environ: str) -> list[object]:
    file = tmp_path / "footnote.toml"
    file.write_text(toml)
    return list(load_settings(environ=environ, file=file).sources)


def refused(tmp_path: Path, toml: str, **environ: str) -> str:
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, toml, **environ)
    return str(caught.value)


def test_a_source_without_a_kind_is_a_folder(tmp_path: Path) -> None:
    (source,) = loaded(tmp_path, '[[sources]]\nname = "handbook"\npath = "/srv/handbook"\n')

    assert source == FolderSettings(name="handbook", path=Path("/srv/handbook"))


def test_each_kind_is_read_into_its_own_settings(tmp_path: Path) -> None:
    site, wiki = loaded(
        tmp_path,
        '[[sources]]\nkind = "website"\nname = "docs"\nstart = "https://docs.example.com/guide/"\n'
        '[[sources]]\nkind = "confluence"\nname = "wiki"\nurl = "https://acme.atlassian.net/wiki"\n'
        '[sources.groups]\nhr = ["#people-leads"]\n',
    )

    assert isinstance(site, WebsiteSettings)
    assert [str(url) for url in site.start] == ["https://docs.example.com/guide/"]
    assert isinstance(wiki, ConfluenceSettings)
    assert wiki.groups == {"hr": ("#people-leads",)}


def test_a_token_comes_from_the_source_s_own_variable_before_the_kind_s_and_is_not_shown(
    tmp_path: Path,
) -> None:
    one, two, git = loaded(
        tmp_path,
        '[[sources]]\nkind = "notion"\nname = "team-wiki"\n[[sources]]\nkind = "notion"\nname = "other"\n'
        '[[sources]]\nkind = "git"\nname = "docs"\nurl = "https://git.example/a/b.git"\n',
        FOOTNOTE_SOURCES__TEAM_WIKI__TOKEN="one",
        NOTION_TOKEN="two",
    )

    assert isinstance(one, NotionSettings)
    assert isinstance(two, NotionSettings)
    assert isinstance(git, GitSettings)
    assert one.token is not None
    assert two.token is not None
    assert (one.token.get_secret_value(), two.token.get_secret_value()) == ("one", "two")
    assert git.token is None
    assert "one" not in repr(one.token)


def test_a_misspelt_kind_key_or_variable_is_refused_with_the_nearest_right_one(tmp_path: Path) -> None:
    assert "known: confluence, drive, folder, git, " in refused(
        tmp_path, '[[sources]]\nkind = "websiet"\nname = "x"\n'
    )
    assert "did you mean 'path'" in refused(tmp_path, '[[sources]]\nname = "x"\npaht = "/srv"\n')
    assert "did you mean 'X'" in refused(
        tmp_path, '[[sources]]\nkind = "notion"\nname = "x"\n', FOOTNOTE_SOURCES__XX__TOKEN="t"
    )


@pytest.mark.parametrize("url", ["ext::sh -c id", "--upload-pack=id", "file:///etc", "/srv/repo"])
def test_a_git_address_that_is_none_of_a_server_is_refused(tmp_path: Path, url: str) -> None:
    assert "url" in refused(tmp_path, f'[[sources]]\nkind = "git"\nname = "x"\nurl = "{url}"\n')


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ('repositories = ["acme"]', "repositories"),
        ('repositories = ["acme/../x"]', "repositories"),
        ('repositories = ["acme/.."]', "repositories"),
        ("repositories = []", "repositories"),
        ('repositories = ["acme/a", "ACME/A"]', "named twice"),
        ('repositories = ["acme/a"]\nreaders = { "acme/aa" = ["#eng"] }', "did you mean 'acme/a'"),
        ('repositories = ["acme/a"]\napp_id = 7', "private_key_file"),
        ('repositories = ["acme/a"]\napi_url = "http://git.acme.example/api/v3"', "use https://"),
        ('repositories = ["acme/a"]\nanswer_reaction = "tada"', "answer_reaction"),
    ],
)
def test_settings_of_a_source_on_github_that_cannot_work_are_refused(
    tmp_path: Path, more: str, told: str
) -> None:
    refusal = refused(
        tmp_path, f'[[sources]]\nkind = "github"\nname = "x"\n{more}\n', GITHUB_TOKEN="ghp_secret"
    )

    assert told in refusal
    assert "ghp_secret" not in refusal


def test_an_app_s_id_and_key_come_from_the_environment_and_are_not_shown(tmp_path: Path) -> None:
    (one,) = loaded(
        tmp_path,
        '[[sources]]\nkind = "github"\nname = "x"\nrepositories = ["acme/a", "acme/.github"]\n',
        GITHUB_APP_ID="7",
        GITHUB_APP_PRIVATE_KEY="-----BEGIN KEY-----\\nabc",
    )

    assert isinstance(one, GithubSettings)
    assert str(one.app_id) == "7"
    assert one.private_key is not None
    assert "abc" not in repr(one)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("", "GOOGLE_APPLICATION_CREDENTIALS"),
        ('client_id = "7"', "set client_secret and refresh_token"),
        ('key_file = "k.json"\nfolders = ["Handbook"]', "folders"),
        (
            'key_file = "k.json"\nfolders = ["https://docs.google.com/document/d/1AbCdEfGhIjK/edit"]',
            "folders",
        ),
        ('key_file = "k.json"\napi_url = "http://drive.example"', "use https://"),
        ('key_file = "k.json"\ngroups = { a = ["#b"] }', "groups"),
        ('client_id = "7"\nclient_secret = "cs"\nrefresh_token = "rt"\nsubject = "dana@acme.com"', "subject"),
    ],
)
def test_settings_of_a_source_on_google_drive_that_cannot_work_are_refused(
    tmp_path: Path, more: str, told: str
) -> None:
    assert told in refused(tmp_path, f'[[sources]]\nkind = "google_drive"\nname = "x"\n{more}\n')


def test_accounts_of_google_come_from_the_environment_and_are_not_shown_and_folders_from_their_addresses(
    tmp_path: Path,
) -> None:
    toml = (
        '[[sources]]\nkind = "google_drive"\nname = "x"\n'
        'folders = ["https://drive.google.com/drive/u/0/folders/1AbCdEfGhIjK?usp=sharing", "0AXyZxyzxyzPVA"]\n'
    )
    (key,) = loaded(tmp_path, toml, GOOGLE_SERVICE_ACCOUNT_KEY='{"private_key": "abcXYZ"}')
    (file,) = loaded(tmp_path, toml, GOOGLE_APPLICATION_CREDENTIALS="/srv/key.json")
    (person,) = loaded(
        tmp_path, toml, GOOGLE_CLIENT_ID="7", GOOGLE_CLIENT_SECRET="abcXYZ", GOOGLE_REFRESH_TOKEN="1//abcXYZ"
    )

    for source in (key, file, person):
        assert isinstance(source, GoogleDriveSettings)
        assert source.folders == ("1AbCdEfGhIjK", "0AXyZxyzxyzPVA")
        assert "abcXYZ" not in repr(source)


def test_the_secret_of_an_app_of_entra_id_comes_from_the_environment_and_is_not_shown(tmp_path: Path) -> None:
    (one,) = loaded(
        tmp_path,
        '[[sources]]\nkind = "sharepoint"\nname = "x"\ntenant = "acme.onmicrosoft.com"\nclient_id = "7"\n'
        'sites = ["https://acme.sharepoint.com/sites/hr"]\npermissions_every = "6h"\n',
        SHAREPOINT_CLIENT_SECRET="secret~value",
    )

    assert isinstance(one, SharePointSettings)
    assert one.client_secret is not None
    assert one.permissions_every == timedelta(hours=6)
    assert "secret~value" not in repr(one)
