"""Opens cited pages in the playground's page viewer: pages without an address of their own.

A page that everyone may read opens for everyone on this machine. A limited one opens only by the key in the link that
its citation carries, so that the viewer shows it to nobody whom the bot would not have shown it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Sequence
from urllib.parse import quote

from bot.playground.kb_pages import ShownPage, ShownSection
from ingest.errors import PageError
from ingest.page import ParsedPage
from ingest.parsers.formats import kind_of
from ingest.parsers.reader import Reader
from ingest.sources.folder import FolderSource
from ingest.sources.port import PageRef
from kb.config.sources import FolderSettings

KEY_MARK = "~"
MARKDOWN = frozenset({"md", "markdown", "mdx", "erb"})


class PageViewer:
    """Reads pages that `sources` list, and nothing else. The keys last as long as this process."""

    def __init__(self, sources: Callable[[], Sequence[FolderSettings]], reader: Reader) -> None:
        self._sources = sources
        self._reader = reader
        self._secret = secrets.token_bytes(32)

    def address(self, path: str) -> str:
        """Returns the address at which `read` finds a page, relative to the viewer, with the key that opens it."""
        return f"{KEY_MARK}{self._key(path)}/{quote(path)}"

    async def read(self, address: str) -> str | ShownPage | None:
        """Returns a page's Markdown, or the text read from another format; None if there is no such page, or it is
        restricted and the address has no valid key.
        """
        key, path = "", address
        if address.startswith(KEY_MARK):
            key, _, path = address.removeprefix(KEY_MARK).partition("/")
        opened = hmac.compare_digest(key, self._key(path))
        for settings in self._sources():
            source = FolderSource(settings.model_copy(update={"git_dates": False}))
            if source.lists(path):
                try:
                    content = (await source.fetch(PageRef(path=path, revision=None))).content
                except PageError:  # not in this folder: perhaps in the next
                    continue
                return await self._shown(path, content, opened=opened, limited=bool(settings.audience))
        return None

    async def _shown(
        self, path: str, content: bytes, *, opened: bool, limited: bool
    ) -> str | ShownPage | None:
        try:
            page = await self._reader.read(content, path=path)
        except PageError:
            return None  # it is not indexed either, and nobody knows for whom it is
        if not opened and (limited or page.front.audience is not None):
            return None
        return content.decode("utf-8", "replace") if kind_of(path) in MARKDOWN else _as_read(page)

    def _key(self, path: str) -> str:
        return hmac.new(self._secret, path.encode(), hashlib.sha256).hexdigest()[:24]


def _as_read(page: ParsedPage) -> ShownPage:
    """Returns the page as it was indexed; each heading is shown once, above its first section."""
    sections = []
    before: tuple[str, ...] = ()
    for section in page.sections:
        shared = 0
        while shared < min(len(before), len(section.path)) and before[shared] == section.path[shared]:
            shared += 1
        sections.append(
            ShownSection(
                anchor=section.anchor,
                headings=tuple(
                    (depth + 2, section.path[depth]) for depth in range(shared, len(section.path))
                ),
                markdown="\n\n".join(block.text for block in section.blocks),
            )
        )
        before = section.path
    return ShownPage(title=page.title, sections=tuple(sections))
