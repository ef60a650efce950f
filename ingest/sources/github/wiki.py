"""The wiki of a repository, which is a git repository beside it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from pydantic import SecretStr

from ingest.errors import SourceUnavailableError
from ingest.sources.api_responses import ApiError
from ingest.sources.port import PageRef, RawPage, fingerprint
from ingest.sources.repository import GitSource
from kb.config.sources import PAGES, GithubSettings, GitSettings

_FRAME = ("_Sidebar.*", "_Footer.*", "_Header.*")
"""What stands around every page of a wiki."""
_ENDINGS = (*PAGES, "**/*.rst", "**/*.org")
_MISSING = re.compile(r"not found|does not exist", re.IGNORECASE)


class Wiki:
    """`repository`: its present name; `folder`: where clones are kept."""

    def __init__(self, settings: GithubSettings, repository: str, folder: Path) -> None:
        self._address = f"{web_address(settings)}/{repository}"
        self._name = f"{settings.name[:32]}-wiki-{fingerprint([repository.lower().encode()])[:12]}"
        self._folder = folder
        self._git = self._source(None)

    async def listed(self, token: SecretStr | None) -> AsyncIterator[PageRef]:
        """Lists its pages. A repository may have a wiki in which nobody ever wrote: then GitHub has none to clone.

        Raises:
            ApiError: it cannot be brought up to date.
        """
        self._git = self._source(token)
        try:
            async for ref in self._git.discover():
                yield ref
        except SourceUnavailableError as error:
            if (
                _MISSING.search(str(error.__cause__))
                and not (self._folder / f"{self._name}.checkout").exists()
            ):
                return
            raise ApiError(str(error).partition(": ")[2]) from error

    async def page(self, path: str) -> RawPage:
        """Raises `PageError`."""
        return await self._git.fetch(PageRef(path=path, revision=None))

    def url_of(self, path: str) -> str:
        """Returns the address of a wiki page, which has neither folder nor file extension."""
        return f"{self._address}/wiki/{quote(PurePosixPath(path).stem)}"

    def _source(self, token: SecretStr | None) -> GitSource:
        chosen = GitSettings(
            kind="git",
            name=self._name,
            url=f"{self._address}.wiki.git",
            token=token,
            include=_ENDINGS,
            exclude=_FRAME,
        )
        return GitSource(chosen, self._folder)


def web_address(settings: GithubSettings) -> str:
    """Returns the address of the site that people read, by that of its API."""
    address = str(settings.api_url).rstrip("/")
    if address.endswith("/api/v3"):
        return address.removesuffix("/api/v3")
    return re.sub(r"^(https?://)api\.", r"\1", address)
