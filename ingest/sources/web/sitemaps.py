"""What a site says about itself to crawlers: robots.txt (RFC 9309) and sitemaps (sitemaps.org)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import lxml.etree
from protego import Protego
from yarl import URL

from ingest.sources.web.client import AGENT_NAME, MAX_BYTES, Refusal, WebClient, WebError

_ROBOTS_BYTES = 512_000
_MOST_SITEMAPS = 100
_MOST_ADDRESSES = 200_000


class Robots:
    """The robots.txt of each host, read once."""

    def __init__(self, client: WebClient, foreign: Refusal) -> None:
        self._client = client
        self._foreign = foreign
        self._rules: dict[str | None, Protego] = {}

    async def read(self, url: URL) -> None:
        """Reads the rules of an address's host.

        Raises:
            WebError: they cannot be read now; a site in that state is not to be crawled.
        """
        if url.authority in self._rules:
            return
        try:
            answer = await self._client.get(
                url.origin() / "robots.txt", refusal=self._foreign, max_bytes=_ROBOTS_BYTES
            )
            text = answer.content.decode("utf-8", "replace")
        except WebError as error:
            if not (error.gone or error.private):
                raise WebError(f"its robots.txt cannot be read: {error.reason}") from error
            text = ""  # no robots.txt: everything is allowed
        self._rules[url.authority] = rules = Protego.parse(text)
        pause = rules.crawl_delay(AGENT_NAME)
        if pause:
            self._client.slow_down(url.host, pause)

    def allows(self, url: URL) -> bool:
        """Whether the rules, which must have been read if the host has any, allow an address."""
        rules = self._rules.get(url.authority)
        return rules is None or bool(rules.can_fetch(str(url), AGENT_NAME))

    def sitemaps(self, url: URL) -> list[URL]:
        rules = self._rules.get(url.authority)
        return [URL(one) for one in rules.sitemaps] if rules else []


class Sitemaps:
    """Walks sitemaps and the indexes of them. `failed`: one could not be read, so that addresses may be missing."""

    def __init__(self, client: WebClient, refusal: Refusal) -> None:
        self._client = client
        self._refusal = refusal
        self.failed: list[str] = []

    async def addresses(self, roots: list[URL]) -> list[URL]:
        waiting, seen, found = list(roots), set(roots), dict[URL, None]()
        for _ in range(_MOST_SITEMAPS):
            if not waiting or len(found) > _MOST_ADDRESSES:
                break
            sitemap = waiting.pop(0)
            for is_sitemap, url in await self._read(sitemap):
                if not is_sitemap:
                    found[url] = None
                elif url not in seen:
                    seen.add(url)
                    waiting.append(url)
        return list(found)

    async def _read(self, sitemap: URL) -> list[tuple[bool, URL]]:
        if self._refusal(sitemap) is not None:
            return []
        try:
            answer = await self._client.get(sitemap, refusal=self._refusal)
            return list(_entries(_unpacked(answer.content)))
        except WebError as error:
            if not error.gone:
                self.failed.append(f"{sitemap}: {error.reason}")
            return []


def _unpacked(content: bytes) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    unpacker = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacker.decompress(content, 10 * MAX_BYTES)
    except zlib.error as error:
        raise WebError("it is a broken gzip file") from error
    if unpacker.unconsumed_tail:
        raise WebError("it is too large when unpacked")
    return unpacked


def _entries(content: bytes) -> Iterator[tuple[bool, URL]]:
    """(is it a sitemap, address). Entities stay unresolved, so that no XML bomb goes off."""
    parser = lxml.etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, recover=True)
    try:
        root = lxml.etree.fromstring(content, parser=parser)
    except lxml.etree.XMLSyntaxError as error:
        raise WebError("it is no XML") from error
    if root is None:
        raise WebError("it is no XML")
    for location in root.iter("{*}loc"):
        parent = lxml.etree.QName(location.getparent()).localname
        if parent not in ("url", "sitemap") or not location.text:  # `loc` is also used by image extensions
            continue
        try:
            url = URL(location.text.strip())
        except ValueError:
            continue
        if url.host:
            yield parent == "sitemap", url
