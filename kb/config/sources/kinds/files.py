"""Settings of sources that are files: folders, checkouts, exports."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, HttpUrl, SecretStr, model_validator

from kb.config.sources.common import DOCUMENTS, PAGES, CommonSettings


class FolderSettings(CommonSettings):
    """A folder of pages, which may be (part of) a git checkout. `base_url` makes links: base_url + the page's path."""

    reader = "folder:FolderSource"

    kind: Literal["folder"] = "folder"
    path: Path
    base_url: str | None = None
    """None: for a checkout of a repository on GitHub or GitLab, the file there; else the mere path."""
    include: tuple[str, ...] = DOCUMENTS
    exclude: tuple[str, ...] = ()
    git_dates: bool = True
    """In a git checkout, a page was edited when its file was last committed. Off: git is not asked, for links neither.
    """
    pull: bool = False
    """Bring a git checkout up to date before each sync (fast-forward only)."""


class GitSettings(CommonSettings):
    """A repository on a server: docs of a project, or the wiki of one on GitHub or GitLab (`....wiki.git`)."""

    reader = "repository:GitSource"
    variables: ClassVar[Mapping[str, str]] = {"GIT_TOKEN": "token"}

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


class DriveSettings(CommonSettings):
    """A folder of documents exported from Google Drive, by Takeout or `rclone copy`."""

    reader = "folder:DriveSource"

    kind: Literal["drive"]
    path: Path
    base_url: str | None = None
    include: tuple[str, ...] = DOCUMENTS
    exclude: tuple[str, ...] = ()

    def as_folder(self) -> FolderSettings:
        """Returns the export as a folder whose pages take no dates from git."""
        return FolderSettings(**self.model_dump(exclude={"kind"}), git_dates=False)


class SlackExportSettings(CommonSettings):
    """A Slack export (zip or unpacked): threads with an accepted answer or a pinned message become pages."""

    reader = "slack.source:SlackExportSource"

    kind: Literal["slack_export"]
    path: Path
    workspace_url: HttpUrl | None = None
    """https://acme.slack.com makes links; without it a page is cited by its title."""
    channels: tuple[str, ...] = ()
    """Names. Empty: all public channels. A private channel is read only when it is named, and only its members find it.
    """
    people: Literal["pseudonyms", "names"] = "pseudonyms"
    accepted: tuple[str, ...] = ("white_check_mark", "heavy_check_mark", "ballot_box_with_check")
    """A reply with one of these reactions is the thread's answer."""
