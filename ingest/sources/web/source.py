"""A website as a source: a crawl lists its pages and leaves their text in the memory, `fetch` reads it there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from aiohttp.abc import AbstractResolver
from yarl import URL

from ingest.errors import PageError, SourceUnavailableError
from ingest.sources.port import ConfiguredSource, PageRef, RawPage
from ingest.sources.web.addresses import MayReach, is_public
from ingest.sources.web.bounds import Bounds
from ingest.sources.web.client import Refusal, Sleep, WebClient, WebError
from ingest.sources.web.crawl import Crawl
from ingest.sources.web.crawled import Crawled
from ingest.sources.web.hrefs import written_address, written_addresses
from ingest.sources.web.memory import Visit, VisitMemory
from ingest.sources.web.pages import LOGIN, asks_who_you_are
from ingest.sources.web.reader import WebReader
from ingest.sources.web.scope import Scope
from kb.config.sources import WebsiteSettings


class WebsiteSource(ConfiguredSource[WebsiteSettings]):
    """`folder`: where the memory of earlier visits is kept. `may_reach`:
    the addresses that may be connected to, whatever
    `resolver` makes of a name.
    """

    def __init__(
        self,
        settings: WebsiteSettings,
        folder: Path,
        *,
        may_reach: MayReach = is_public,
        sleep: Sleep = asyncio.sleep,
        resolver: AbstractResolver | None = None,
    ) -> None:
        super().__init__(settings)
        self._scope = Scope(settings)
        self._memory = VisitMemory(folder / f"{settings.name}.visits")
        self._may_reach = may_reach
        self._sleep = sleep
        self._resolver = resolver
        self._crawled = Crawled()
        self._reader = WebReader()

    def url_of(self, path: str) -> str:
        return self._scope.url_of(path)

    async def discover(self) -> AsyncIterator[PageRef]:
        client = self._client()
        self._scope = Scope(self._settings)
        try:
            crawl = Crawl(
                scope=self._scope,
                client=client,
                reader=self._reader,
                memory=self._memory,
                bounds=Bounds(self._settings, lambda: client.requests),
            )
            sitemaps = tuple(written_addresses(map(str, self._settings.sitemaps)))
            self._crawled = await crawl.run(self._scope.starts, sitemaps)
        except WebError as error:
            raise SourceUnavailableError(f"source {self.name!r}: {error.reason}") from error
        finally:
            await client.close()
            await self._reader.close()
        for found in self._crawled.pages.values():
            yield PageRef(path=found.path, revision=found.revision, size=found.size)
        for path in self._crawled.failures:
            yield PageRef(path=path, revision=None)
        if self._crawled.incomplete:
            for host in sorted(self._scope.hosts):
                yield PageRef(path=f"{host}/", revision=None)

    def withdraws(self, path: str) -> bool:
        """Whether the settings or the page itself exclude it, or the listing has it under another address."""
        url = written_address(self._scope.url_of(path))
        if url is None:
            return False
        proper = self._scope.path_of(self._scope.spelled(url))
        return (
            path in self._crawled.left_out
            or not self._scope.holds(url)
            or (proper != path and proper in self._crawled.pages)
        )

    async def fetch(self, ref: PageRef) -> RawPage:
        if ref.path.endswith("/"):
            raise PageError(self._crawled.incomplete or "it could not be crawled to its end")
        if ref.path in self._crawled.failures:
            raise PageError(self._crawled.failures[ref.path], withdraw=ref.path in self._crawled.closed)
        visit = await self._memory.page(ref.path) or await self._visit(ref.path)
        if visit.document.closed is not None:
            raise PageError(visit.document.closed, withdraw=True, left_out=visit.document.left_out)
        return RawPage(
            path=ref.path,
            revision=visit.revision,
            content=visit.document.content,
            url=visit.document.url,
            edited=visit.document.edited,
            media_type=visit.document.media_type,
            audience=visit.document.audience,
        )

    async def close(self) -> None:
        """Closes the reader; a crawl closes its own connections."""
        await self._reader.close()

    async def _visit(self, path: str) -> Visit:
        """Reads a page that this machine has not read: another one made the listing."""
        url = URL(self.url_of(path))
        client = self._client()
        try:
            answer = await client.get(url, refusal=self._refusal_of(url))
            document = await self._reader.read(answer)
            if asks_who_you_are(url, answer, document):
                raise PageError(LOGIN, withdraw=True)
        except WebError as error:
            raise PageError(error.reason, withdraw=error.gone or error.private) from error
        finally:
            await client.close()
        if document is None or not document.content:
            raise PageError("no main text was found on it")
        return Visit(address=str(url), path=path, document=document)

    def _refusal_of(self, url: URL) -> Refusal:
        """Lets the scope lead to `url` first: a listing by another process may have followed a start there."""
        for start in self._scope.starts:
            if self._scope.foreign(url) and self._scope.may_lead(start, url):
                self._scope.leads(start, url)
        return self._scope.foreign

    def _client(self) -> WebClient:
        return WebClient(
            pause_s=self._settings.delay_s,
            timeout_s=self._settings.timeout_s,
            may_reach=self._may_reach,
            sleep=self._sleep,
            resolver=self._resolver,
        )
