"""A site of SharePoint with three pages, for the suite that all sources pass."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ingest.sources.port import Source
from ingest.sources.sharepoint.source import SharePointSource
from kb.config.sources import SharePointSettings
from tests.fakes.graph import TENANT, GraphServer
from tests.fakes.graph_drive import HOST, Drive, modern_page, site_group


class SharePointWorld:
    """`pages`: modern pages of the site; else Markdown in a folder of a library."""

    def __init__(
        self, server: GraphServer, name: str, texts: Mapping[str, str], kept: Path, *, pages: bool
    ) -> None:
        self._server, self._name, self.kept, self._pages = server, name, kept, pages
        site = server.site()
        library = server.library(site)
        site.pages = Drive(id="b!hr-pages", name="Site Pages", template="webPageLibrary")
        self._drive = site.pages if pages else library
        self._drive.edit("root", permissions=[site_group("HR Members")])
        folder = "root" if pages else self._drive.add("Handbook", None)
        self._ids = {
            key: self._drive.add(f"{key}.aspx" if pages else f"{key}.md", "", into=folder) for key in texts
        }
        ending = "aspx" if pages else "md"
        place = f"{HOST}/sites/hr"
        self.paths = {key: f"{place}/{self._drive.id}/{item}.{ending}" for key, item in self._ids.items()}
        for key, text in texts.items():
            self.edit(key, text)

    def source(self, **settings: Any) -> Source:
        return SharePointSource(self.settings(**settings), self.kept, sleep=_no_sleep)

    def settings(self, **settings: Any) -> SharePointSettings:
        chosen: dict[str, Any] = {
            "tenant": TENANT,
            "client_id": self._server.client_id,
            "client_secret": self._server.secret,
            "sites": (f"https://{HOST}/sites/hr",),
            "readers": {"HR Members": ("everyone",)},
            "graph_url": f"{self._server.url}/v1.0",
            "login_url": self._server.url,
            **settings,
        }
        return SharePointSettings(kind="sharepoint", name=self._name, **chosen)

    def edit(self, key: str, text: str) -> None:
        if self._pages:
            self._drive.edit(self._ids[key], page=modern_page(f"Page {key}", f"<p>{text}</p>"))
        else:
            self._drive.edit(self._ids[key], content=f"# Page {key}\n\n{text}\n")

    def remove(self, key: str) -> None:
        self._drive.remove(self._ids[key])

    def break_down(self) -> None:
        self._server.down = True

    def break_page(self, key: str) -> bool:
        self.edit(key, "Another text.")
        node = self._drive.nodes[self._ids[key]]
        if node.page is not None:
            node.page["canvasLayout"] = None
        else:
            node.more = {"@microsoft.graph.downloadUrl": None}
        return True

    def limit(self, key: str) -> bool:
        self._drive.edit(self._ids[key], permissions=[site_group("Board")])
        return True

    def slow_down(self) -> bool:
        self._server.fail("/drives/", 429, "activityLimitReached", Retry_After="1")
        return True


async def _no_sleep(seconds: float) -> None:
    await asyncio.sleep(0)
