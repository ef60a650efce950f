"""How far a visit goes at most: dead links, hidden pages and calendars
without end cost requests and time, and bring no page.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from kb.config.sources import WebsiteSettings

_REQUESTS_A_PAGE = 4
_REQUESTS_BESIDE = 200
"""For robots.txt, sitemaps and redirects of a site of few pages."""


class Bounds:
    """One visit's. `requests`: how many were made so far."""

    def __init__(
        self,
        settings: WebsiteSettings,
        requests: Callable[[], int],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pages = settings.max_pages
        self._most = settings.max_requests or _REQUESTS_A_PAGE * settings.max_pages + _REQUESTS_BESIDE
        self._minutes = settings.max_minutes
        self._requests = requests
        self._now = now
        self._began = now()

    @property
    def addresses(self) -> int:
        """Returns how many addresses are worth remembering: no more could be asked for."""
        return self._most

    def reached(self, pages: int) -> str | None:
        """Tells why the visit goes no further, and what to do; None: it goes on. `pages`: read or failed so far."""
        if pages >= self._pages:
            return f"the crawl stopped at {self._pages} pages: raise max_pages, or narrow the prefixes"
        if self._requests() >= self._most:
            return (
                f"the crawl stopped after {self._requests()} requests, of which {pages} brought a "
                f"page: exclude what is none "
                "(dead links, calendars, filters), or raise max_requests"
            )
        if self._now() - self._began >= 60 * self._minutes:
            return (
                f"the crawl stopped after {self._minutes:g} minutes and {pages} pages: raise "
                f"max_minutes, lower delay_s, "
                "or narrow the prefixes"
            )
        return None
