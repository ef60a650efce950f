"""Where pages come from: one class a kind of source, told apart by `kind` in `[[sources]]`. Without a kind it is a folder.

Tokens are given by the environment: `FOOTNOTE_SOURCES__<NAME>__TOKEN`, or for every source of a kind by the name that its
vendor's users know (`CONFLUENCE_API_TOKEN`, `NOTION_TOKEN`, `GIT_TOKEN`, `GITHUB_TOKEN`).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    HttpUrl,
    SecretStr,
    Tag,
    field_validator,
    model_validator,
)

PAGES = ("**/*.md", "**/*.markdown", "**/*.mdx", "**/*.md.erb")
_DOCUMENT_ENDINGS = (
    "html", "htm", "xhtml", "pdf", "docx", "docm", "doc", "odt", "rtf", "pptx", "pptm", "ppt", "odp", "xlsx", "xlsm", "xls",
    "ods", "epub", "csv", "tsv", "txt", "rst", "org", "ipynb", "eml", "msg",
)  # fmt: skip
DOCUMENTS = (*PAGES, *(f"**/*.{name}" for ending in _DOCUMENT_ENDINGS for name in (ending, ending.upper())))
"""Everything that people write documents in. What cannot be read is named after a sync, rather than passed over."""

TOKEN_VARIABLES: Mapping[str, Mapping[str, str]] = {
    "CONFLUENCE_API_TOKEN": {"confluence": "token"},
    "CONFLUENCE_EMAIL": {"confluence": "email"},
    "NOTION_TOKEN": {"notion": "token"},
    "GIT_TOKEN": {"git": "token"},
    "GITHUB_TOKEN": {"github": "token"},
    "GITHUB_APP_ID": {"github": "app_id"},
    "GITHUB_APP_PRIVATE_KEY": {"github": "private_key"},
}
"""Environment names without our prefix -> the kind of source and its key that they fill where it is not set."""


_SPANS = {"m": "minutes", "h": "hours", "d": "days"}


def _as_span(given: object) -> object:
    """ "30m", "6h" and "1d" as people write them; anything else is left to pydantic."""
    match = re.fullmatch(r"(\d{1,5})\s*([mhd])", given.strip()) if isinstance(given, str) else None
    return timedelta(**{_SPANS[match[2]]: int(match[1])}) if match else given


class CommonSettings(BaseModel):
    """What every source has. `audience`: channels that may read all of it; empty: everyone."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
    audience: tuple[str, ...] = ()
    owner: str = ""
    """Whom to ask about pages whose own owner is nobody in Slack: an e-mail address, a handle (@dana), a name or an id (U0123)."""
    max_age_days: int | None = None
    sync_every: Annotated[timedelta, BeforeValidator(_as_span), Field(ge=timedelta(minutes=1))] | None = None
    """"30m", "6h", "1d": while the bot runs, the source is synced about this often. None: only when somebody asks."""


class FolderSettings(CommonSettings):
    """A folder of pages, which may be (part of) a git checkout. `base_url` makes links: base_url + the page's path."""

    kind: Literal["folder"] = "folder"
    path: Path
    base_url: str | None = None
    """None: for a checkout of a repository on GitHub or GitLab, the file there; else the mere path."""
    include: tuple[str, ...] = DOCUMENTS
    exclude: tuple[str, ...] = ()
    git_dates: bool = True
    """In a git checkout, a page was edited when its file was last committed. Off: git is not asked, for links neither."""
    pull: bool = False
    """Bring a git checkout up to date before each sync (fast-forward only)."""


class GitSettings(CommonSettings):
    """A repository on a server: docs of a project, or the wiki of one on GitHub or GitLab (`....wiki.git`)."""

    kind: Literal["git"]
    url: Annotated[str, Field(pattern=r"^(https?://|ssh://|[\w.-]+@[\w.-]+:)\S+$")]
    branch: Annotated[str, Field(pattern=r"^[\w][\w./-]*$")] | None = None
    """None: the server's default branch."""
    folder: str = ""
    """The part of the repository that holds pages."""
    token: SecretStr | None = None
    user: str = "x-access-token"
    """What GitHub and GitLab accept beside an access token."""
    base_url: str | None = None
    include: tuple[str, ...] = PAGES
    exclude: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _token_travels_encrypted(self) -> Self:
        if self.token is not None and re.match(r"http://(?!127\.|localhost[:/])", self.url):
            raise ValueError("a token must not be sent over http://: use https://")
        return self


class WebsiteSettings(CommonSettings):
    """Public pages of a website: those of its sitemap and those reached by links, on the hosts and below the paths named."""

    kind: Literal["website"]
    start: Annotated[tuple[HttpUrl, ...], Field(min_length=1)]
    """Where to begin. Their hosts are the allowed ones; a page belongs to the source when its address begins with one."""
    prefixes: tuple[HttpUrl, ...] = ()
    """What a page's address must begin with. Empty: the folders of the `start` addresses."""
    sitemaps: tuple[HttpUrl, ...] = ()
    """Besides those that robots.txt names, and /sitemap.xml."""
    exclude: tuple[str, ...] = ()
    """Gitignore patterns on the path of the address."""
    max_pages: Annotated[int, Field(ge=1, le=100_000)] = 5_000
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
    """Also attached documents (PDF, Office and so on), each as a page of its own for the readers of the page it hangs on."""
    answers: tuple[str, ...] = ()
    """Comments that begin with one of these ("Answer:", "✅") are read with their page. Empty: no comment is."""
    groups: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Confluence group -> the channels of its members. A restricted page is for the channels of its groups, or is left out."""
    timeout_s: Annotated[float, Field(gt=0, le=120)] = 30.0


class NotionSettings(CommonSettings):
    """What an internal Notion integration was given access to."""

    kind: Literal["notion"]
    token: SecretStr | None = None
    roots: tuple[str, ...] = ()
    """Ids of pages: only these and what is below them. Empty: everything that the integration sees."""
    api_url: str = "https://api.notion.com"
    timeout_s: Annotated[float, Field(gt=0, le=120)] = 30.0


class SlackExportSettings(CommonSettings):
    """A Slack export (zip or unpacked): threads with an accepted answer or a pinned message become pages."""

    kind: Literal["slack_export"]
    path: Path
    workspace_url: HttpUrl | None = None
    """https://acme.slack.com makes links; without it a page is cited by its title."""
    channels: tuple[str, ...] = ()
    """Names. Empty: all public channels. A private channel is read only when it is named, and only its members find it."""
    people: Literal["pseudonyms", "names"] = "pseudonyms"
    accepted: tuple[str, ...] = ("white_check_mark", "heavy_check_mark", "ballot_box_with_check")
    """A reply with one of these reactions is the thread's answer."""


