"""Settings of sources that are read over the network, page by page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, HttpUrl, SecretStr, field_validator, model_validator

from kb.config.sources.common import CommonSettings, nearest


class WebsiteSettings(CommonSettings):
    """Public pages of a website: those of its sitemap and those reached
    by links, on the hosts and below the paths named.
    """

    reader = "web.source:WebsiteSource"

    kind: Literal["website"]
    start: Annotated[tuple[HttpUrl, ...], Field(min_length=1)]
    """Where to begin. Their hosts are the allowed ones; a page belongs to the source when its address begins with one.
    """
    prefixes: tuple[HttpUrl, ...] = ()
    """What a page's address must begin with. Empty: the folders of the `start` addresses."""
    sitemaps: tuple[HttpUrl, ...] = ()
    """Besides those that robots.txt names, and /sitemap.xml."""
    exclude: tuple[str, ...] = ()
    """Gitignore patterns on the path of the address."""
    max_pages: Annotated[int, Field(ge=1, le=100_000)] = 5_000
    max_requests: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Requests of one visit, whatever they bring. None: 4 for each of `max_pages`, and 200."""
    max_minutes: Annotated[float, Field(gt=0, le=10_080)] = 480
    """For one visit, its pauses included."""
    delay_s: Annotated[float, Field(ge=0, le=60)] = 0.5
    """Pause between two requests to a host. A longer Crawl-delay in robots.txt is kept to."""
    timeout_s: Annotated[float, Field(gt=0, le=120)] = 20.0
    """For one page, its redirects included."""

    @field_validator("start", "sitemaps", "prefixes", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value


class ConfluenceSettings(CommonSettings):
    """Spaces of Confluence Cloud (an account's email and API token) or Data Center (a personal access token)."""

    reader = "confluence.source:ConfluenceSource"
    variables: ClassVar[Mapping[str, str]] = {"CONFLUENCE_API_TOKEN": "token", "CONFLUENCE_EMAIL": "email"}

    kind: Literal["confluence"]
    url: HttpUrl
    """https://acme.atlassian.net/wiki, or the base URL of a Data Center."""
    edition: Literal["auto", "cloud", "data_center"] = "auto"
    """auto: cloud on atlassian.net."""
    email: str | None = None
    token: SecretStr | None = None
    spaces: tuple[str, ...] = ()
    """Space keys. Empty: every global space that the account sees; no personal ones."""
    labels: tuple[str, ...] = ()
    """Only pages that carry one of these."""
    exclude_labels: tuple[str, ...] = ()
    archived: bool = False
    """Also pages that were archived."""
    blog: bool = False
    """Also blog posts."""
    attachments: bool = False
    """Also attached documents (PDF, Office and so on), each as a page of
    its own for the readers of the page it hangs on.
    """
    answers: tuple[str, ...] = ()
    """Comments that begin with one of these ("Answer:", "✅") are read with their page. Empty: no comment is."""
    groups: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Confluence group -> the channels of its members. A restricted page
    is for the channels of its groups, or is left out.
    """
    timeout_s: Annotated[float, Field(gt=0, le=120)] = 30.0


class NotionSettings(CommonSettings):
    """What an internal Notion integration was given access to."""

    reader = "notion.source:NotionSource"
    variables: ClassVar[Mapping[str, str]] = {"NOTION_TOKEN": "token"}

    kind: Literal["notion"]
    token: SecretStr | None = None
    roots: tuple[str, ...] = ()
    """Ids of pages: only these and what is below them. Empty: everything that the integration sees."""
    api_url: str = "https://api.notion.com"
    timeout_s: Annotated[float, Field(gt=0, le=120)] = 30.0


class GithubSettings(CommonSettings):
    """Repositories on GitHub: issues and discussions that were answered, and wikis."""

    reader = "github.source:GithubSource"
    variables: ClassVar[Mapping[str, str]] = {
        "GITHUB_TOKEN": "token",
        "GITHUB_APP_ID": "app_id",
        "GITHUB_APP_PRIVATE_KEY": "private_key",
    }

    kind: Literal["github"]
    repositories: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[\w-]+/\.?[\w-][\w.-]*$")], ...], Field(min_length=1)
    ]
    """"owner/name". A page's path begins with it."""
    readers: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Repository that is not public -> the channels that may read it, or
    "everyone". One that is not named is not indexed.
    """
    labels: tuple[str, ...] = ("answered",)
    """An issue or a discussion with one of these was answered. Empty: only discussions with a marked answer."""
    answer_reaction: Literal["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"] | None = (
        None
    )
    """A maintainer's comment with this reaction is an issue's answer.
    None, and where there is none: see docs/sources.md.
    """
    issues: bool = True
    discussions: bool = True
    wiki: bool = True
    token: SecretStr | None = None
    """A personal access token. Public repositories need none, but discussions do."""
    app_id: int | str | None = None
    """Id of a GitHub App (or its client ID); it goes before `token`."""
    private_key: SecretStr | None = None
    private_key_file: Path | None = None
    """The app's .pem file, or by `private_key` what stands in it."""
    api_url: HttpUrl = HttpUrl("https://api.github.com")
    """An Enterprise Server's is https://HOST/api/v3."""
    timeout_s: Annotated[float, Field(gt=0, le=120)] = 30.0

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        known = [name.lower() for name in self.repositories]
        if len(set(known)) < len(known):
            raise ValueError("a repository is named twice")
        for name in self.readers:
            if name.lower() not in known:
                raise ValueError(
                    f"readers: {name!r} is none of the repositories; {nearest(name, [*self.repositories])}"
                )
        if self.app_id is not None and self.private_key is None and self.private_key_file is None:
            raise ValueError("an app needs its key: set private_key_file, or GITHUB_APP_PRIVATE_KEY")
        local = self.api_url.host in ("localhost", "127.0.0.1", "[::1]")
        if self.api_url.scheme == "http" and not local and (self.token or self.app_id is not None):
            raise ValueError("a token must not be sent over http://: use https://")
        return self
