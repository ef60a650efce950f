"""One page under many addresses: which of the pages that were read are one, and which queries make no difference."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from yarl import URL

from ingest.sources.port import fingerprint
from ingest.sources.web.scope import spelling

_REFERRERS = frozenset(
    {
        "ref",
        "ref_src",
        "ref_url",
        "referrer",
        "referer",
        "source",
        "src",
        "from",
        "via",
        "origin",
        "share",
        "trk",
    }
)
"""Names by which links tell where they stand. Of others each value is judged by itself: `lang=nl` is not `lang=en`."""
_PROOFS = 3
"""Pages on which a query made no difference, before it is believed to make none."""
_TARGET = re.compile(r"\]\([^)\s]*(?:\s+\"[^\"]*\")?\)|\{#[^}]*\}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A page that was read. `text`: a mark of its words, without where its links lead."""

    address: str
    path: str
    revision: str
    size: int
    text: str
    canonical: str | None
    """The path of the address that it calls its proper one, where that is another of this source."""


def text_mark(content: bytes) -> str:
    """Equal for two pages whose words are the same, wherever their relative links lead."""
    words = " ".join(_TARGET.sub("]", content.decode("utf-8", "replace")).split())
    return fingerprint((words.encode(),))


def merged(pages: Mapping[str, Found], is_about: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Path -> the path of the page that it is: for those that are another page in another spelling.

    `is_about`: (path, proper path) of pages that name another as their proper address and say about the same.
    """
    proper = {path: named for path, named in is_about if named in pages and pages[named].canonical is None}
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path, found in pages.items():
        if path not in proper:
            alike[spelling(path), found.text].append(path)
    same = {path: min(paths, key=_plainness) for paths in alike.values() for path in paths}
    gone = {path: one for path, one in same.items() if path != one}
    return gone | {path: gone.get(named, named) for path, named in proper.items()}


def _plainness(path: str) -> tuple[bool, int, bool, str]:
    return "?" in path, len(path), path != path.casefold(), path


class Queries:
    """Learns during a visit which parts of queries (`ref=nav`) change nothing on the pages of this site."""

    def __init__(self) -> None:
        self._texts: dict[URL, str] = {}
        self._proofs: Counter[str] = Counter()
        self._matters: set[str] = set()

    def saw(self, url: URL, text: str) -> None:
        """A page was read; `text`: its mark."""
        self._texts[url] = text
        for name, value in url.query.items():
            plain = self._texts.get(_without(url, name))
            if plain == text:
                self._proofs[_part(name, value)] += 1
            elif plain is not None:
                self._matters.add(_part(name, value))

    def plain(self, url: URL) -> URL:
        """The address without what makes no difference."""
        for name, value in list(url.query.items()):
            part = _part(name, value)
            if self._proofs[part] >= _PROOFS and part not in self._matters:
                url = _without(url, name)
        return url


def _part(name: str, value: str) -> str:
    return name if name.lower() in _REFERRERS else f"{name}={value}"


def _without(url: URL, name: str) -> URL:
    return url.with_query([(one, value) for one, value in url.query.items() if one != name] or None)
