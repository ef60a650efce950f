"""Builds a source from its settings. Loads no libraries of kinds that are not configured."""

from __future__ import annotations

from pathlib import Path

from ingest.sources.folder import FolderSource
from ingest.sources.port import Source
from kb.config.sources import (
    AnySourceSettings,
    ConfluenceSettings,
    DriveSettings,
    FolderSettings,
    GithubSettings,
    GitSettings,
    GoogleDriveSettings,
    NotionSettings,
    SharePointSettings,
    SlackExportSettings,
    WebsiteSettings,
)


def open_source(settings: AnySourceSettings, folder: Path) -> Source:
    """Opens a source, which keeps clones and what it remembers in `folder`; all of that may be deleted."""
    match settings:
        case FolderSettings():
            return FolderSource(settings)
        case DriveSettings():
            return FolderSource(as_folder(settings))
        case GitSettings():
            from ingest.sources.repository import GitSource

            return GitSource(settings, folder)
        case WebsiteSettings():
            from ingest.sources.web.source import WebsiteSource

            return WebsiteSource(settings, folder)
        case ConfluenceSettings():
            from ingest.sources.confluence.source import ConfluenceSource

            return ConfluenceSource(settings)
        case NotionSettings():
            from ingest.sources.notion.source import NotionSource

            return NotionSource(settings)
        case SlackExportSettings():
            from ingest.sources.slack.source import SlackExportSource

            return SlackExportSource(settings)
        case GithubSettings():
            from ingest.sources.github.source import GithubSource

            return GithubSource(settings, folder)
        case GoogleDriveSettings():
            from ingest.sources.google_drive.source import GoogleDriveSource

            return GoogleDriveSource(settings, folder)
        case SharePointSettings():
            from ingest.sources.sharepoint.source import SharePointSource

            return SharePointSource(settings, folder)


def as_folder(settings: DriveSettings) -> FolderSettings:
    """Returns a Drive export as a folder whose pages take no dates from git."""
    shared = settings.model_dump(exclude={"kind"})
    return FolderSettings(**shared, git_dates=False)
