"""One page as it is now: its file, who may read it, where it stands, its words. Needs no listing before it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ingest.errors import PageError
from ingest.parsers.formats import max_bytes
from ingest.sources.api_responses import ApiError, parsed
from ingest.sources.port import RawPage, fingerprint
from ingest.sources.sharepoint.connection import Graph, advice
from ingest.sources.sharepoint.drives import Drives
from ingest.sources.sharepoint.items import Item, change_of, folders_above
from ingest.sources.sharepoint.libraries import Libraries, Library
from ingest.sources.sharepoint.permissions import Audience, Readers, audience_of, why_closed
from ingest.sources.sharepoint.site_pages import UNKNOWN_PAGE, SitePage, page_id

_CONVERTER = "1"
"""Raise when pages of sites become other HTML than before: then every page is read anew."""
SITE_PAGE = ".aspx"
_MOST_FOLDERS = 100
_GONE = "it was deleted, or moved to another library"


@dataclass(frozen=True, kw_only=True, slots=True)
class PagePath:
    """What a path says. `place`: the site or the OneDrive as the settings
    name it; `ending`: of the file's name, with its dot.
    """

    place: str
    drive: str
    item: str
    ending: str

    @classmethod
    def of(cls, path: str) -> PagePath:
        place, drive, name = ["", "", *path.rsplit("/", 2)][-3:]
        item, dot, ending = name.partition(".")
        return cls(place=place, drive=drive, item=item, ending=dot + ending)

    def __str__(self) -> str:
        return f"{self.place}/{self.drive}/{self.item}{self.ending}"


@dataclass(frozen=True, kw_only=True, slots=True)
class PageReader:
    """`readers`: the table of the settings. `folders`: drive -> its items by id, as far as they are known; grows."""

    graph: Graph
    libraries: Libraries
    drives: Drives
    readers: Mapping[str, tuple[str, ...]]
    folders: dict[str, Mapping[str, Item]]

    async def page(self, path: PagePath) -> RawPage:
        """Reads first the file as it is now, then its readers, then its words: what changes in between is seen at
        the next sync.

        Raises:
            PageError: it cannot be read, or nobody here may.
        """
        async with _as_failures():
            library = await self._library(path)
            item, readers = await self._item(library, path)
            audience = audience_of(readers, self.readers)
            if audience == ():
                raise closed(readers)
            above = await self._above(library, item)
            is_page = bool(library.site) and item.ending == SITE_PAGE
            return RawPage(
                path=str(path),
                revision=revision_of(item, above, audience),
                content=await (self._site_page(library, item) if is_page else self._file(item)),
                url=item.url or str(path),
                edited=item.edited,
                media_type="text/html" if is_page else None,
                audience=audience,
                parents=(*(title for title in library.titles if title), *(folder.name for folder in above)),
                file_name=item.name,
            )

    async def _library(self, path: PagePath) -> Library:
        found = await self.libraries.of(path.place)
        library = next((drive for drive in found if drive.id == path.drive), None)
        if library is None or not self.libraries.chosen(library):
            raise PageError("the site has no such library, or the settings do not choose it")
        return library

    async def _item(self, library: Library, path: PagePath) -> tuple[Item, Readers]:
        try:
            item = change_of(await self.graph.get(f"/drives/{library.id}/items/{path.item}")).item
            if item is None or item.is_folder or item.ending != path.ending:
                raise PageError("it was deleted, or has another format by now", withdraw=True)
            return item, await self.drives.readers_of(library.id, item.id)
        except ApiError as error:
            if error.status in (404, 410):
                raise PageError(_GONE, withdraw=True) from error
            raise

    async def _file(self, item: Item) -> bytes:
        most = max_bytes(item.name)
        if item.size > most:
            raise PageError(f"it is larger than {most // 1_000_000} MB")
        if item.malware:
            raise PageError("Microsoft found malware in it")
        if item.checked_out:
            raise PageError("it is checked out: it is read again when it is checked in")
        if item.download is None:
            raise PageError(
                "Microsoft gives no address to download it from, as for what is protected or blocked"
            )
        return await self.graph.api.download(item.download, max_bytes=most)

    async def _site_page(self, library: Library, item: Item) -> bytes:
        guid = page_id(item.tag)
        if guid is None:
            raise ApiError(UNKNOWN_PAGE)
        where = f"/sites/{library.site}/pages/{guid}/microsoft.graph.sitePage"
        try:
            page = await self.graph.get(where, {"$expand": "canvasLayout"})
        except ApiError as error:
            if error.status != 404:
                raise
            raise PageError(
                "it is a page of the classic kind, which Microsoft Graph does not give", left_out=True
            ) from error
        return parsed(SitePage, page, unknown=UNKNOWN_PAGE).html()

    async def _above(self, library: Library, item: Item) -> list[Item]:
        """Returns the folders above it, which it asks for where no listing of this process has them."""
        known = dict(self.folders.get(library.id, {}))
        parent = item.parent
        for _ in range(_MOST_FOLDERS):
            if parent is None:
                break
            if parent not in known:
                folder = change_of(await self.graph.get(f"/drives/{library.id}/items/{parent}")).item
                if folder is None:
                    raise ApiError("the folder that it is in cannot be found")
                known[parent] = folder
            parent = known[parent].parent
        self.folders[library.id] = known
        return folders_above(item, known)


def revision_of(item: Item, above: list[Item], audience: Audience) -> str:
    parts = (_CONVERTER, item.tag, item.name, *(folder.name for folder in above), repr(audience))
    return fingerprint(part.encode() for part in parts)


def closed(readers: Readers) -> PageError:
    return PageError(why_closed(readers), withdraw=True, left_out=True)


@asynccontextmanager
async def _as_failures() -> AsyncIterator[None]:
    """Turns Microsoft's refusal of a page into that page's failure, so that its earlier text stays: that the app may
    see less than before says nothing about the page.
    """
    try:
        yield
    except ApiError as error:
        match error.status:
            case 401:
                reason = advice(error)
            case 403:
                reason = f"Microsoft does not give it out, as for what is protected or blocked: {error}"
            case 423:
                reason = f"it is locked, or checked out by somebody: {error}"
            case _:
                reason = str(error)
        raise PageError(reason) from error
