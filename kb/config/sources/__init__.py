"""Where pages come from: one class a kind of source. This is the door: all that others need is imported from here.

`kinds` has their settings, `environment` brings tokens in.
"""

from kb.config.sources.common import DOCUMENTS, PAGES, CommonSettings, as_span, nearest
from kb.config.sources.environment import TOKEN_VARIABLES, unknown_key, with_environment
from kb.config.sources.kinds import AnySourceSettings
from kb.config.sources.kinds.files import DriveSettings, FolderSettings, GitSettings, SlackExportSettings
from kb.config.sources.kinds.google_drive import GoogleDriveSettings
from kb.config.sources.kinds.microsoft import SharePointSettings, site_key
from kb.config.sources.kinds.services import (
    ConfluenceSettings,
    GithubSettings,
    NotionSettings,
    WebsiteSettings,
)

__all__ = [
    "DOCUMENTS",
    "PAGES",
    "TOKEN_VARIABLES",
    "AnySourceSettings",
    "CommonSettings",
    "ConfluenceSettings",
    "DriveSettings",
    "FolderSettings",
    "GitSettings",
    "GithubSettings",
    "GoogleDriveSettings",
    "NotionSettings",
    "SharePointSettings",
    "SlackExportSettings",
    "WebsiteSettings",
    "as_span",
    "nearest",
    "site_key",
    "unknown_key",
    "with_environment",
]
