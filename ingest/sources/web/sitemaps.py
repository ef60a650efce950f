"""What a site says about itself to crawlers: robots.txt (RFC 9309) and sitemaps (sitemaps.org)."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice

import lxml.etree
from protego import Protego
from yarl import URL

from ingest.sources.web.bounds import Bounds
from ingest.sources.web.client import (
    AGENT_NAME,
    MAX_BYTES,
    Refusal,
    WebClient,
    WebError,
    WebResponse,
    as_web_error,
)
from ingest.sources.web.hrefs import written_address, written_addresses

_ROBOTS_BYTES = 512_000
_MOST_SITEMAPS = 100
_USUAL = ("sitemap.xml", "sitemap_index.xml", "sitemap.txt")
"""Where sitemaps are that nothing names; the second and the third only where there is no first."""


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
        with as_web_error("its robots.txt cannot be understood"):
            self._rules[url.authority] = rules = Protego.parse(text)
            pause = rules.crawl_delay(AGENT_NAME)
        if pause:
            self._client.slow_down(url.host, pause)

    def allows(self, url: URL) -> bool:
        """Whether the rules, which must have been read if the host has any, allow an address."""
        rules = self._rules.get(url.authority)
        return rules is None or bool(rules.can_fetch(str(url), AGENT_NAME))

    def sitemaps(self, url: URL) -> list[URL]:
        return list(written_addresses(self._named(url)))

    def no_sitemaps(self, url: URL) -> list[str]:
        """Lists what robots.txt names as a sitemap though it is not an address."""
        return [name for name in self._named(url) if written_address(name) is None]

    def _named(self, url: URL) -> list[str]:
        rules = self._rules.get(url.authority)
        return list(rules.sitemaps) if rules else []


class Sitemaps:
    """Walks sitemaps and the indexes of them, no further than `bounds`.

    `failed`: sitemap -> why it could not be read, so that addresses may be missing; `named`: those of them
    that the site or the settings name. `cut`: why there may be more addresses than were read.
    """

    def __init__(
        self, client: WebClient, refusal: Refusal, spelled: Callable[[URL], URL], bounds: Bounds
    ) -> None:
        self._client = client
        self._refusal = refusal
        self._spelled = spelled
        self._bounds = bounds
        self.failed: dict[URL, str] = {}
        self.named: set[URL] = set()
        self.cut: str | None = None
        self._read_any = False

    async def addresses(self, named: Sequence[URL], origins: Sequence[URL]) -> list[URL]:
        """Lists addresses of the sitemaps that are named, and of those at the usual places of each origin."""
        found: dict[URL, None] = {}
        self.named.update(map(self._spelled, named))
        await self._walk([*named, *(origin / _USUAL[0] for origin in origins)], found)
        if not self._read_any:
            await self._walk([origin / name for origin in origins for name in _USUAL[1:]], found)
        return list(found)

    async def _walk(self, roots: Sequence[URL], found: dict[URL, None]) -> None:
        waiting = list(dict.fromkeys(map(self._spelled, roots)))
        seen = set(waiting)
        for _ in range(_MOST_SITEMAPS):
            if not waiting or self._is_enough(found):
                return
            for is_sitemap, url in await self._read(waiting.pop(0)):
                if self._is_enough(found):
                    return
                if not is_sitemap:
                    found[url] = None
                elif (sitemap := self._spelled(url)) not in seen and len(seen) <= _MOST_SITEMAPS:
                    seen.add(sitemap)
                    self.named.add(sitemap)
                    waiting.append(sitemap)
        if waiting:
            self.cut = f"only the first {_MOST_SITEMAPS} of its sitemaps were read"

    def _is_enough(self, found: Collection[URL]) -> bool:
        self.cut = self._bounds.reached(0) or self.cut
        if len(found) >= self._bounds.addresses:
            self.cut = (
                f"its sitemaps name more than {len(found)} addresses, of which no more were asked for: "
                f"raise max_pages"
            )
        return self.cut is not None

    async def _read(self, sitemap: URL) -> list[tuple[bool, URL]]:
        if self._refusal(sitemap) is not None:
            return []
        try:
            with as_web_error("the sitemap cannot be read"):
                answer = await self._client.get(sitemap, refusal=self._refusal)
                entries = await asyncio.to_thread(_read_entries, answer, self._bounds.addresses)
        except WebError as error:
            if not error.gone:
                self.failed[sitemap] = error.reason
            return []
        self._read_any = True
        return entries


def _read_entries(answer: WebResponse, most: int) -> list[tuple[bool, URL]]:
    return list(islice(_entries(_unpacked(answer.content), answer.url), most))


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


def _entries(content: bytes, base: URL) -> Iterator[tuple[bool, URL]]:
    """Yields (is it a sitemap, address) from XML sitemaps, their indexes, feeds, and plain lists of addresses."""
    content = content.removeprefix(b"\xef\xbb\xbf").strip()
    if content and content[:1] not in (b"<", b"\xff", b"\xfe"):
        yield from ((False, url) for line in _lines(content) if (url := _address(line, base)))
        return
    for kind, location in _locations(_xml(content)):
        url = _address(location, base)
        if url is not None:
            yield kind == "sitemap", url


def _lines(content: bytes) -> list[str]:
    """
    Raises:
        WebError: they are no addresses.
    """
    lines = [line.strip() for line in content.decode("utf-8", "replace").splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    if not lines or not all(line.startswith(("http://", "https://", "/")) for line in lines):
        raise WebError("it is no sitemap")
    return lines


def _xml(content: bytes) -> lxml.etree._Element:
    """Parses XML; entities stay unresolved, so that no XML bomb goes off."""
    parser = lxml.etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, recover=True)
    try:
        root = lxml.etree.fromstring(content, parser=parser)
    except lxml.etree.XMLSyntaxError as error:
        raise WebError("it is no XML") from error
    if root is None:
        raise WebError("it is no XML")
    return root


def _locations(root: lxml.etree._Element) -> Iterator[tuple[str, str]]:
    """Yields (the name of the element around an address, the address)."""
    for location in root.iter("{*}loc", "{*}link"):
        parent = location.getparent()
        kind = lxml.etree.QName(parent).localname if parent is not None else ""
        is_feed = lxml.etree.QName(location).localname == "link"
        if is_feed and kind in ("item", "entry") and location.get("rel", "alternate") == "alternate":
            yield kind, location.get("href") or location.text or ""
        elif not is_feed and kind in ("url", "sitemap"):  # `loc` is also used by image extensions
            yield kind, location.text or ""


def _address(written: str, base: URL) -> URL | None:
    return written_address(written, base) if written.strip() else None
