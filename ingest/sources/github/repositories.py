"""A repository as GitHub has it: who may read its pages, and what to do where it cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ingest.sources.api_responses import ApiError, Shape
from ingest.sources.port import readers_among
from kb.config.sources import GithubSettings

CLOSED = (
    "the repository is not public, so that its pages are for nobody: name the channels of those who may read it in "
    "`readers`, or take it out of `repositories`"
)
UNSEEN = (
    "there is no such repository, or it is private and the token may not see it: correct `repositories`, or give the "
    "token or the app access to it"
)
_PERMISSIONS: Mapping[str, str] = {"issues": "Issues", "discussions": "Discussions", "wiki": "Contents"}

Audience = tuple[str, ...] | None
"""None: no limit. Empty: nobody here may read it."""


class Repository(Shape):
    """What `GET /repos/{owner}/{name}` tells. One that does not say that it is public is not."""

    full_name: str
    private: bool = True
    visibility: str = "public"
    has_issues: bool = True
    has_discussions: bool = True
    has_wiki: bool = True

    @property
    def is_public(self) -> bool:
        return not self.private and self.visibility == "public"


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A repository of the settings (`name`) as GitHub has it, and who may read its pages."""

    name: str
    repository: Repository
    audience: Audience


def channels_of(settings: GithubSettings, name: str) -> tuple[str, ...] | None:
    """Looks up a repository in `readers`; None where it is not there."""
    return next((channels for key, channels in settings.readers.items() if key.lower() == name.lower()), None)


def audience_of(settings: GithubSettings, name: str, repository: Repository) -> Audience:
    """Returns who may read a repository's pages; `readers` of the settings wins, even over a public repository."""
    channels = channels_of(settings, name)
    if channels is None:
        return None if repository.is_public else ()
    return readers_among(channels)


def advice(settings: GithubSettings, error: ApiError, kind: str = "") -> str:
    """Advises on an error. `kind`: the part of the repository that was asked for."""
    match error.status:
        case 401 if settings.app_id is not None:
            return str(error)
        case 401 if settings.token is None and kind == "discussions":
            return (
                "GitHub shows discussions to nobody without a token: set GITHUB_TOKEN, or discussions = false"
            )
        case 401:
            return "GitHub does not accept the token, which may have expired: set GITHUB_TOKEN to a new one"
        case 403:
            needed = _PERMISSIONS.get(kind, "Metadata")
            return f"{error}; give the token or the app the permission to read {needed}"
        case 404:
            return UNSEEN
        case 429:
            return (
                f"{error}, and it did not stop: sync less often, or use a token or an app, which may ask more"
            )
        case _:
            return f"{error}; look whether {settings.api_url} can be reached from here, and githubstatus.com"
