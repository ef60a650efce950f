"""Confluence as a source. A page's path is its space and its id, so that it stays the same page when it is renamed."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ingest.errors import PageError, SourceUnavailableError
from ingest.sources.api_responses import ApiError
from ingest.sources.confluence.attached import Attachment, Comment
from ingest.sources.confluence.connection import Connection
from ingest.sources.confluence.elements import StorageError
from ingest.sources.confluence.links import USER_IDS, PageLinks, mentioned
from ingest.sources.confluence.listing import BLOG, ListedPage, Space, channels_of, name_of_user
from ingest.sources.confluence.storage import read_storage
from ingest.sources.json_api import Sleep
from ingest.sources.markup import heading
from ingest.sources.port import ConfiguredSource, PageRef, RawPage, fingerprint
from kb.config.sources import ConfluenceSettings
from kb.models import ACCEPTED_ANSWER

logger = logging.getLogger(__name__)

_CONVERTER = "4"
"""Raise when storage format becomes other Markdown than before: then every page is read anew."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """What a path says: "ENG/12", "ENG/post/12" for a blog post, "ENG/12/3/Terms.pdf" for what is attached to a page.
    `page`: the path of the page, `attachment_id`: empty for the page itself.
    """

    page: str
    space: str
    page_id: str
    blog: bool
    attachment_id: str

    @classmethod
    def of(cls, path: str) -> _Place:
        space, *rest = path.split("/")
        blog = rest[:1] == [BLOG]
        page_id, attachment_id, *_ = [*rest[blog:], "", ""]
        page = "/".join([space, *rest[: 1 + blog]])
        return cls(page=page, space=space, page_id=page_id, blog=blog, attachment_id=attachment_id)


class ConfluenceSource(ConfiguredSource[ConfluenceSettings]):
    def __init__(
        self, settings: ConfluenceSettings, _folder: Path | None = None, *, sleep: Sleep = asyncio.sleep
    ) -> None:
        super().__init__(settings)
        self._connection = Connection(settings, sleep=sleep)
        self._unlisted: dict[str, str] = {}
        self._left_out: set[str] = set()
        self._parents: dict[str, tuple[str, ...]] = {}
        """Id of a page -> the titles above it, of the last listing: the Cloud tells them nowhere else."""
        self._people: dict[str, str] = {}
        """Id -> name, of this sync."""

    def url_of(self, path: str) -> str:
        return f"{self._connection.base_url}/pages/viewpage.action?pageId={_Place.of(path).page_id}"

    def withdraws(self, path: str) -> bool:
        spaces = self._settings.spaces
        place = _Place.of(path)  # what hangs on a page goes with it
        return place.page in self._left_out or (bool(spaces) and place.space not in spaces)

    async def discover(self) -> AsyncIterator[PageRef]:
        self._unlisted, self._left_out = {}, set()
        try:
            spaces = await self._connection.api.spaces(self._settings.spaces)
        except ApiError as error:
            raise SourceUnavailableError(f"source {self.name!r}: {self._connection.advice(error)}") from error
        if not spaces:
            raise SourceUnavailableError(f"source {self.name!r}: {self._connection.no_space()}")
        for key in sorted(set(self._settings.spaces) - {space.key for space in spaces}):
            self._unlisted[f"{key}/"] = (
                f"the account does not see the space {key}: give it access, or take it out of `spaces`"
            )
        for space in spaces:
            for ref in await self._pages(space):
                yield ref
        for path in self._unlisted:
            yield PageRef(path=path, revision=None)

    async def fetch(self, ref: PageRef) -> RawPage:
        if ref.path.endswith("/"):
            raise PageError(self._unlisted.get(ref.path, "this space cannot be listed"))
        place = _Place.of(ref.path)
        try:
            page, storage = await self._connection.api.page(place.space, place.page_id, blog=place.blog)
            audience = self._audience(page)
            if audience == () or not self._is_chosen(page):
                raise PageError("it is restricted to readers that no channel is named for", withdraw=True)
            if place.attachment_id:
                return await self._document(ref.path, page, place.attachment_id, audience)
        except ApiError as error:
            gone = error.status in (403, 404)
            reason = "it is gone, or the account may not read it any more" if gone else str(error)
            raise PageError(reason, withdraw=gone) from error
        return await self._page(page, storage, audience)

    async def _page(self, page: ListedPage, storage: str, audience: tuple[str, ...] | None) -> RawPage:
        missing: list[str] = []
        comments: list[Comment] = []
        if self._settings.answers:
            try:
                comments = await self._connection.attached.comments(
                    page_id=page.id, marks=self._settings.answers
                )
            except ApiError:
                missing.append("its comments could not be read")
        storages = [storage, *(comment.storage for comment in comments)]
        people, unknown = await self._named("".join(storages))
        if unknown:
            missing.append("Confluence did not say who some of the people are")
        links = PageLinks(
            base_url=self._connection.base_url,
            edition=self._connection.edition,
            space=page.space,
            title=page.title,
            people=people,
        )
        try:
            texts = [await asyncio.to_thread(read_storage, text, links) for text in storages]
        except StorageError as error:
            raise PageError(f"its text is no storage format: {error}") from error
        parts = [heading(page.title), texts[0].markdown]
        if comments:
            parts += [heading(ACCEPTED_ANSWER, 2), *(text.markdown for text in texts[1:])]
        return RawPage(
            path=page.path,
            # What is missing may be told at the next sync: then it is read again.
            revision=self._revision(page, audience, comments) + (".unsettled" if missing else ""),
            content="\n\n".join(part.strip("\n") for part in parts).encode() + b"\n",
            url=page.url,
            edited=page.edited,
            media_type="text/markdown",
            audience=audience,
            parents=self._above(page),
            notes=(*dict.fromkeys(note for text in texts for note in text.notes), *missing),
        )

    async def _document(
        self, path: str, page: ListedPage, attachment_id: str, audience: tuple[str, ...] | None
    ) -> RawPage:
        documents = await self._connection.attached.documents(page_id=page.id)
        document = next((found for found in documents if found.id == attachment_id), None)
        if document is None or not self._settings.attachments:
            raise PageError("it is no longer attached to its page", withdraw=True)
        return RawPage(
            path=path,
            revision=self._document_revision(document, audience),
            content=await self._connection.attached.content(document),
            url=document.url,
            edited=document.edited,
            audience=audience,
            parents=(*self._above(page), page.title),
        )

    def _above(self, page: ListedPage) -> tuple[str, ...]:
        return (page.space, *(page.parents or self._parents.get(page.id, ())))

    async def _named(self, storage: str) -> tuple[dict[str, str], bool]:
        """Names the people whom the page mentions, each asked for once a sync; tells whether any of them is unknown."""
        people, unknown = {}, False
        for attribute, user_id in sorted(mentioned(storage)):
            try:
                if user_id not in self._people:
                    parameter = USER_IDS[attribute]
                    self._people[user_id] = await name_of_user(self._connection.json, parameter, user_id)
                people[user_id] = self._people[user_id]
            except ApiError:
                unknown = True
        return people, unknown

    async def close(self) -> None:
        self._people = {}
        await self._connection.json.close()

    async def _pages(self, space: Space) -> list[PageRef]:
        """Lists the pages of a space that anybody here may read. A failure is reported, and nothing is removed."""
        chosen = self._settings
        try:
            pages = await self._connection.api.pages(space, archived=chosen.archived, blog=chosen.blog)
        except ApiError as error:
            self._unlisted[f"{space.key}/"] = f"the space cannot be listed: {self._connection.advice(error)}"
            return []
        comments = await self._answers(space)
        refs, closed = dict[str, PageRef](), set[str]()
        audiences = {page.id: self._audience(page) for page in pages}
        self._parents |= {page.id: page.parents for page in pages}
        for page in pages:
            audience = audiences[page.id]
            if (audience == () and page.limits is not None) or not self._is_chosen(page):
                # on purpose; limits that cannot be read show no purpose
                self._left_out.add(page.path)
            if audience == ():
                closed |= {group for limit in page.limits or () for group in limit.groups}
            elif self._is_chosen(page):
                revision = self._revision(page, audience, comments.get(page.id, []))
                refs[page.id] = PageRef(path=page.path, revision=revision, title=page.title)
        if closed:
            logger.info(
                "confluence.restricted_left_out",
                extra={"source": self.name, "space": space.key, "groups_without_channel": sorted(closed)},
            )
        if f"{space.key}/" in self._unlisted:
            return []  # without its comments it is not known which page changed
        return [*refs.values(), *await self._documents(space, refs, audiences)]

    async def _answers(self, space: Space) -> Mapping[str, list[Comment]]:
        """Lists by page the comments that are marked as answers. Where they cannot be listed the space cannot."""
        found = defaultdict[str, list[Comment]](list)
        if self._settings.answers:
            try:
                comments = await self._connection.attached.comments(
                    space=space.key, marks=self._settings.answers
                )
            except ApiError as error:
                self._unlisted[f"{space.key}/"] = (
                    f"its comments cannot be listed: {self._connection.advice(error)}"
                )
                comments = []
            for comment in comments:
                found[comment.page_id].append(comment)
        return found

    async def _documents(
        self, space: Space, pages: Mapping[str, PageRef], audiences: Mapping[str, tuple[str, ...] | None]
    ) -> list[PageRef]:
        """Lists what is attached to these pages. Where that fails the pages are listed, and nothing is removed."""
        if not self._settings.attachments:
            return []
        try:
            documents = await self._connection.attached.documents(space=space.key)
        except ApiError as error:
            self._unlisted[f"{space.key}/"] = (
                f"its attachments cannot be listed: {self._connection.advice(error)}"
            )
            return []
        return [
            PageRef(
                path=f"{pages[document.page_id].path}/{document.id}/{document.name}",
                revision=self._document_revision(document, audiences[document.page_id]),
                size=document.size,
                title=document.name,
            )
            for document in documents
            if document.page_id in pages
        ]

    def _is_chosen(self, page: ListedPage) -> bool:
        wanted, unwanted = set(self._settings.labels), set(self._settings.exclude_labels)
        return (not wanted or bool(page.labels & wanted)) and not page.labels & unwanted

    def _audience(self, page: ListedPage) -> tuple[str, ...] | None:
        """Returns the page's channels; empty: nobody here; None: no limit. Unknown limits close the page."""
        return () if page.limits is None else channels_of(page.limits, self._settings.groups)

    def _revision(
        self, page: ListedPage, audience: tuple[str, ...] | None, comments: Sequence[Comment]
    ) -> str:
        parts = [_CONVERTER, page.id, str(page.version), page.title, page.url, repr(audience)]
        for comment in comments:
            parts += [comment.id, str(comment.version)]
        return fingerprint(part.encode() for part in parts)

    def _document_revision(self, document: Attachment, audience: tuple[str, ...] | None) -> str:
        parts = (document.id, str(document.version), document.name, document.url, repr(audience))
        return fingerprint(part.encode() for part in parts)
