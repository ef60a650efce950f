"""GitHub as a source. A page's path is its repository, as the settings name it, and a number or the file of a wiki.

A repository that is not public is closed: its pages are for the channels
that `readers` names for it, or are not indexed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from pathlib import Path

from ingest.errors import PageError, SourceUnavailableError
from ingest.sources.api_responses import ApiError, parsed
from ingest.sources.github.connection import Connection
from ingest.sources.github.discussions import DiscussionHead, Discussions
from ingest.sources.github.issues import Issue, Issues
from ingest.sources.github.repositories import (
    CLOSED,
    UNSEEN,
    Found,
    Repository,
    advice,
    audience_of,
    channels_of,
)
from ingest.sources.github.threads import page_of
from ingest.sources.github.wiki import Wiki, web_address
from ingest.sources.json_api import Sleep
from ingest.sources.port import ConfiguredSource, PageRef, RawPage, fingerprint
from kb.config.sources import GithubSettings

logger = logging.getLogger(__name__)

_CONVERTER = "1"
"""Raise when threads become other Markdown than before: then every page is read anew."""
_MEDIA_TYPE = "text/markdown; variant=plain"
"""GitHub runs no template over what people write there."""
_GONE = (301, 404, 410)


class GithubSource(ConfiguredSource[GithubSettings]):
    """`folder`: where clones of wikis are kept. `clock`: seconds since 1970."""

    def __init__(
        self,
        settings: GithubSettings,
        folder: Path,
        *,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(settings)
        self._folder = folder
        self._connection = Connection(settings, sleep=sleep, clock=clock)
        self._found: dict[str, Found] = {}
        self._wikis: dict[str, Wiki] = {}
        self._unlisted: dict[str, str] = {}
        """Part that could not be listed -> why."""
        self._closed: dict[str, str] = {}
        """Repository whose pages must not be in the index -> why."""

    def url_of(self, path: str) -> str:
        name, kind, rest = _parts(path)
        if kind == "wiki" and rest:
            return self._wiki(name).url_of(rest)
        return f"{web_address(self._settings)}/{path.rstrip('/')}"

    def withdraws(self, path: str) -> bool:
        name, kind, _ = _parts(path)
        return name in self._closed or name not in self._settings.repositories or not self._reads(kind)

    async def discover(self) -> AsyncIterator[PageRef]:
        self._found, self._unlisted, self._closed = {}, {}, {}
        refs: list[PageRef] = []
        listed = 0
        for name in self._settings.repositories:
            found = await self._listable(name)
            if found is None:
                continue
            for kind, part in self._parts_of(found):
                try:
                    refs += [ref async for ref in part]
                    listed += 1
                except ApiError as error:
                    self._unlisted[f"{name}/{kind}/"] = (
                        f"it cannot be listed: {advice(self._settings, error, kind)}"
                    )
        if self._unlisted and not listed and not self._closed:
            raise SourceUnavailableError(f"source {self.name!r}: {next(iter(self._unlisted.values()))}")
        for ref in refs:
            yield ref
        for path in (*self._unlisted, *self._closed):
            yield PageRef(path=path, revision=None)

    async def fetch(self, ref: PageRef) -> RawPage:
        name, kind, rest = _parts(ref.path)
        if reason := self._unlisted.get(ref.path) or self._closed.get(name):
            raise PageError(reason, withdraw=name in self._closed)
        if name not in self._settings.repositories or not rest:
            raise PageError("the settings name no such repository, or nothing like it is read of one")
        try:
            found = await self._repository(name)
            if found.audience == ():
                raise PageError(CLOSED, withdraw=True)
            match kind:
                case "issues" | "discussions" if rest.isdecimal():
                    return await self._thread(found, kind, int(rest))
                case "wiki":
                    return self._wiki_page(found, await self._wiki(name).page(rest))
        except ApiError as error:
            gone = error.status in _GONE
            reason = "it is gone, was moved, or may not be read any more" if gone else str(error)
            raise PageError(reason, withdraw=gone) from error
        raise PageError("there is no page of this kind on GitHub")

    async def close(self) -> None:
        self._found, self._wikis = {}, {}
        await self._connection.close()

    async def look(self, name: str) -> tuple[Found, Mapping[str, str]]:
        """Returns a repository of the settings as it is now, and what is wrong with each part of it that is read; ""
        for nothing. A wiki is not asked for, since that would clone it.

        Raises:
            ApiError: it is not seen; the message says what to do about it.
        """
        try:
            found = await self._repository(name)
        except ApiError as error:
            raise ApiError(advice(self._settings, error), status=error.status) from error
        problems: dict[str, str] = {}
        for kind, part in self._parts_of(found):
            problems[kind] = ""
            try:
                if kind != "wiki":
                    await anext(part, None)
            except ApiError as error:
                problems[kind] = f"{kind}: {advice(self._settings, error, kind)}"
        return found, problems

    async def _listable(self, name: str) -> Found | None:
        """Looks a repository up; None where nothing of it can be listed, with the reason noted."""
        try:
            found = await self._repository(name)
        except ApiError as error:
            if error.status == 404 and channels_of(self._settings, name) is None:
                # it was public when its pages were indexed, or they would have readers: by now it is not
                self._closed[name] = UNSEEN
            else:
                self._unlisted[f"{name}/"] = advice(self._settings, error)
            return None
        if found.audience == ():
            self._closed[name] = CLOSED
            return None
        return found

    async def _repository(self, name: str) -> Found:
        if name not in self._found:
            api = self._connection.of(name).api
            repository = parsed(Repository, await api.get(f"/repos/{name}", follow_redirects=True))
            if repository.full_name.lower() != name.lower():
                logger.warning(
                    "github.repository_renamed",
                    extra={"source": self.name, "repository": name, "now": repository.full_name},
                )
            self._found[name] = Found(
                name=name, repository=repository, audience=audience_of(self._settings, name, repository)
            )
        return self._found[name]

    def _reads(self, kind: str) -> bool:
        chosen = self._settings
        return {
            "issues": chosen.issues and bool(chosen.labels),
            "discussions": chosen.discussions,
            "wiki": chosen.wiki,
        }.get(kind, False)

    def _parts_of(self, found: Found) -> list[tuple[str, AsyncIterator[PageRef]]]:
        repository = found.repository
        parts = (
            ("issues", repository.has_issues, self._threads(found, "issues")),
            ("discussions", repository.has_discussions, self._threads(found, "discussions")),
            ("wiki", repository.has_wiki, self._wiki_pages(found)),
        )
        return [(kind, listing) for kind, there, listing in parts if there and self._reads(kind)]

    async def _threads(self, found: Found, kind: str) -> AsyncIterator[PageRef]:
        async for thread in self._listing(found, kind).listed():
            yield PageRef(
                path=f"{found.name}/{kind}/{thread.number}",
                revision=self._revision(thread, found),
                size=len(thread.body or "") if isinstance(thread, Issue) else 0,
                title=thread.title,
            )

    def _listing(self, found: Found, kind: str) -> Issues | Discussions:
        listing = Issues if kind == "issues" else Discussions
        return listing(self._connection.of(found.name), self._settings, found.repository.full_name)

    async def _wiki_pages(self, found: Found) -> AsyncIterator[PageRef]:
        wiki = self._wiki(found.name)
        async for ref in wiki.listed(await self._connection.of(found.name).token()):
            revision = ref.revision and self._wiki_revision(ref.revision, found)
            yield replace(ref, path=f"{found.name}/wiki/{ref.path}", revision=revision)

    async def _thread(self, found: Found, kind: str, number: int) -> RawPage:
        listed, thread = await self._listing(found, kind).read(number)
        return RawPage(
            path=f"{found.name}/{kind}/{number}",
            revision=self._revision(listed, found),
            content=(await asyncio.to_thread(page_of, thread)).encode(),  # takes seconds for a hundred posts
            url=listed.url,
            edited=thread.edited,
            media_type=_MEDIA_TYPE,
            audience=found.audience,
        )

    def _wiki_page(self, found: Found, raw: RawPage) -> RawPage:
        return replace(
            raw,
            path=f"{found.name}/wiki/{raw.path}",
            revision=self._wiki_revision(raw.revision, found),
            url=self._wiki(found.name).url_of(raw.path),
            audience=found.audience,
        )

    def _revision(self, listed: Issue | DiscussionHead, found: Found) -> str:
        parts = (_CONVERTER, *listed.state, repr(found.audience), repr(self._settings.answer_reaction))
        return fingerprint(part.encode() for part in parts)

    def _wiki_revision(self, revision: str, found: Found) -> str:
        return fingerprint((revision.encode(), repr(found.audience).encode()))

    def _wiki(self, name: str) -> Wiki:
        if name not in self._wikis:
            self._wikis[name] = Wiki(self._settings, name, self._folder)
        return self._wikis[name]


def _parts(path: str) -> tuple[str, str, str]:
    """Splits a path into repository, kind and the rest."""
    owner, _, below = path.partition("/")
    name, _, below = below.partition("/")
    kind, _, rest = below.partition("/")
    return f"{owner}/{name}", kind, rest
