"""One visit to a website: from its start pages and sitemaps along the links, and what was found under which path.

What fails today is kept apart from what is gone: a page that fails stays listed, and its links are known from the last
visit. Only what the site itself says is gone, moved or hidden, or what nothing links to any more, is not listed. A page
that now asks visitors to log in is a failure whose earlier text has to go. A site that shows one text under all its
addresses is not believed.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

from yarl import URL

from ingest.sources.web.bounds import Bounds
from ingest.sources.web.client import WebClient, WebError, as_web_error
from ingest.sources.web.crawled import Crawled, Found, settle
from ingest.sources.web.document import asks_to_be_hidden
from ingest.sources.web.frontier import Frontier
from ingest.sources.web.hrefs import written_address, written_addresses
from ingest.sources.web.memory import Visit, VisitMemory
from ingest.sources.web.pages import (
    LOGIN,
    asks_who_you_are,
    leads_on_to,
    require_text,
)
from ingest.sources.web.reader import WebReader
from ingest.sources.web.scope import Scope
from ingest.sources.web.sitemaps import Robots, Sitemaps
from ingest.sources.web.spellings import Queries
from ingest.sources.web.starts import Opened, Starts
from ingest.sources.web.upkeep import SameTextError, look_at, require_different_texts

logger = logging.getLogger(__name__)

_SHOWN = 100
"""Characters of a line that a failure shows."""
_LOST_SHARE = 0.2
_LOST_FEW = 3
"""So many pages of the last visit may be unlinked without being looked at, as in `ingest.swap_checks`."""


class Crawl:
    """Used once. `scope` learns where the starts lead; `memory` holds the text of every page found."""

    def __init__(
        self, *, scope: Scope, client: WebClient, reader: WebReader, memory: VisitMemory, bounds: Bounds
    ) -> None:
        self._scope = scope
        self._client = client
        self._reader = reader
        self._memory = memory
        self._bounds = bounds
        self._robots = Robots(client, scope.foreign)
        self._queries = Queries()
        self._opened: dict[URL, Opened] = {}
        self._replaced: dict[str, Visit] = {}
        """Path -> the visit before this one, of pages whose text has changed since."""
        self._moved: dict[str, str] = {}
        """Path -> the path that it redirects to."""
        self._lost_ways = False
        self._result = Crawled()
        self._frontier = Frontier(scope, self._refusal, bounds, self._result)

    async def run(self, starts: tuple[URL, ...], sitemaps: tuple[URL, ...]) -> Crawled:
        """Visits the site.

        Raises:
            WebError: none of the start pages can be read, or robots.txt cannot, or all pages show the same.
        """
        remembered = await self._memory.addresses()
        for origin in self._scope.origins:
            await self._robots.read(origin)
        refused = [why for start in starts if (why := self._refusal(start))]
        if len(refused) == len(starts):
            raise WebError(refused[0])
        opened = await self._open(starts)
        await self._read_sitemaps((*opened, *starts), sitemaps)
        await self._walk()
        self._require_a_start(starts)
        if self._lost_ways:
            await self._look_again(remembered)
        try:
            opened_paths = {self._scope.path_of(url) for url in opened}
            require_different_texts(self._result.pages, opened_paths, self._replaced)
            await self._look_at_lost(remembered)
        except SameTextError:
            for visit in self._replaced.values():
                await self._memory.keep(visit)
            raise
        await settle(self._result, self._moved, self._memory)
        if self._result.incomplete is None:
            await self._memory.forget(set(remembered) - {str(url) for url in self._frontier.seen})
        return self._result

    def _refusal(self, url: URL) -> str | None:
        if self._robots.allows(url):
            return self._scope.foreign(url)
        return self._scope.foreign(url) or "its robots.txt asks to stay away"

    async def _open(self, starts: tuple[URL, ...]) -> list[URL]:
        """Asks the start addresses, and lets the scope follow to where they lead. What cannot be read is a failure."""
        opening = Starts(
            scope=self._scope,
            client=self._client,
            reader=self._reader,
            robots=self._robots,
            memory=self._memory,
            refusal=self._refusal,
        )
        for start in starts:
            try:
                with as_web_error("it cannot be read"):
                    opened = await opening.open(start)
            except WebError as error:
                await self._failed(start, error, await self._memory.recall(str(start)))
                continue
            final = self._scope.spelled(opened.answer.url)
            self._opened.setdefault(final, opened)
            if final != start:
                self._moved[self._scope.path_of(start)] = self._scope.path_of(final)
        self._frontier.begin_with(self._opened)
        return list(self._opened)

    async def _read_sitemaps(self, starts: tuple[URL, ...], configured: tuple[URL, ...]) -> None:
        named = [sitemap for start in starts for sitemap in self._robots.sitemaps(start)]
        sitemaps = Sitemaps(self._client, self._refusal, self._scope.spelled, self._bounds)
        origins = tuple(dict.fromkeys(self._scope.spelled(start).origin() for start in starts))
        await self._frontier.add(await sitemaps.addresses((*configured, *named), origins))
        self._result.incomplete = sitemaps.cut
        if sitemaps.failed:
            logger.warning("web.sitemap_failed", extra={"sitemaps": list(map(str, sitemaps.failed))})
            self._lost_ways = True
        for url, why in sitemaps.failed.items():
            if url in sitemaps.named:
                self._result.failures[self._scope.path_of(url)] = f"a sitemap: {why}"
        for origin in dict.fromkeys(start.origin() for start in starts):
            for written in self._robots.no_sitemaps(origin):
                path = self._scope.path_of(origin / "robots.txt")
                self._result.failures[path] = f"it names a sitemap that is no address: {written[:_SHOWN]}"

    async def _walk(self) -> None:
        while self._frontier.waiting:
            stop = self._bounds.reached(len(self._result.pages) + len(self._result.failures))
            if stop is not None:
                self._result.incomplete = stop
                return
            url = self._frontier.waiting.popleft()
            plain = self._queries.plain(url)
            if plain == url:
                await self._visit(url)
            else:
                self._result.left_out.add(self._scope.path_of(url))
                await self._frontier.add([plain])

    async def _visit(self, url: URL) -> None:
        """Reads a page and takes what it leads to; any error in it fails this page alone."""
        before: Visit | None = None
        try:
            with as_web_error("it cannot be read"):
                before = await self._memory.recall(str(url))
                visit = await self._read(url, before)
                if visit is not None:
                    await self._take(url, visit)
        except WebError as error:
            await self._failed(url, error, before)

    async def _take(self, url: URL, visit: Visit) -> None:
        document = visit.document
        named = (document.canonical,) if document.canonical is not None else ()
        await self._frontier.add(written_addresses((*document.links, *named)))
        address = written_address(document.url)
        if address is None or not self._scope.holds(address):  # a start that only shows the way
            return
        if document.hidden:
            self._result.left_out.add(visit.path)
            return
        if not document.content:
            self._result.failures[visit.path] = "no main text was found on it"
            if document.is_limited:  # then its earlier text is not for everybody any more either
                self._result.closed.add(visit.path)
            return
        self._list(url, visit)

    async def _read(self, url: URL, before: Visit | None) -> Visit | None:
        """Returns the page at an address, as remembered where the site says that it is unchanged. None: it is no page.

        Whether it may be indexed can change without it: one that may not
        was asked for in full, the others' header is read.
        """
        opened = self._opened.get(url)
        known = opened.known if opened else before if before and not before.document.hidden else None
        if opened:
            answer = opened.answer
        else:
            validators = known.validators if known else None
            answer = await self._client.get(url, refusal=self._refusal, validators=validators)
        if answer.status == 304 and known is not None:
            return replace(known, document=replace(known.document, hidden=asks_to_be_hidden(answer.robots)))
        document = (opened.document if opened else None) or await self._reader.read(answer)
        if not opened and asks_who_you_are(url, answer, document):
            raise WebError(LOGIN, private=True)
        final, path = self._scope.spelled(answer.url), self._scope.path_of(url)
        if document is None or not (opened or self._scope.holds(final)):
            return None
        target = await asyncio.to_thread(leads_on_to, answer, document)
        if target is not None and self._scope.spelled(target) != final:
            await self._frontier.add([target])
            self._moved[path] = self._scope.path_of(self._scope.spelled(target))
            return None
        await asyncio.to_thread(require_text, answer, document)
        visit = Visit(
            address=str(url),
            path=self._scope.path_of(final),
            document=document,
            etag=answer.etag,
            last_modified=answer.last_modified,
        )
        if visit.path != path:
            self._moved[path] = visit.path
        if before is not None and before.document.mark != document.mark:
            self._replaced[visit.path] = before
        await self._memory.keep(visit)
        return visit

    async def _failed(self, url: URL, error: WebError, before: Visit | None) -> None:
        """Records a failure and follows the page's links of the last visit. A page that is gone fails only where it is
        a start.
        """
        if error.for_good:
            self._result.left_out.add(self._scope.path_of(url))
        if error.gone:
            await self._memory.forget([str(url)])
            if error.to is None or url not in self._scope.starts:
                return
        path = before.path if before else self._scope.path_of(url)
        self._result.failures[path] = error.reason
        if before is None:
            self._lost_ways = True
        else:
            await self._frontier.add(written_addresses(before.document.links))
        if error.private:
            self._result.closed.add(path)
            await self._memory.forget([str(url)])

    def _list(self, url: URL, visit: Visit) -> None:
        canonical = self._canonical(visit.document.canonical)
        self._queries.saw(url, visit.document.mark)
        self._result.pages[visit.path] = Found(
            address=visit.address,
            path=visit.path,
            revision=visit.revision,
            size=len(visit.document.content),
            text=visit.document.mark,
            canonical=canonical if canonical != visit.path else None,
        )

    def _canonical(self, named: str | None) -> str | None:
        if named is None:
            return None
        url = written_address(named)
        return self._scope.path_of(self._scope.spelled(url)) if url and self._scope.holds(url) else None

    def _require_a_start(self, starts: tuple[URL, ...]) -> None:
        """Raises `WebError` if no page came: a site whose start pages all fail is out of reach, not empty."""
        if self._result.pages:
            return
        if self._result.failures:
            path, reason = next(iter(self._result.failures.items()))
            raise WebError(f"no page of it can be read: {path}: {reason}")
        raise WebError(f"there is no page at {starts[0]} any more: correct `start`")

    async def _look_again(self, remembered: list[str]) -> None:
        """Visits pages that an earlier visit found and this one did not, because what leads to them may have failed."""
        if not remembered:
            self._result.incomplete = self._result.incomplete or (
                "some pages failed, so that pages only reached through them are not known yet"
            )
        await self._frontier.add(written_addresses(remembered))
        await self._walk()

    async def _look_at_lost(self, remembered: list[str]) -> None:
        """Checks, if no link leads to many pages any more, whether the site still has them, hides them, or shows one
        text for all.

        Raises:
            WebError: the site shows one text for all.
        """
        lost = [
            url
            for url in written_addresses(remembered)
            if url not in self._frontier.seen and self._scope.holds(url)
        ]
        if len(lost) <= max(_LOST_FEW, _LOST_SHARE * len(remembered)) or self._result.incomplete:
            return
        try:
            await look_at(lost, self._result.pages.values(), self._client, self._reader, self._refusal)
        except WebError as error:
            if isinstance(error, SameTextError):
                raise
            if error.private:  # whoever may not see them any more must not read them here either
                await self._frontier.add(lost)
                await self._walk()
                return
            self._result.incomplete = (
                f"nothing leads any more to {len(lost)} pages of the last visit, and they cannot be "
                f"looked at: {error.reason}"
            )
