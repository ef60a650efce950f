"""Stands in for a source that could not be opened (its settings, its credentials, its folder)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from ingest.errors import PageError, SourceUnavailableError
from ingest.faults import as_source_failure
from ingest.sources.port import ConfiguredSource, PageRef, RawPage, Source
from kb.config.sources import CommonSettings


class UnopenedSource(ConfiguredSource[CommonSettings]):
    """Lists nothing and says why. Its readers are known, so that what the index has of it can be limited to them."""

    def __init__(self, settings: CommonSettings, why: SourceUnavailableError) -> None:
        super().__init__(settings)
        self._why = why

    async def discover(self) -> AsyncIterator[PageRef]:
        raise self._why
        yield

    async def fetch(self, ref: PageRef) -> RawPage:
        raise PageError(f"{ref.path}: {self._why}")

    def url_of(self, path: str) -> str:
        return path

    async def close(self) -> None:
        """Does nothing: nothing was opened."""


def opened(settings: CommonSettings, opening: Callable[[], Source]) -> Source:
    """Opens a source, or returns one that says why it could not be opened: the others are synced all the same."""
    try:
        with as_source_failure(settings.name):
            return opening()
    except SourceUnavailableError as error:
        return UnopenedSource(settings, error)
