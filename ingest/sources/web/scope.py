"""Which addresses belong to a website source, under which path each is known, and which look like a crawler's trap."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from urllib.parse import unquote

from yarl import URL

from ingest.sources.globs import globs
from kb.config.sources import WebsiteSettings

_TRACKING = frozenset({
    "gclid", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "twclid", "igshid", "mc_cid", "mc_eid", "_ga", "_gl",
    "_hsenc", "_hsmi", "mkt_tok", "phpsessid", "jsessionid", "sid", "replytocom",
})  # fmt: skip
_CAMPAIGNS = ("utm_", "pk_", "mtm_", "hsa_")
_SESSION = re.compile(r"(?i);(?:jsessionid|phpsessid|sid)=[^/;]*")
_INDEX = re.compile(r"/(?:index|default|home)(?:\.(?:html?|xhtml|php|aspx?|jsp))?$")
_ENDING = re.compile(r"\.(?:html?|xhtml|php|aspx?|jsp)$")
_LOGIN = frozenset({
    "login", "log-in", "signin", "sign-in", "sign_in", "logon", "sso", "saml", "saml2", "oauth", "oauth2", "oidc", "auth",
    "authorize", "authenticate", "idp", "accounts", "okta", "wp-login", "users-sign_in", "aanmelden", "inloggen", "anmelden",
    "connexion",
})  # fmt: skip
_NO_PAGES = (
    ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico", ".css", ".js", ".json", ".xml", ".zip", ".gz", ".tgz",
    ".exe", ".dmg", ".mp3", ".mp4", ".webm", ".woff", ".woff2", ".ttf",
)  # fmt: skip
_DEEPEST = 15
_LONGEST = 1_000
_MOST_QUERIES = 50
"""Variants of one path by its query. Calendars and filters make endless ones."""


class Scope:
    """What the settings name, and where the start addresses lead when they are asked (`leads`)."""

    def __init__(self, settings: WebsiteSettings) -> None:
        self.starts = tuple(tidy(URL(str(url))) for url in settings.start)
        self._named = bool(settings.prefixes)
        self._prefixes = [URL(str(url)) for url in settings.prefixes] or [*map(_folder, self.starts)]
        self._pages: set[URL] = set()
        """Pages of their own outside the prefixes: where a start leads."""
        self._schemes = {_host(url): url.scheme for url in (*self._prefixes, *self.starts)}
        self._aliases: dict[str, URL] = {}
        """Host -> an address of the host that is asked in its place."""
        self._exclude = globs(settings.exclude)

    @property
    def origins(self) -> tuple[URL, ...]:
        known = (*self.starts, *self._prefixes, *self._pages)
        return tuple(dict.fromkeys(self.spelled(url).origin() for url in known))

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(self._schemes)

    def may_lead(self, start: URL, target: URL) -> bool:
        """Whether a start address may lead there: to its own host, with or without www, or to one below or above it."""
        if target.scheme not in ("http", "https") or target.user is not None or target.password is not None:
            return False
        if start.explicit_port != target.explicit_port:
            return False
        host, other = _bare(start), _bare(target)
        return host == other or ("." in other and host.endswith(f".{other}")) or other.endswith(f".{host}")

    def leads(self, start: URL, target: URL) -> None:
        """Notes that a start leads to `target`: the site is there, under this scheme and host."""
        before, host = _host(start), _host(target)
        self._schemes[host] = target.scheme
        self._aliases.pop(host, None)
        if before != host and _bare(start) == _bare(target):
            self._aliases[before] = target.origin()
        if self._named:
            return
        target = tidy(target)
        folder, own = _folder(target), _folder(start)
        if target.path == f"{start.path}/":  # /handbook was meant as the folder that it is
            self._prefixes = [folder if prefix == own else prefix for prefix in self._prefixes]
        if any(_is_below(target, self.spelled(prefix)) for prefix in self._prefixes):
            return
        if own.path != "/" and own.path.startswith(folder.path):
            # a page above the start: its links are followed, its neighbours are not part of the source
            self._pages.add(target)
            self._prefixes.append(target.with_path(own.path).with_query(None))
        else:
            self._prefixes.append(folder)

    def spelled(self, url: URL) -> URL:
        """Normalizes an address like `tidy`, and gives it the scheme and host that the site itself uses."""
        url = tidy(url)
        host = _host(url)
        proper = self._aliases.get(host) or self._twin(host, url)
        if proper is not None:
            url = url.with_scheme(proper.scheme).with_host(proper.host or "").with_port(proper.explicit_port)
        elif host in self._schemes and url.is_default_port() and url.scheme in ("http", "https"):
            url = url.with_port(None).with_scheme(self._schemes[host])
        return url

    def _twin(self, host: str, url: URL) -> URL | None:
        """Returns the origin of a known host that differs from an unknown one by its www alone."""
        if host in self._schemes or url.scheme not in ("http", "https"):
            return None
        twin = host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"
        return URL(f"{self._schemes[twin]}://{twin}") if twin in self._schemes else None

    def foreign(self, url: URL) -> str | None:
        """Tells why an address may not even be asked for; None: it may. A redirect within the hosts may leave the prefixes."""
        if url.scheme not in ("http", "https"):
            return "it is no web address"
        if url.user is not None or url.password is not None:
            return "it carries a password"
        if _host(url) not in self._schemes and self._twin(_host(url), url) is None:
            return "that is not one of this source's hosts"
        return None

    def holds(self, url: URL) -> bool:
        """Whether an address is a page of this source."""
        url = self.spelled(url)
        return (
            self.foreign(url) is None
            and not url.path.lower().endswith(_NO_PAGES)
            and (url in self._pages or any(_is_below(url, self.spelled(prefix)) for prefix in self._prefixes))
            and not self._exclude.match_file(url.path.lstrip("/") or "index")
        )

    def path_of(self, url: URL) -> str:
        """Returns host/folder/page, where a folder's own page is its `index`."""
        path = url.raw_path if url.raw_path not in ("", "/") else "/"
        query = f"?{url.raw_query_string}" if url.raw_query_string else ""
        return f"{_host(url)}{path}{'index' if path.endswith('/') else ''}{query}"

    def url_of(self, path: str) -> str:
        host, slash, rest = path.partition("/")
        address, mark, query = rest.partition("?")
        if address == "index" or address.endswith("/index"):
            address = address.removesuffix("index")
        scheme = self._schemes.get(host) or self.starts[0].scheme
        return f"{scheme}://{host}{slash}{address}{mark}{query}"


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
    """Normalizes an address: no fragment, no session, no campaign, and `/` for the root."""
    kept = [
        (name, value)
        for name, value in url.query.items()
        if name.lower() not in _TRACKING and not name.lower().startswith(_CAMPAIGNS)
    ]
    url = url.with_fragment(None).with_query(kept or None)
    path = _SESSION.sub("", url.raw_path)
    if path != url.raw_path:
        url = url.with_path(path, encoded=True, keep_query=True)
    if url.host and url.host.endswith("."):
        url = url.with_host(url.host.rstrip("."))
    return url if url.path else url.with_path("/")