class GithubSettings(CommonSettings):
    """Repositories on GitHub: issues and discussions that were answered, and wikis."""

    kind: Literal["github"]
    repositories: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[\w-]+/\.?[\w-][\w.-]*$")], ...], Field(min_length=1)
    ]
    """"owner/name". A page's path begins with it."""
    readers: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Repository that is not public -> the channels that may read it, or "everyone". One that is not named is not indexed."""
    labels: tuple[str, ...] = ("answered",)
    """An issue or a discussion with one of these was answered. Empty: only discussions with a marked answer."""
    answer_reaction: Literal["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"] | None = (
        None
    )
    """A maintainer's comment with this reaction is an issue's answer. None, and where there is none: see docs/sources.md."""
    issues: bool = True
    discussions: bool = True
    wiki: bool = True
    token: SecretStr | None = None
    """A personal access token. Public repositories need none, but discussions do."""
    app_id: int | str | None = None
    """Of a GitHub App (or its client ID); it goes before `token`."""
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
                    f"readers: {name!r} is none of the repositories; {_nearest(name, [*self.repositories])}"
                )
        if self.app_id is not None and self.private_key is None and self.private_key_file is None:
            raise ValueError("an app needs its key: set private_key_file, or GITHUB_APP_PRIVATE_KEY")
        local = self.api_url.host in ("localhost", "127.0.0.1", "[::1]")
        if self.api_url.scheme == "http" and not local and (self.token or self.app_id is not None):
            raise ValueError("a token must not be sent over http://: use https://")
        return self


class DriveSettings(CommonSettings):
    """A folder of documents exported from Google Drive, by Takeout or `rclone copy`."""

    kind: Literal["drive"]
    path: Path
    base_url: str | None = None
    include: tuple[str, ...] = DOCUMENTS
    exclude: tuple[str, ...] = ()


def _kind(given: object) -> str:
    kind = given.get("kind", "folder") if isinstance(given, dict) else getattr(given, "kind", "folder")
    return str(kind)


AnySourceSettings = Annotated[
    Annotated[FolderSettings, Tag("folder")]
    | Annotated[GitSettings, Tag("git")]
    | Annotated[WebsiteSettings, Tag("website")]
    | Annotated[ConfluenceSettings, Tag("confluence")]
    | Annotated[NotionSettings, Tag("notion")]
    | Annotated[SlackExportSettings, Tag("slack_export")]
    | Annotated[GithubSettings, Tag("github")]
    | Annotated[DriveSettings, Tag("drive")],
    Discriminator(
        _kind,
        custom_error_type="source_kind",
        custom_error_message="unknown kind; known: folder, git, website, confluence, notion, slack_export, github, drive",
    ),
]

_KINDS: Mapping[str, type[CommonSettings]] = {
    "folder": FolderSettings,
    "git": GitSettings,
    "website": WebsiteSettings,
    "confluence": ConfluenceSettings,
    "notion": NotionSettings,
    "slack_export": SlackExportSettings,
    "github": GithubSettings,
    "drive": DriveSettings,
}


def with_environment(
    sources: list[dict[str, Any]], environ: Mapping[str, str], prefix: str
) -> list[dict[str, Any]]:
    """The sources of a settings file with what the environment adds: `<prefix><NAME>__<KEY>`, then a kind's own names.

    In a variable's name a source's dashes are underscores.

    Raises:
        ValueError: a variable names no source, with the nearest name.
    """
    filled = [dict(source) for source in sources]
    by_variable = {str(one.get("name", "")).upper().replace("-", "_"): one for one in filled}
    for variable, value in environ.items():
        if variable.startswith(prefix):
            name, _, key = variable.removeprefix(prefix).partition("__")
            if name not in by_variable or not key:
                raise ValueError(f"{variable} names no source; {_nearest(name, list(by_variable))}")
            by_variable[name][key.lower()] = value
    for variable, targets in TOKEN_VARIABLES.items():
        for source in filled:
            target = targets.get(_kind(source))
            if target is not None and environ.get(variable):
                source.setdefault(target, environ[variable])
    return filled


def unknown_key(source: object, key: str) -> str | None:
    """What to say of a key that this source's kind does not have; None: it has it."""
    known = _KINDS.get(_kind(source))
    if known is None or key in known.model_fields:
        return None
    return _nearest(key, list(known.model_fields))


def _nearest(name: str, known: list[str]) -> str:
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    return f"did you mean {nearest[0]!r}?" if nearest else f"known here: {', '.join(sorted(known)) or 'none'}"
