"""Takes a page out by hand: written down first, so that no sync puts it back, then deleted from the live index."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from urllib.parse import unquote

from ingest.errors import ForgetRefusedError
from ingest.origin import source_and_path
from kb.addresses import split_address
from kb.index.port import PageAddress, VectorIndex
from kb.store.forgotten import ForgottenPages

logger = logging.getLogger(__name__)

_NUMBER = re.compile(r"/pages/(?:viewpage\.action\?(?:[^#]*&)?pageId=)?(\d+)(?![^/?#&])")
"""Confluence's."""
_ID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}(?=[?#]|$)", re.IGNORECASE)
"""Notion's, at the end of any of its hosts' paths."""


async def forget_page(address: str, *, index: VectorIndex, forgotten: ForgottenPages) -> list[PageAddress]:
    """Takes out and returns the pages at `address` (a URL, a path or a page id).

    Raises:
        ForgetRefusedError: the address is a path that several sources have.
        UnavailableError: the index or the store does not answer.
    """
    pages = pages_at(address, await index.addresses())
    page_ids = [page.page_id for page in pages]
    await forgotten.add(page_ids)
    await index.delete_pages(page_ids)
    logger.info("pages.forgotten", extra={"pages": len(page_ids)})
    return pages


async def remember_page(address: str, *, forgotten: ForgottenPages) -> list[str]:
    """Lets the next sync index the forgotten pages of this path or page id again; returns their ids."""
    wanted = _cleaned(address)
    page_ids = [page for page in await forgotten.ids() if wanted in (page, source_and_path(page)[1])]
    await forgotten.discard(page_ids)
    return page_ids


def pages_at(address: str, pages: Sequence[PageAddress]) -> list[PageAddress]:
    """Returns the page with this id, else those with this URL or that a browser shows there, else the one of this path.

    Raises:
        ForgetRefusedError: several pages have the path.
    """
    written = _cleaned(address)
    wanted = _comparable(written)
    by_id = [page for page in pages if page.page_id == written]
    found = by_id or [
        page for page in pages if split_address(page.url).scheme and _comparable(page.url) == wanted
    ]
    found = found or _shown_at(written, pages)
    if found:
        return found
    by_path = [page for page in pages if source_and_path(page.page_id)[1] == written]
    if len(by_path) > 1:
        listed = ", ".join(page.page_id for page in by_path)
        raise ForgetRefusedError(f"{written} is the path of several pages; name one: {listed}")
    return by_path


def _shown_at(address: str, pages: Sequence[PageAddress]) -> list[PageAddress]:
    """Finds pages by the id in an address, with which Confluence and Notion find a page under any title;
    else, where that names one page, without what sites and campaigns add behind the `?`.
    """
    if not split_address(address).scheme:
        return []
    host = split_address(address).netloc.lower()
    if named := _ID.search(address):
        wanted = named[0].replace("-", "").lower()
        return [page for page in pages if _last_part(page) == wanted]
    numbered = _NUMBER.search(address)
    found = [
        page
        for page in pages
        if numbered and _last_part(page) == numbered[1] and split_address(page.url).netloc.lower() == host
    ]
    bare = [page for page in pages if not split_address(page.url).query and _bare(page.url) == _bare(address)]
    return found or (bare if len(bare) == 1 else [])


def _last_part(page: PageAddress) -> str:
    return source_and_path(page.page_id)[1].rpartition("/")[2]


def _bare(url: str) -> tuple[str, str]:
    parts = split_address(url)
    return parts.netloc.lower(), unquote(parts.path).removesuffix("index.html").rstrip("/")


def _cleaned(address: str) -> str:
    """Reads an address as Slack writes links: <https://kb.example/page|kb.example/page>."""
    return address.strip().removeprefix("<").removesuffix(">").partition("|")[0].strip()


def _comparable(url: str) -> str:
    """Drops the fragment and a last slash: a reader copies the link of a section."""
    parts = split_address(url)
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}{unquote(parts.path).rstrip('/')}{query}"
