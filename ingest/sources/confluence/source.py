"""Confluence as a source. A page's path is its space and its id, so that it stays the same page when it is renamed."""

from __future__ import annotations

import asyncio
import logging
from base64 import b64encode
from collections.abc import AsyncIterator

from ingest.errors import PageError, SourceUnavailableError
from ingest.sources.confluence.cloud import CloudApi
from ingest.sources.confluence.data_center import DataCenterApi
from ingest.sources.confluence.elements import StorageError
from ingest.sources.confluence.links import USER_IDS, Edition, PageLinks, mentioned
from ingest.sources.confluence.listing import ConfluenceApi, ListedPage, Space, channels_of
from ingest.sources.confluence.storage import read_storage
from ingest.sources.json_api import ApiError, JsonApi, Sleep
from ingest.sources.markup import heading
from ingest.sources.port import ConfiguredSource, PageRef, RawPage, fingerprint
from kb.source_settings import ConfluenceSettings

logger = logging.getLogger(__name__)

_CONVERTER = "4"
"""Raise when storage format becomes other Markdown than before: then every page is read anew."""


class ConfluenceSource(ConfiguredSource[ConfluenceSettings]):
    def __init__(self, settings: ConfluenceSettings, *, sleep: Sleep = asyncio.sleep) -> None:
        super().__init__(settings)
        self._base_url = str(settings.url).rstrip("/")
        self._edition = _edition(settings)
        self._sleep = sleep
        self._api: ConfluenceApi | None = None
        self._unlisted: dict[str, str] = {}
        self._left_out: set[str] = set()
        self._people: dict[str, str] = {}
        """Id -> name, of this sync."""

    def url_of(self, path: str) -> str:
        return f"{self._base_url}/pages/viewpage.action?pageId={path.rpartition('/')[2]}"

    def withdraws(self, path: str) -> bool:
        spaces = self._settings.spaces
        return path in self._left_out or (bool(spaces) and path.partition("/")[0] not in spaces)

    async def discover(self) -> AsyncIterator[PageRef]:
        self._unlisted, self._left_out = {}, set()
        try:
            spaces = await self._connection().spaces(self._settings.spaces)
        except ApiError as error:
            raise SourceUnavailableError(f"source {self.name!r}: {self._advice(error)}") from error
        if not spaces:
            raise SourceUnavailableError(f"source {self.name!r}: {self._no_space()}")
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
        space, _, page_id = ref.path.partition("/")
        try:
            page, storage = await self._connection().page(space, page_id)
        except ApiError as error:
            gone = error.status in (403, 404)
            reason = "it is gone, or the account may not read it any more" if gone else str(error)
            raise PageError(reason, withdraw=gone) from error
        audience = self._audience(page)
        if audience == () or not self._is_chosen(page):
            raise PageError("it is restricted to readers that no channel is named for", withdraw=True)
        people, unknown = await self._named(storage)
        links = PageLinks(
            base_url=self._base_url, edition=self._edition, space=space, title=page.title, people=people
        )
        try:
            text = await asyncio.to_thread(read_storage, storage, links)
        except StorageError as error:
            raise PageError(f"its text is no storage format: {error}") from error
        unsettled = ".unsettled" if unknown else ""  # so that it is read again when Confluence is well
        return RawPage(
            path=ref.path,
            revision=self._revision(page, audience) + unsettled,
            content=f"{heading(page.title)}\n\n{text.markdown}".encode(),
            url=page.url,
            edited=page.edited,
            media_type="text/markdown",
            audience=audience,
            notes=(*text.notes, *(["Confluence did not say who some of the people are"] if unknown else [])),
        )

    async def _named(self, storage: str) -> tuple[dict[str, str], bool]:
        """Whom the page mentions, each asked for once a sync; and whether Confluence could not be asked for somebody."""
        people, unknown = {}, False
        for attribute, user_id in sorted(mentioned(storage)):
            try:
                if user_id not in self._people:
                    parameter = USER_IDS[attribute]
                    self._people[user_id] = await self._connection().person(parameter, user_id)
                people[user_id] = self._people[user_id]
            except ApiError:
                unknown = True
        return people, unknown

    async def close(self) -> None:
        self._people = {}
        if self._api is not None:
            await self._api.close()
            self._api = None

    async def _pages(self, space: Space) -> list[PageRef]:
        """A space's pages that somebody here may read. One that fails is reported, and nothing of it is removed."""
        try:
            pages = await self._connection().pages(space, archived=self._settings.archived)
        except ApiError as error:
            self._unlisted[f"{space.key}/"] = f"the space cannot be listed: {self._advice(error)}"
            return []
        refs, closed = [], set[str]()
        for page in pages:
            path, audience = f"{space.key}/{page.id}", self._audience(page)
            if audience == () or not self._is_chosen(page):
                self._left_out.add(path)
            if audience == ():
                closed |= {group for limit in page.limits or () for group in limit.groups}
            elif self._is_chosen(page):
                revision = self._revision(page, audience)
                refs.append(PageRef(path=path, revision=revision, title=page.title))
        if closed:
            logger.info(
                "confluence.restricted_left_out",
                extra={"source": self.name, "space": space.key, "groups_without_channel": sorted(closed)},
            )
        return refs

    def _is_chosen(self, page: ListedPage) -> bool:
        wanted, unwanted = set(self._settings.labels), set(self._settings.exclude_labels)
        return (not wanted or bool(page.labels & wanted)) and not page.labels & unwanted

    def _audience(self, page: ListedPage) -> tuple[str, ...] | None:
        """Its channels; empty: nobody here; None: no limit. Limits that are not known close the page."""
        return () if page.limits is None else channels_of(page.limits, self._settings.groups)

    def _revision(self, page: ListedPage, audience: tuple[str, ...] | None) -> str:
        parts = (_CONVERTER, page.id, str(page.version), page.title, page.url, repr(audience))
        return fingerprint(part.encode() for part in parts)

    def _connection(self) -> ConfluenceApi:
        if self._api is None:
            api = JsonApi(
                self._base_url,
                headers=self._credentials(),
                timeout_s=self._settings.timeout_s,
                sleep=self._sleep,
            )
            cloud = self._edition == "cloud"
            self._api = CloudApi(api, self._base_url) if cloud else DataCenterApi(api, self._base_url)
        return self._api

    def _credentials(self) -> dict[str, str]:
        token = self._settings.token
        if token is None:
            return {}
        if self._settings.email is None:
            return {"Authorization": f"Bearer {token.get_secret_value()}"}
        pair = f"{self._settings.email}:{token.get_secret_value()}"
        return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}

    def _advice(self, error: ApiError) -> str:
        match error.status:
            case 401:
                return f"Confluence does not accept the credentials: set {self._variables()}"
            case 403:
                return "the account of the token may not use Confluence, or not its API: give it access"
            case 404 | 301 | 302:
                return f"there is no Confluence API below {self._base_url}: correct `url` (Cloud's ends in /wiki)"
            case 429:
                return "Confluence limits the rate of requests and did not stop doing so: sync less often, or later"
            case _:
                return f"{error}: look whether {self._base_url} can be reached from here"

    def _variables(self) -> str:
        cloud = "CONFLUENCE_EMAIL and CONFLUENCE_API_TOKEN"
        return cloud if self._edition == "cloud" else "CONFLUENCE_API_TOKEN to a personal access token"

    def _no_space(self) -> str:
        return (
            "the account sees none of the spaces: give it access, and look whether "
            f"{self._variables()} belong to it"
        )


def _edition(settings: ConfluenceSettings) -> Edition:
    if settings.edition != "auto":
        return settings.edition
    return "cloud" if (settings.url.host or "").endswith(".atlassian.net") else "data_center"
