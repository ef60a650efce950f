"""Opens cited pages in the playground's page viewer: pages without an address of their own.

A page that everyone may read opens for everyone on this machine. A limited one opens only by the key in the link that
its citation carries, so that the viewer shows it to nobody whom the bot would not have shown it.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import quote

from ingest.errors import PageError
from ingest.parsers.markdown import parse_markdown
from kb.source_settings import FolderSettings

KEY_MARK = "~"
SUFFIXES = frozenset({".md", ".markdown", ".mdx", ".erb"})


class PageViewer:
    """Reads pages of `sources`, and nothing outside of them. The keys last as long as this process."""

    def __init__(self, sources: Callable[[], Sequence[FolderSettings]]) -> None:
        self._sources = sources
        self._secret = secrets.token_bytes(32)

    def address(self, path: str) -> str:
        """Where `read` finds a page, relative to the viewer: with the key that opens it."""
        return f"{KEY_MARK}{self._key(path)}/{quote(path)}"

    async def read(self, address: str) -> str | None:
        """The Markdown of a page; None where there is none, or none that this address opens."""
        key, path = "", address
        if address.startswith(KEY_MARK):
            key, _, path = address.removeprefix(KEY_MARK).partition("/")
        return await asyncio.to_thread(self._read, path, hmac.compare_digest(key, self._key(path)))

    def _read(self, path: str, opened: bool) -> str | None:
        for source in self._sources():
            root = source.path.expanduser().resolve()
            page = (root / path).resolve()
            if not (page.is_relative_to(root) and page.suffix in SUFFIXES and page.is_file()):
                continue
            return page.read_text("utf-8", "replace") if opened or _is_public(page, source) else None
        return None

    def _key(self, path: str) -> str:
        return hmac.new(self._secret, path.encode(), hashlib.sha256).hexdigest()[:24]


def _is_public(page: Path, source: FolderSettings) -> bool:
    try:
        return (
            not source.audience and parse_markdown(page.read_bytes(), path=page.name).front.audience is None
        )
    except PageError:
        return False
