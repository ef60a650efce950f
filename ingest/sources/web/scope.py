"""Which addresses belong to a website source, under which path each is known, and which look like a crawler's trap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from yarl import URL

from ingest.sources.globs import globs
from kb.source_settings import WebsiteSettings

_TRACKING = frozenset({"gclid", "fbclid", "mc_cid", "mc_eid", "phpsessid", "jsessionid", "sid", "replytocom"})
_NO_PAGES = (
    ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico", ".css", ".js", ".json", ".xml", ".zip", ".gz", ".tgz",
    ".exe", ".dmg", ".mp3", ".mp4", ".webm", ".woff", ".woff2", ".ttf",
)  # fmt: skip
_DEEPEST = 15
_LONGEST = 1_000
_MOST_QUERIES = 50
"""Variants of one path by its query. Calendars and filters make endless ones."""


class Scope:
    def __init__(self, settings: WebsiteSettings) -> None:
        self.starts = tuple(tidy(URL(str(url))) for url in settings.start)
        self._prefixes = tuple(URL(str(url)) for url in settings.prefixes) or tuple(map(_folder, self.starts))
        self.origins = tuple(dict.fromkeys(url.origin() for url in (*self.starts, *self._prefixes)))
        self.hosts = frozenset(map(_host, self.origins))
        self._schemes = {_host(url): url.scheme for url in (*self._prefixes, *self.starts)}
        self._exclude = globs(settings.exclude)

    def foreign(self, url: URL) -> str | None:
        """Why an address may not even be asked for; None: it may. A redirect within the hosts may leave the prefixes."""
        if url.scheme not in ("http", "https"):
            return "it is no web address"
        if url.user is not None or url.password is not None:
            return "it carries a password"
        if _host(url) not in self.hosts:
            return "that is not one of this source's hosts"
        return None

    def holds(self, url: URL) -> bool:
        """Whether an address is a page of this source."""
        return (
            self.foreign(url) is None
            and not url.path.lower().endswith(_NO_PAGES)
            and any(_is_below(url, prefix) for prefix in self._prefixes)
            and not self._exclude.match_file(url.path.lstrip("/") or "index")
        )

    def path_of(self, url: URL) -> str:
        """host/folder/page, where a folder's own page is its `index`."""
        path = url.raw_path if url.raw_path not in ("", "/") else "/"
        query = f"?{url.raw_query_string}" if url.raw_query_string else ""
        return f"{_host(url)}{path}{'index' if path.endswith('/') else ''}{query}"

    def url_of(self, path: str) -> str:
        host, slash, rest = path.partition("/")
        address, mark, query = rest.partition("?")
        if address == "index" or address.endswith("/index"):
            address = address.removesuffix("index")
        return f"{self._schemes.get(host, 'https')}://{host}{slash}{address}{mark}{query}"


class TrapDetector:
    """Refuses addresses of the kinds that go on for ever. It remembers how many variants each path had."""

    def __init__(self) -> None:
        self._variants: Counter[str] = Counter()

    def catches(self, url: URL) -> bool:
        parts = [part for part in url.path.split("/") if part]
        if len(str(url)) > _LONGEST or len(parts) > _DEEPEST or _repeats(parts):
            return True
        if url.query_string:
            self._variants[f"{_host(url)}{url.path}"] += 1
            return self._variants[f"{_host(url)}{url.path}"] > _MOST_QUERIES
        return False


def tidy(url: URL) -> URL:
    """One spelling of an address: no fragment, no session, no campaign, and `/` for the root."""
    kept = [
        (name, value)
        for name, value in url.query.items()
        if name.lower() not in _TRACKING and not name.lower().startswith("utm_")
    ]
    url = url.with_fragment(None).with_query(kept or None)
    return url if url.path else url.with_path("/")


def _host(url: URL) -> str:
    host = url.host or ""
    return host if url.port in (None, 80, 443) else f"{host}:{url.port}"


def _folder(url: URL) -> URL:
    return url.with_query(None).with_path(url.path.rpartition("/")[0] + "/")


def _is_below(url: URL, prefix: URL) -> bool:
    if _host(url) != _host(prefix):
        return False
    if prefix.path.endswith("/"):
        return url.path.startswith(prefix.path) or url.path == prefix.path.rstrip("/")
    return url.path == prefix.path or url.path.startswith(f"{prefix.path}/")


def _repeats(parts: Sequence[str]) -> bool:
    """A relative link that climbs into itself: /a/b/a/b/a/b."""
    return any(count > 3 for count in Counter(parts).values()) or any(
        parts[at] == parts[at + 1] == parts[at + 2] for at in range(len(parts) - 2)
    )
