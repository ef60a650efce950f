"""Where pages come from: one class a kind of source. This is the door: all that others need is imported from here.

`kinds` lists the kinds, `files` and `services` have their settings, `environment` brings tokens in.
"""

from kb.source_settings.common import DOCUMENTS, PAGES, CommonSettings
from kb.source_settings.environment import TOKEN_VARIABLES, unknown_key, with_environment
from kb.source_settings.files import DriveSettings, FolderSettings, GitSettings, SlackExportSettings
from kb.source_settings.kinds import AnySourceSettings
from kb.source_settings.services import ConfluenceSettings, GithubSettings, NotionSettings, WebsiteSettings

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
    "NotionSettings",
    "SlackExportSettings",
    "WebsiteSettings",
    "unknown_key",
    "with_environment",
]
