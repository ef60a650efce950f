"""The addresses that a visit has met: which still have to be asked for, and which need not be."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable

from yarl import URL

from ingest.sources.web.bounds import Bounds
from ingest.sources.web.client import Refusal, WebError, as_web_error
from ingest.sources.web.crawled import Crawled
from ingest.sources.web.scope import Scope, TrapDetector

_A_FEW = 200
"""Addresses that are looked at in one go: some 10 ms."""


class Frontier:
    """`result` is told what is left out on purpose, and where there are more addresses than could be asked for."""

    def __init__(self, scope: Scope, refusal: Refusal, bounds: Bounds, result: Crawled) -> None:
        self._scope = scope
        self._refusal = refusal
        self._bounds = bounds
        self._result = result
        self._traps = TrapDetector()
        self.waiting: deque[URL] = deque()
        self.seen: set[URL] = set()

    def begin_with(self, urls: Iterable[URL]) -> None:
        """Queues the start pages, which have already been requested."""
        for url in urls:
            self.seen.add(url)
            self.waiting.append(url)

    async def add(self, urls: Iterable[URL]) -> None:
        """Queues addresses to visit. Other tasks of this process get their turn in between."""
        for number, url in enumerate(urls):
            if len(self.seen) >= self._bounds.addresses:
                self._result.incomplete = self._result.incomplete or (
                    f"it links to more than {len(self.seen)} addresses: raise max_pages, or narrow the prefixes"
                )
                return
            if number % _A_FEW == _A_FEW - 1:
                await asyncio.sleep(0)
            try:
                with as_web_error("it is no address"):
                    self._note(self._scope.spelled(url))
            except WebError:  # a bad link does not fail its page
                continue

    def _note(self, url: URL) -> None:
        if url in self.seen or not self._scope.holds(url):
            return
        if self._refusal(url):
            if len(self._result.left_out) < self._bounds.addresses:
                self._result.left_out.add(self._scope.path_of(url))
            return
        self.seen.add(url)
        if not self._traps.catches(url):
            self.waiting.append(url)
