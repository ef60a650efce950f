"""The kinds of source. `kind` in `[[sources]]` tells them apart; a source without one is a folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Discriminator, Tag

from kb.config.sources.common import CommonSettings
from kb.config.sources.files import DriveSettings, FolderSettings, GitSettings, SlackExportSettings
from kb.config.sources.google_drive import GoogleDriveSettings
from kb.config.sources.microsoft import SharePointSettings
from kb.config.sources.services import ConfluenceSettings, GithubSettings, NotionSettings, WebsiteSettings


def kind_of(given: object) -> str:
    """Returns the kind of settings, or of a table of a settings file."""
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
    | Annotated[SharePointSettings, Tag("sharepoint")]
    | Annotated[DriveSettings, Tag("drive")]
    | Annotated[GoogleDriveSettings, Tag("google_drive")],
    Discriminator(
        kind_of,
        custom_error_type="source_kind",
        custom_error_message=(
            "unknown kind; known: folder, git, website, confluence, notion, slack_export, github, "
            "sharepoint, drive, google_drive"
        ),
    ),
]

KINDS: Mapping[str, type[CommonSettings]] = {
    "folder": FolderSettings,
    "git": GitSettings,
    "website": WebsiteSettings,
    "confluence": ConfluenceSettings,
    "notion": NotionSettings,
    "slack_export": SlackExportSettings,
    "github": GithubSettings,
    "sharepoint": SharePointSettings,
    "drive": DriveSettings,
    "google_drive": GoogleDriveSettings,
}
