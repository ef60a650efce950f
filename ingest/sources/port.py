"""The port to where pages live. One file a connector; all of them pass `tests/contract/test_sources.py`.

A source lists and reads. It neither chunks nor knows what the index holds. Where
a page is a file, its bytes are handed on as they are; where it is a tree of a
vendor's own (Confluence, Notion, Slack), the source writes it down as Markdown.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from datetime import date
from hashlib import blake2b
from typing import Generic, Protocol, TypeVar

from kb.config.sources import CommonSettings
from kb.models import EVERYONE

S = TypeVar("S", bound=CommonSettings)


@dataclass(frozen=True, kw_only=True, slots=True)
class PageRef:
    """A page that a source lists. `path` is relative to the source, with forward slashes, and stable over edits.

    A path that ends with a slash is a part of the source that could not be listed, or not to its end: nothing
    under it counts as deleted, and `fetch` says why. `revision` changes whenever the page should be indexed
    anew; None: it cannot be told, and `fetch` says why. `size` (bytes) weighs the page in the estimate of the
    time left. `title`: where it is known and the path is a mere id.
    """

    path: str
    revision: str | None
    size: int = 0
    title: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RawPage:
    """A page as it was read. `revision` belongs to this very content, which may be newer than the listing's.

    `edited`: the day of the last edit as far as the source knows it for sure; `arrived`: it is merely the day
    on which the page came into the source. `media_type` ("text/html") chooses the parser; None: the ending of
    `path` does. `audience`: channel marks of a page that its place limits (a restricted page, a private
    channel); None: no limit of its own. What the page's own front matter says goes before `owner` and
    `edited`, and can only narrow `audience`. `notes`: what of the page could not be read, as the report of
    the sync says it. `parents`: what it stands in, outermost first, by the names that people see; empty:
    `path` says so. `file_name`: with it a page without a title is called, where `path` has a mere id; it ends
    as `path` does.
    """

    path: str
    revision: str
    content: bytes
    url: str
    edited: date | None = None
    arrived: bool = False
    media_type: str | None = None
    owner: str | None = None
    audience: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    file_name: str | None = None


class Source(Protocol):
    @property
    def name(self) -> str:
        """Unique among the sources, stable: the page ids start with it."""

    @property
    def audience(self) -> tuple[str, ...]:
        """Who may read the pages that set no limit of their own: channel marks, or only `EVERYONE`."""

    def discover(self) -> AsyncIterator[PageRef]:
        """Lists every page, in no particular order.

        Raises:
            SourceUnavailableError: the source cannot be listed. An empty source lists nothing instead.
        """

    async def fetch(self, ref: PageRef) -> RawPage:
        """Reads a page. Needs no listing before it: another process may have made that.

        Raises:
            PageError: it cannot be read, with a reason that a person understands.
        """

    def url_of(self, path: str) -> str:
        """Returns where a reader opens the page at `path`."""

    def withdraws(self, path: str) -> bool:
        """Whether a page that the last listing lacks was left out on purpose (its readers were limited, the settings
        exclude it): then it is deleted, however many go with it. False: it is merely not there.
        """

    async def close(self) -> None:
        """Closes its connections. The source may be used again."""


class ConfiguredSource(Generic[S]):
    """What every source has from its settings alone."""

    def __init__(self, settings: S) -> None:
        self._settings = settings

    @property
    def name(self) -> str:
        return self._settings.name

    @property
    def audience(self) -> tuple[str, ...]:
        return audience_marks(self._settings.audience)

    def withdraws(self, path: str) -> bool:  # noqa: ARG002 - a source that cannot tell says so of every page
        return False


def fingerprint(parts: Iterable[bytes]) -> str:
    """Hashes parts that cannot run into each other."""
    digest = blake2b(digest_size=12)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


def readers_among(channels: Iterable[str]) -> tuple[str, ...] | None:
    """Returns the readers that a table of the settings names: channels, or nobody. None: "everyone" is among them."""
    named = set(channels)
    return None if {"everyone", EVERYONE} & named else tuple(sorted(named))


def audience_marks(channels: Iterable[str]) -> tuple[str, ...]:
    """Returns a source's channels as principals; none: everyone."""
    return tuple(sorted(set(channels))) or (EVERYONE,)
