"""How Confluence is reached: which edition, with which credentials, and what to do when it refuses."""

from __future__ import annotations

from base64 import b64encode

from ingest.sources.access_tokens import bearer
from ingest.sources.api_responses import ApiError
from ingest.sources.confluence.attached import Attached
from ingest.sources.confluence.cloud import CloudApi
from ingest.sources.confluence.data_center import DataCenterApi
from ingest.sources.confluence.links import Edition
from ingest.sources.confluence.listing import ConfluenceApi
from ingest.sources.json_api import JsonApi, Sleep
from kb.config.sources import ConfluenceSettings


class Connection:
    """Opened by the first request; may be closed and used again.

    `api`: spaces and pages, by what this edition offers; `attached`: comments and attachments.
    """

    def __init__(self, settings: ConfluenceSettings, *, sleep: Sleep) -> None:
        self._settings = settings
        self.base_url = str(settings.url).rstrip("/")
        self.edition: Edition = _edition(settings)
        self.json = JsonApi(
            self.base_url,
            vendor="confluence",
            headers=_authorization(settings),
            timeout_s=settings.timeout_s,
            sleep=sleep,
        )
        edition = CloudApi if self.edition == "cloud" else DataCenterApi
        self.api: ConfluenceApi = edition(self.json, self.base_url)
        self.attached = Attached(api=self.json, base_url=self.base_url, edition=self.edition)

    def advice(self, error: ApiError) -> str:
        """Advises an administrator on a refusal."""
        match error.status:
            case 401:
                return f"Confluence does not accept the credentials: set {self._variables()}"
            case 403:
                return "the account of the token may not use Confluence, or not its API: give it access"
            case 404 | 301 | 302:
                return (
                    f"there is no Confluence API below {self.base_url}: correct `url` (Cloud's ends in /wiki)"
                )
            case 429:
                return "Confluence limits the rate of requests and did not stop doing so: sync less often, or later"
            case _:
                return f"{error}: look whether {self.base_url} can be reached from here"

    def no_space(self) -> str:
        return (
            "the account sees none of the spaces: give it access, and look whether "
            f"{self._variables()} belong to it"
        )

    def _variables(self) -> str:
        cloud = "CONFLUENCE_EMAIL and CONFLUENCE_API_TOKEN"
        return cloud if self.edition == "cloud" else "CONFLUENCE_API_TOKEN to a personal access token"


def _authorization(settings: ConfluenceSettings) -> dict[str, str]:
    if settings.token is None:
        return {}
    if settings.email is None:
        return bearer(settings.token)
    pair = f"{settings.email}:{settings.token.get_secret_value()}"
    return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def _edition(settings: ConfluenceSettings) -> Edition:
    if settings.edition != "auto":
        return settings.edition
    return "cloud" if (settings.url.host or "").endswith(".atlassian.net") else "data_center"
