"""The drives of the settings: document libraries and page libraries of sites, and OneDrives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from ingest.sources.api_responses import UNKNOWN_FORM, ApiError
from ingest.sources.sharepoint.connection import Graph, advice
from kb.config.sources import SharePointSettings, site_key

_PAGES = "webPageLibrary"
"""The template of the list that holds a site's pages, whatever the list is called in the site's language."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Library:
    """A drive. `place`: the site or the OneDrive that it is of, as the
    settings name it; `titles`: what people see of that and of the drive;
    `site`: the id of the site whose pages it holds, "" where it holds files.
    """

    id: str
    name: str
    place: str
    titles: tuple[str, ...]
    site: str = ""


class Libraries:
    """Looks the places of the settings up, each once."""

    def __init__(self, graph: Graph, settings: SharePointSettings) -> None:
        self._graph = graph
        self._settings = settings
        self._found: dict[str, list[Library]] = {}
        self.without_pages: dict[str, str] = {}
        """Site whose pages could not be looked up, its libraries all the same -> why."""

    @property
    def places(self) -> list[str]:
        return [*map(site_key, self._settings.sites), *self._settings.onedrives]

    async def of(self, place: str) -> list[Library]:
        """Returns every drive of a place, also those that the settings do not choose.

        Raises:
            ApiError: it cannot be listed.
        """
        if place not in self._found:
            is_site = place not in self._settings.onedrives
            self._found[place] = await (self._of_site(place) if is_site else self._of_person(place))
        return self._found[place]

    def chosen(self, library: Library) -> bool:
        if library.site:
            return self._settings.pages
        names = {name.casefold() for name in self._settings.libraries}
        return not names or library.place in self._settings.onedrives or library.name.casefold() in names

    async def _of_site(self, place: str) -> list[Library]:
        site = await self._graph.get(_address(place))
        site_id, title = _text(site, "id"), str(site.get("displayName") or site.get("name") or place)
        found = [
            _library(drive, place, title)
            async for drive in self._graph.every(f"/sites/{site_id}/drives")
            if "system" not in drive
        ]
        if self._settings.pages:
            try:
                found += await self._pages(site_id, place, title)
            except ApiError as error:
                if error.status == 401:
                    raise
                self.without_pages[place] = f"the site's pages cannot be listed: {advice(error)}"
        return found

    async def _pages(self, site_id: str, place: str, title: str) -> list[Library]:
        # with `system`, hidden lists are returned as well
        chosen = {"$select": "id,name,displayName,list,system"}
        libraries: list[Library] = []
        async for found in self._graph.every(f"/sites/{site_id}/lists", chosen):
            if (found.get("list") or {}).get("template") == _PAGES:
                drive = await self._graph.get(f"/sites/{site_id}/lists/{_text(found, 'id')}/drive")
                libraries.append(_library(drive, place, title, site=site_id))
        return libraries

    async def _of_person(self, place: str) -> list[Library]:
        drive = await self._graph.get(f"/users/{quote(place)}/drive")
        person = ((drive.get("owner") or {}).get("user") or {}).get("displayName") or place
        return [_library(drive, place, f"OneDrive of {person}")]


def _library(drive: Mapping[str, Any], place: str, title: str, *, site: str = "") -> Library:
    name = str(drive.get("name") or "")
    return Library(id=_text(drive, "id"), name=name, place=place, titles=(title, name), site=site)


def _address(place: str) -> str:
    host, _, path = place.partition("/")
    if "," in host:
        return f"/sites/{place}"
    return f"/sites/{host}:/{quote(path, safe='/%')}" if path else f"/sites/{host}"


def _text(payload: Mapping[str, Any], key: str) -> str:
    found = payload.get(key)
    if not isinstance(found, str) or not found:
        raise ApiError(UNKNOWN_FORM)
    return found
