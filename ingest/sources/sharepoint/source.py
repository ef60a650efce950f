"""SharePoint and OneDrive as a source. A page's path is its site or OneDrive,
as the settings name it, its drive, its id and the ending of its name, so that
it stays the same page when it is renamed or moved within its library.

What nobody of the table `readers` may read is closed: it is not indexed, and the report says with whom it is shared.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

from ingest.errors import PageError, SourceUnavailableError
from ingest.sources.api_responses import ApiError
from ingest.sources.globs import globs
from ingest.sources.json_api import Sleep
from ingest.sources.port import ConfiguredSource, PageRef, RawPage
from ingest.sources.sharepoint.connection import Graph, advice
from ingest.sources.sharepoint.drives import Drives
from ingest.sources.sharepoint.items import Item, folders_above
from ingest.sources.sharepoint.libraries import Libraries, Library
from ingest.sources.sharepoint.memory import DriveMemory
from ingest.sources.sharepoint.permissions import Readers, audience_of
from ingest.sources.sharepoint.reading import SITE_PAGE, PagePath, PageReader, closed, revision_of
from kb.config.sources import SharePointSettings

_TEMPLATES = "Templates"
"""The folder of a site's pages in which SharePoint keeps what new pages are made from, in every language."""


class SharePointSource(ConfiguredSource[SharePointSettings]):
    """`folder`: where it keeps what it knows of drives. `clock`: seconds since 1970."""

    def __init__(
        self,
        settings: SharePointSettings,
        folder: Path,
        *,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(settings)
        self._memory = DriveMemory(folder / f"{settings.name}.sharepoint.db")
        self._sleep = sleep
        self._clock = clock
        self._reader = self._new_reader()
        self._urls: dict[str, str] = {}
        self._unlisted: dict[str, str] = {}
        """Part, or page, that could not be listed -> why."""
        self._closed: dict[str, Readers] = {}
        """Page that nobody here may read -> with whom it is shared."""
        self._left_out: set[str] = set()

    @property
    def places(self) -> list[str]:
        """The sites and OneDrives of the settings, as paths begin with them."""
        return self._reader.libraries.places

    def url_of(self, path: str) -> str:
        return self._urls.get(path, path)

    def withdraws(self, path: str) -> bool:
        place = PagePath.of(path)
        excluded = path in self._left_out or f"{place.place}/{place.drive}" in self._left_out
        excluded = excluded or (place.ending == SITE_PAGE and not self._settings.pages)
        return excluded or place.place not in self.places

    async def discover(self) -> AsyncIterator[PageRef]:
        self._urls, self._unlisted, self._closed, self._left_out = {}, {}, {}, set()
        refs: list[PageRef] = []
        listed = 0
        for place in self.places:
            for library in await self._chosen(place):
                try:
                    refs += await self._library(library)
                    listed += 1
                except ApiError as error:
                    self._unlisted[f"{place}/{library.id}/"] = (
                        f"{library.name or 'the drive'} cannot be listed: {advice(error)}"
                    )
                except (sqlite3.Error, OSError) as error:
                    raise SourceUnavailableError(
                        f"source {self.name!r}: what is known of its drives cannot be kept ({error}): look at the disk"
                    ) from error
        if self._unlisted and not listed:
            raise SourceUnavailableError(f"source {self.name!r}: {next(iter(self._unlisted.values()))}")
        for ref in refs:
            yield ref
        for path in self._unlisted:
            if path.endswith("/"):
                yield PageRef(path=path, revision=None)

    async def fetch(self, ref: PageRef) -> RawPage:
        path = PagePath.of(ref.path)
        if reason := self._unlisted.get(ref.path):
            raise PageError(reason)
        if ref.path in self._closed:
            raise closed(self._closed[ref.path])
        if path.place not in self.places or not path.item:
            raise PageError("the settings name no such site or OneDrive, or nothing like it is read of one")
        return await self._reader.page(path)

    async def close(self) -> None:
        await self._reader.graph.api.close()
        self._reader = self._new_reader()

    async def look(self, place: str) -> list[tuple[Library, Readers]]:
        """Returns the chosen drives of a site or OneDrive of the settings, and with whom each is shared as a whole.

        Raises:
            ApiError: one is not seen; the message says what to do about it.
        """
        libraries, drives = self._reader.libraries, self._reader.drives
        try:
            chosen = [library for library in await libraries.of(place) if libraries.chosen(library)]
            found = [(library, await drives.readers_of(library.id, "root")) for library in chosen]
        except ApiError as error:
            raise ApiError(advice(error), status=error.status, code=error.code) from error
        if place in libraries.without_pages:
            raise ApiError(libraries.without_pages[place])
        return found

    async def _chosen(self, place: str) -> list[Library]:
        """Looks up the drives to list of a place; notes why where there is none, or the place is not seen."""
        libraries = self._reader.libraries
        try:
            found = await libraries.of(place)
        except ApiError as error:
            self._unlisted[f"{place}/"] = f"{place} cannot be listed: {advice(error)}"
            return []
        if place in libraries.without_pages:
            self._unlisted[f"{place}/"] = libraries.without_pages[place]
        chosen = [library for library in found if libraries.chosen(library)]
        self._left_out |= {f"{place}/{library.id}" for library in found if library not in chosen}
        if all(library.site for library in chosen):
            names = ", ".join(library.name for library in found if not library.site) or "none"
            self._unlisted[f"{place}/"] = (
                f"{place} has none of the libraries that the settings name; it has: {names}"
            )
        return chosen

    async def _library(self, library: Library) -> list[PageRef]:
        drives = self._reader.drives
        listed = await drives.listed(library.id)
        self._reader.folders[library.id] = listed.items
        files = {_path(library, item): item for item in listed.items.values() if not item.is_folder}
        chosen = {path: item for path, item in files.items() if self._is_chosen(library, item, listed.items)}
        self._left_out |= files.keys() - chosen.keys()
        readers, untold = await drives.readers(
            library.id, list(chosen.values()), listed.named, self._settings.permissions_every
        )
        refs = []
        for path, item in chosen.items():
            self._urls[path] = item.url or path
            revision: str | None = None
            if item.id in untold:
                self._unlisted[path] = untold[item.id]
            elif (audience := audience_of(readers[item.id], self._settings.readers)) == ():
                self._closed[path] = readers[item.id]
            else:
                revision = revision_of(item, folders_above(item, listed.items), audience)
            refs.append(PageRef(path=path, revision=revision, size=item.size, title=item.name))
        return refs

    def _is_chosen(self, library: Library, item: Item, items: Mapping[str, Item]) -> bool:
        """Whether the settings choose an item: files by `include` and `exclude`, a site's pages by `exclude` alone."""
        above = folders_above(item, items)
        where = "/".join((library.name, *(folder.name for folder in above), item.name))
        if globs(self._settings.exclude).match_file(where):
            return False
        if library.site:
            is_template = any(folder.name == _TEMPLATES for folder in above)
            return item.ending == SITE_PAGE and not is_template
        return globs(self._settings.include).match_file(where)

    def _new_reader(self) -> PageReader:
        graph = Graph(self._settings, sleep=self._sleep, clock=self._clock)
        return PageReader(
            graph=graph,
            libraries=Libraries(graph, self._settings),
            drives=Drives(graph=graph, memory=self._memory, clock=self._clock),
            readers=self._settings.readers,
            folders={},
        )


def _path(library: Library, item: Item) -> str:
    return str(PagePath(place=library.place, drive=library.id, item=item.id, ending=item.ending))