def spelling(path: str) -> str:
    """Returns what all spellings of a page's path share: without case, final `/`, `index.html`, `.html` and query."""
    plain = re.sub(r"/+", "/", unquote(path.partition("?")[0])).casefold().rstrip("/")
    return _ENDING.sub("", _INDEX.sub("", plain))


def names_a_login(url: URL) -> bool:
    """Whether an address reads like a page that asks visitors who they are, or like one about that."""
    words = {*(url.host or "").casefold().split("."), *re.split(r"[/.]", url.path.casefold())}
    return not words.isdisjoint(_LOGIN)


def _host(url: URL) -> str:
    host = url.host or ""
    return host if url.explicit_port is None or url.is_default_port() else f"{host}:{url.port}"


def _bare(url: URL) -> str:
    return (url.host or "").removeprefix("www.")


def _folder(url: URL) -> URL:
    return url.with_query(None).with_path(url.path.rpartition("/")[0] + "/")


def _is_below(url: URL, prefix: URL) -> bool:
    if _host(url) != _host(prefix):
        return False
    if prefix.path.endswith("/"):
        return url.path.startswith(prefix.path) or url.path == prefix.path.rstrip("/")
    return url.path == prefix.path or url.path.startswith(f"{prefix.path}/")


def _repeats(parts: Sequence[str]) -> bool:
    """Whether a path comes of a relative link that descends into itself: /a/b/a/b/a/b."""
    return any(count > 3 for count in Counter(parts).values()) or any(
        len(set(parts[start : start + 3])) == 1 for start in range(len(parts) - 2)
    )
