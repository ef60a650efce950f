"""What makes no difference to a page: where its links lead, and some parts of a query."""

from __future__ import annotations

import re
from collections import Counter

from yarl import URL

from ingest.sources.port import fingerprint

_REFERRERS = frozenset({
    "ref", "ref_src", "ref_url", "referrer", "referer", "source", "src", "from", "via", "origin", "share", "trk",
})  # fmt: skip
"""Names by which links tell where they stand. Of others each value is judged by itself: `lang=nl` is not `lang=en`."""
_PROOFS = 3
"""Pages on which a query made no difference, before it is believed to make none."""
_TARGET = re.compile(r"\]\([^)\s]*(?:\s+\"[^\"]*\")?\)|\{#[^}]*\}")


def text_mark(content: bytes) -> str:
    """Returns what is equal for two pages whose words are the same, wherever their relative links lead."""
    words = " ".join(_TARGET.sub("]", content.decode("utf-8", "replace")).split())
    return fingerprint((words.encode(),))


class Queries:
    """Learns during a visit which parts of queries (`ref=nav`) change nothing on the pages of this site."""

    def __init__(self) -> None:
        self._texts: dict[URL, str] = {}
        self._proofs: Counter[str] = Counter()
        self._matters: set[str] = set()

    def saw(self, url: URL, text: str) -> None:
        """Counts what the page that was read proves about parts of its query; `text` is the page's fingerprint."""
        self._texts[url] = text
        for name, value in url.query.items():
            plain = self._texts.get(_without(url, name))
            if plain == text:
                self._proofs[_part(name, value)] += 1
            elif plain is not None:
                self._matters.add(_part(name, value))

    def plain(self, url: URL) -> URL:
        """Returns the address without what makes no difference."""
        for name, value in list(url.query.items()):
            part = _part(name, value)
            if self._proofs[part] >= _PROOFS and part not in self._matters:
                url = _without(url, name)
        return url


def _part(name: str, value: str) -> str:
    return name if name.lower() in _REFERRERS else f"{name}={value}"


def _without(url: URL, name: str) -> URL:
    return url.with_query([(key, value) for key, value in url.query.items() if key != name] or None)
