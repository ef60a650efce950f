"""One visit to a website: from its start pages and sitemaps along the links, and what was found under which path.

What fails today is told from what is gone: a page that fails keeps its place, and the way through it is known from the
last visit. Only what the site itself says is gone, moved or hidden, or what nothing leads to any more, is not listed.
A page that now asks its visitors who they are is a failure whose earlier text has to go.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from dataclasses import dataclass, field, replace

from yarl import URL

from ingest.sources.web.client import WebClient, WebError
from ingest.sources.web.document import WebDocument, asks_to_be_hidden, read_document
from ingest.sources.web.memory import Visit, VisitMemory
from ingest.sources.web.scope import Scope, TrapDetector, tidy
from ingest.sources.web.sitemaps import Robots, Sitemaps

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A page that was read."""

    address: str
    path: str
    revision: str
    size: int
    canonical: str | None
    """The path of the address that it calls its proper one, where that is another of this source."""


@dataclass(kw_only=True, slots=True)
class Crawled:
    """`failures`: path -> why the page could not be read; `closed`: those of them that are not for everybody any more.
    `incomplete`: why pages may be missing from the listing.
    """

    pages: dict[str, Found] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    incomplete: str | None = None


class Crawl:
    """Used once. `memory` holds the text of every page found."""

    def __init__(self, *, scope: Scope, client: WebClient, memory: VisitMemory, max_pages: int) -> None:
        self._scope = scope
        self._client = client
        self._memory = memory
        self._max_pages = max_pages
        self._robots = Robots(client, scope.foreign)
        self._traps = TrapDetector()
        self._waiting: deque[URL] = deque()
        self._seen: set[URL] = set()
        self._lost_ways = False
        self._result = Crawled()

    async def run(self, starts: tuple[URL, ...], sitemaps: tuple[URL, ...]) -> Crawled:
        """
        Raises:
            WebError: none of the start pages can be read, or robots.txt cannot.
        """
        remembered = await self._memory.addresses()
        for origin in self._scope.origins:
            await self._robots.read(origin)
        refused = [why for start in starts if (why := self._refusal(start))]
        if len(refused) == len(starts):
            raise WebError(refused[0])
        self._enqueue(*starts)
        await self._read_sitemaps(starts, sitemaps)
        await self._walk()
        self._require_a_start(starts)
        if self._lost_ways:
            await self._look_again(remembered)
        self._merge_duplicates()
        if self._result.incomplete is None:
            await self._memory.forget(set(remembered) - {str(url) for url in self._seen})
        return self._result

    def _refusal(self, url: URL) -> str | None:
        return self._scope.foreign(url) or (
            None if self._robots.allows(url) else "its robots.txt asks to stay away"
        )

    async def _read_sitemaps(self, starts: tuple[URL, ...], configured: tuple[URL, ...]) -> None:
        named = [sitemap for start in starts for sitemap in self._robots.sitemaps(start)]
        usual = [start.origin() / "sitemap.xml" for start in starts]
        sitemaps = Sitemaps(self._client, self._refusal)
        self._enqueue(*await sitemaps.addresses(list(dict.fromkeys([*configured, *named, *usual]))))
        if sitemaps.failed:
            logger.warning("web.sitemap_failed", extra={"sitemaps": sitemaps.failed})
            self._lost_ways = True

    def _enqueue(self, *urls: URL) -> None:
        for url in map(tidy, urls):
            if url in self._seen or not self._scope.holds(url) or self._refusal(url):
                continue
            self._seen.add(url)
            if not self._traps.catches(url):
                self._waiting.append(url)

    async def _walk(self) -> None:
        while self._waiting:
            if len(self._result.pages) + len(self._result.failures) >= self._max_pages:
                self._result.incomplete = (
                    f"the crawl stopped at {self._max_pages} pages: raise max_pages, or narrow the prefixes"
                )
                return
            await self._visit(self._waiting.popleft())

    async def _visit(self, url: URL) -> None:
        before = await self._memory.recall(str(url))
        try:
            visit = await self._read(url, before)
        except WebError as error:
            if error.gone:
                await self._memory.forget([str(url)])
            else:
                path = self._fail(url, error.reason, before)
                if error.private:
                    self._result.closed.add(path)
                    await self._memory.forget([str(url)])
            return
        if visit is None:
            return
        document = visit.document
        self._enqueue(*map(URL, document.links))
        if document.canonical is not None:
            self._enqueue(URL(document.canonical))
        if document.hidden:
            return
        if not document.content:
            self._result.failures[visit.path] = "no main text was found on it"
            return
        self._list(visit)

    async def _read(self, url: URL, before: Visit | None) -> Visit | None:
        """The page at an address, as remembered where the site says that it is unchanged.

        Whether it may be indexed can change without it: one that may not was asked for in full, the others' header is read.
        """
        known = before if before and not before.document.hidden else None
        answer = await self._client.get(
            url,
            refusal=self._refusal,
            etag=known.etag if known else None,
            last_modified=known.last_modified if known else None,
        )
        if answer.status == 304 and known is not None:
            return replace(known, document=replace(known.document, hidden=asks_to_be_hidden(answer.robots)))
        document = await asyncio.to_thread(read_document, answer)
        final = tidy(answer.url)
        if document is None or not self._scope.holds(final):
            return None
        visit = Visit(
            address=str(url),
            path=self._scope.path_of(final),
            document=document,
            etag=answer.etag,
            last_modified=answer.last_modified,
        )
        await self._memory.keep(visit)
        return visit

    def _fail(self, url: URL, reason: str, before: Visit | None) -> str:
        """The path of the page that failed; the way through it is known from the last visit."""
        path = before.path if before else self._scope.path_of(url)
        self._result.failures[path] = reason
        if before is None:
            self._lost_ways = True
        else:
            self._enqueue(*map(URL, before.document.links))
        return path

    def _list(self, visit: Visit) -> None:
        canonical = self._canonical(visit.document)
        self._result.pages[visit.path] = Found(
            address=visit.address,
            path=visit.path,
            revision=visit.revision,
            size=len(visit.document.content),
            canonical=canonical if canonical != visit.path else None,
        )

    def _canonical(self, document: WebDocument) -> str | None:
        if document.canonical is None:
            return None
        url = tidy(URL(document.canonical))
        return self._scope.path_of(url) if self._scope.holds(url) else None

    def _require_a_start(self, starts: tuple[URL, ...]) -> None:
        """A site whose every start page fails, and from which nothing else came, is out of reach and not empty."""
        if not self._result.pages and self._result.failures:
            first = next(iter(self._result.failures.items()))
            raise WebError(f"no page of it can be read: {first[0]}: {first[1]}")
        if not self._result.pages:
            raise WebError(f"there is no page at {starts[0]} any more: correct `start`")

    async def _look_again(self, remembered: list[str]) -> None:
        """Pages that an earlier visit found and this one did not, because what leads to them may have failed."""
        if not remembered:
            self._result.incomplete = self._result.incomplete or (
                "some pages failed, so that pages only reached through them are not known yet"
            )
        self._enqueue(*map(URL, remembered))
        await self._walk()

    def _merge_duplicates(self) -> None:
        """A page that names another as its proper address is that other page, if that one exists and agrees."""
        pages = self._result.pages
        for path, found in list(pages.items()):
            proper = pages.get(found.canonical) if found.canonical else None
            if proper is not None and proper.canonical is None:
                del pages[path]
        for path in set(pages) & set(self._result.failures):
            del self._result.failures[path]
