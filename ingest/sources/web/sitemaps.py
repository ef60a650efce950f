"""What a site says about itself to crawlers: robots.txt (RFC 9309) and sitemaps (sitemaps.org)."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence

import lxml.etree
from protego import Protego
from yarl import URL

from ingest.sources.web.client import AGENT_NAME, MAX_BYTES, Refusal, WebClient, WebError

_ROBOTS_BYTES = 512_000
_MOST_SITEMAPS = 100
_MOST_ADDRESSES = 200_000
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

    def __init__(self, client: WebClient, refusal: Refusal, spelled: Callable[[URL], URL]) -> None:
        self._client = client
        self._refusal = refusal
        self._spelled = spelled
        self.failed: list[str] = []
        self._read_any = False

    async def addresses(self, named: Sequence[URL], origins: Sequence[URL]) -> list[URL]:
        """Of the sitemaps that are named, and of those at the usual places of each origin."""
        found: dict[URL, None] = {}
        await self._walk([*named, *(origin / _USUAL[0] for origin in origins)], found)
        if not self._read_any:
            await self._walk([origin / name for origin in origins for name in _USUAL[1:]], found)
        return list(found)

    async def _walk(self, roots: Sequence[URL], found: dict[URL, None]) -> None:
        waiting = list(dict.fromkeys(map(self._spelled, roots)))
        seen = set(waiting)
        for _ in range(_MOST_SITEMAPS):
            if not waiting or len(found) > _MOST_ADDRESSES:
                break
            for is_sitemap, url in await self._read(waiting.pop(0)):
                if not is_sitemap:
                    found[url] = None
                elif (sitemap := self._spelled(url)) not in seen:
                    seen.add(sitemap)
                    waiting.append(sitemap)

    async def _read(self, sitemap: URL) -> list[tuple[bool, URL]]:
        if self._refusal(sitemap) is not None:
            return []
        try:
            answer = await self._client.get(sitemap, refusal=self._refusal)
            entries = list(_entries(_unpacked(answer.content), answer.url))
        except WebError as error:
            if not error.gone:
                self.failed.append(f"{sitemap}: {error.reason}")
            return []
        self._read_any = True
        return entries


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
    """(is it a sitemap, address): of XML sitemaps and indexes of them, of feeds, and of plain lists of addresses."""
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
    """Entities stay unresolved, so that no XML bomb goes off."""
    parser = lxml.etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, recover=True)
    try:
        root = lxml.etree.fromstring(content, parser=parser)
    except lxml.etree.XMLSyntaxError as error:
        raise WebError("it is no XML") from error
    if root is None:
        raise WebError("it is no XML")
    return root


def _locations(root: lxml.etree._Element) -> Iterator[tuple[str, str]]:
    """(the element that an address stands in, the address)."""
    for location in root.iter("{*}loc", "{*}link"):
        parent = location.getparent()
        kind = lxml.etree.QName(parent).localname if parent is not None else ""
        is_feed = lxml.etree.QName(location).localname == "link"
        if is_feed and kind in ("item", "entry") and location.get("rel", "alternate") == "alternate":
            yield kind, location.get("href") or location.text or ""
        elif not is_feed and kind in ("url", "sitemap"):  # `loc` is also used by image extensions
            yield kind, location.text or ""


def _address(written: str, base: URL) -> URL | None:
    try:
        url = base.join(URL(written.strip())) if written.strip() else None
    except ValueError:
        return None
    return url if url is not None and url.host else None
